/** The meaning of each setting, in one line, and the values that it can have. */
import { durationText } from '../../parts/format.js'
import type { Path } from './paths.js'

const meanings: Readonly<Record<string, string>> = {
  policy: 'Whether the priority decides first, or the score.',
  decisionReport: 'Whether a completion must have a decision report.',
  deduplicate: 'What makes a new task a duplicate of a known one.',
  erasable: 'Whether what tasks contain is encrypted, so that it can be erased.',
  tenants: 'Whether ids and keys of tasks are kept apart by tenant. It can be changed only while the queue is empty.',
  retentionSeconds: 'How long finished tasks are known, in seconds.',
  maxAttempts: 'Claims without success after which a task is a dead letter.',
  'defaults.timeout': 'How long a lease lasts without a heartbeat, in seconds.',
  'defaults.maxRetries': 'Failures after which a task is a dead letter, the first one included.',
  'defaults.backoffSeconds': 'The wait before the first retry, in seconds. It doubles with each.',
  'defaults.maxBackoffSeconds': 'The longest wait before a retry, in seconds.',
  'defaults.jitter': 'Retries wait up to this share longer, at random.',
  'capacity.maxConcurrentAgents': 'Agents that may work at the same time.',
  'capacity.overcapLimit': 'So many more may start on bumped tasks.',
  'capacity.bumpAndStart': 'Whether tasks may be bumped.',
  'alerts.criticalDepthSeconds': 'A CRITICAL task that has waited for longer raises an alert.',
  'alerts.retrySpikeMin': 'Fewer failed attempts than this in five minutes are never an alert.',
  'score.priority': 'Weight of the priority.',
  'score.age': 'Weight of the age.',
  'score.deadline': 'Weight of the deadline.',
  'score.blockers': 'Weight of the tasks that wait for it.',
  'score.retries': 'Weight of earlier failures.',
  'score.ageCeiling': 'Seconds after which the age counts in full.',
  'score.slaUrgencyWindow': 'Seconds before the deadline from which on it counts.',
  'score.slaBoost': 'The factor by which the score grows then.',
  'score.starvationLimit': 'Seconds after which a task is starved, and goes first.',
  'score.starvationFloor': 'The least score of a starved task.',
  'score.blockerCeiling': 'Number of waiting tasks that counts in full.',
  'rateLimit.base': 'Seconds to wait after the first rate limit.',
  'rateLimit.max': 'The longest wait after a rate limit, in seconds.',
  'rateLimit.jitter': 'These waits are up to this share longer, at random.',
  'rateLimit.slowdownFactor': 'The share of the wait for which other agents leave the type alone.',
  'rateLimit.maxPerTask': 'Rate limits of a task that do not count as failures.',
  'assignment.maxQueueScanBatch': 'Tasks that one claim may pass over.',
  'assignment.agentTaskBackoffWindow': 'How long an agent comes last for a task that it failed, in seconds.',
  'assignment.tenants.default': 'Weight of tenants that have none of their own.',
  'loops.repeatSignatureLimit': 'The same failure so many times halts a chain of fixes.',
  'loops.maxRounds': 'Fixes that one chain may have before a guardian decides.',
  'loops.maxGenerations': 'Discoveries so many steps from the first task need approval.',
  'loops.maxSpawned': 'Discoveries of one completion that may become tasks.',
}

const breaker: Readonly<Record<string, string>> = {
  failureThreshold: 'Failures in a row that open a breaker.',
  cooldownSeconds: 'Seconds after which a closed breaker forgets its failures.',
  halfOpenAfter: 'Seconds until a test task is let through.',
  countOn: 'What counts as a failure.',
  overrides: 'Other settings for the breakers of single types.',
}

/** Of the task that a discovery becomes. */
const discovery: Readonly<Record<string, string>> = {
  type: 'Type of the task that such a discovery becomes.',
  phase: 'Phase of the task that such a discovery becomes.',
  priority: 'Priority of the task that such a discovery becomes.',
  skills: 'Skills that the task needs that such a discovery becomes.',
}

/** A tenant or a type may have the name of something that every object has, such as `constructor`. */
const ownOf = <V>(record: Readonly<Record<string, V>>, name: string): V | undefined => (Object.hasOwn(record, name) ? record[name] : undefined)

const choices: Readonly<Record<string, ReadonlyArray<string>>> = {
  policy: ['priority', 'score'],
  decisionReport: ['required', 'optional'],
  deduplicate: ['content', 'key', 'off'],
  countOn: ['dead-letter', 'attempt'],
}

/** The values that a setting can have, if these are few. The weight of a tenant is a number, whatever the tenant's name. */
export const choicesOf = (path: Path, value: unknown): ReadonlyArray<string> | undefined =>
  typeof value === 'boolean' ? ['true', 'false'] : typeof value === 'string' ? ownOf(choices, path.at(-1) ?? '') : undefined

export const meaningOf = (path: Path): string | undefined => {
  if (path[0] === 'breakers') return ownOf(breaker, path.at(-1) ?? '')
  if (path[0] === 'discoveries') return discovery[path[2] ?? '']
  if (path[0] === 'assignment' && path[1] === 'tenants' && path[2] !== 'default') return `Weight of this tenant.`
  return meanings[path.join('.')]
}

/** Long times in seconds as people say them: `7 d`. `undefined` for every other setting. */
export const secondsText = (path: Path, value: unknown): string | undefined => {
  const isTime = /Seconds$/.test(path.at(-1) ?? '') || /seconds/i.test(meaningOf(path) ?? '')
  return isTime && typeof value === 'number' && value >= 60 ? durationText(value) : undefined
}
