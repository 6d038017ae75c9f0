/**
 * What a completion spawns (TQM-BR-001 to TQM-BR-003, TQM-VF-001): tasks, proposals to a guardian, or the halt of a chain of fixes.
 *
 * These events come before the completion, so that the chain always has a known task.
 */
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { approvalsMax } from '../state/approvals.js'
import type { Findings } from '../model/commands.js'
import type { HaltCause, ProposalCause, QueueEvent } from '../model/events.js'
import type { DiscoveryRule } from '../model/settings.js'
import { failureSignature } from '../text/signature.js'
import type { TaskRecord } from '../records/records.js'
import type { Tables } from '../state/tables.js'
import { priorityDefault, priorityOf } from '../model/task.js'
import type { PlannedTask, TaskFacts } from '../model/task-fields.js'

/** The kind of discovery of fixes and re-checks. */
export const validationDiscovery = 'validation_failed'

/**
 * An id that is always the same for the same part of the same attempt, so that a repeated report spawns nothing twice. A UUID of version 8 (RFC
 * 9562), made from a SHA-256.
 */
export const spawnId = ({ id, number }: Pick<TaskRecord, 'id' | 'number'>, token: number, part: string): string => {
  const hex = bytesToHex(sha256(utf8ToBytes(`${id}\n${number}\n${token}\n${part}`)))
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** The rule for a kind of discovery. `Security Issue` and `security-issue` mean `security_issue`, unless the settings distinguish them. */
export const ruleOf = (rules: Readonly<Record<string, DiscoveryRule>>, kind: string): readonly [kind: string, rule: DiscoveryRule] | undefined => {
  for (const name of [kind, kind.trim().toLowerCase().replace(/[\s-]+/g, '_')]) {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined
    if (rule !== undefined) return [name, rule]
  }
  return undefined
}

/** The first task of the chain that this task belongs to. */
export const rootOf = ({ id, extras }: TaskRecord): string => extras.rootTaskId ?? id

interface Planned {
  readonly plan: PlannedTask
  readonly content: string
}

export const spawnEvents = (tables: Tables, parent: TaskRecord, token: number, found: Findings, at: number): ReadonlyArray<QueueEvent> => {
  const { settings, lastNumber } = tables.head
  const { loops } = settings
  const events: Array<QueueEvent> = []
  const root = rootOf(parent)
  const generation = (parent.extras.generation ?? 0) + 1
  let number = lastNumber
  let open = tables.approvals.size
  let left = loops.maxSpawned

  const batchId = tables.batches.joinedBy(parent)
  /** What comes of a task is in its batch, unless it belongs to another ticket. */
  const inBatch = (plan: PlannedTask): PlannedTask => (batchId === undefined ? plan : { ...plan, batchId })
  const spawn = ({ plan, content }: Planned): void => void events.push({ type: 'TaskEnqueued', at, data: factsOfPlan(inBatch(plan), ++number), content })
  const propose = (part: string, cause: ProposalCause, { plan, content }: Planned): void => {
    open++
    const data = { approval: spawnId(parent, token, `approval of ${part}`), parent: parent.id, root, cause, tasks: [plan] }
    events.push({ type: 'SpawnProposed', at, data, content: contentOf([content]) })
  }

  if (found.validation !== undefined) {
    const { error, fix, check } = found.validation
    const signature = validationSignature(parent, error)
    const chain = tables.chains.get(root)
    const rounds = (chain?.rounds ?? 0) + 1
    const planned = fixAndCheck(parent, token, root, generation, fix, check)
    const cause: HaltCause | undefined =
      (chain?.signatures[signature] ?? 0) + 1 >= loops.repeatSignatureLimit ? 'signature-repeated' : rounds > loops.maxRounds ? 'rounds-exhausted' : undefined
    // A round that leads to nothing is not counted, because nobody could end the count.
    if (cause === undefined || open < approvalsMax) events.push({ type: 'ValidationFailed', at, data: { parent: parent.id, root, signature, error } })
    if (cause === undefined) planned.forEach(spawn)
    else if (open < approvalsMax) {
      open++
      const data = { approval: spawnId(parent, token, 'approval'), parent: parent.id, root, cause, rounds, signature, error, tasks: planned.map(({ plan }) => inBatch(plan)) }
      events.push({ type: 'LoopHalted', at, data, content: contentOf(planned.map(({ content }) => content)) })
    }
  }

  found.discoveries.forEach(({ kind, content, priority, ticketId }, index) => {
    const known = ruleOf(settings.discoveries, kind)
    const part = `discovery ${index}`
    if (known === undefined || left === 0) return
    const [name, rule] = known
    const plan = discovered(parent, spawnId(parent, token, part), name, rule, priority, root, generation)
    const isElsewhere = ticketId !== undefined && ticketId !== parent.extras.ticketId
    const cause: ProposalCause | undefined = isElsewhere ? 'other-ticket' : generation > loops.maxGenerations ? 'too-many-generations' : undefined
    if (cause === undefined) spawn({ plan, content })
    else if (open < approvalsMax) propose(part, cause, { plan: isElsewhere ? { ...plan, ticketId } : inBatch(plan), content })
    else return
    left--
  })
  return events
}

/**
 * Halts the chain of a task that is given up. `haltedNow`: number of chains halted by the same command. `undefined` if the task belongs to no chain
 * of fixes, or if too many approvals are open.
 */
export const haltAtDeadLetter = (tables: Tables, task: TaskRecord, cause: HaltCause, error: string, at: number, haltedNow: number): QueueEvent | undefined => {
  const { rootTaskId, discovery } = task.extras
  if (rootTaskId === undefined || discovery !== validationDiscovery || tables.approvals.size + haltedNow >= approvalsMax || task.lease === null) return undefined
  const { type, phase } = task.group
  const data = {
    approval: spawnId(task, task.lease.token, 'dead letter'),
    parent: task.id,
    root: rootTaskId,
    cause,
    rounds: tables.chains.get(rootTaskId)?.rounds ?? 0,
    signature: failureSignature(type, phase, error),
    error,
    tasks: [],
  }
  return { type: 'LoopHalted', at, data }
}

/** A signature that is equal for the same failure of validation by another task of the chain, whatever its phase. */
const validationSignature = ({ group: { type } }: TaskRecord, error: string): string => failureSignature(type, 'VALIDATION', error)

/** The fields that all children take over. */
const inherited = ({ id, group: { type, tenant }, timeout, maxRetries, backoffSeconds, extras: { ticketId, maxRunSeconds, traceparent } }: TaskRecord) => ({
  type,
  timeout,
  maxRetries,
  backoffSeconds,
  ...(tenant === undefined ? {} : { tenant }),
  ...(ticketId === undefined ? {} : { ticketId }),
  ...(maxRunSeconds === undefined ? {} : { maxRunSeconds }),
  ...(traceparent === undefined ? {} : { traceparent }),
  parentTaskId: id,
})

const discovered = (
  parent: TaskRecord, task: string, kind: string, rule: DiscoveryRule, severity: number | undefined, rootTaskId: string, generation: number,
): PlannedTask => {
  const { type = parent.group.type, phase = parent.group.phase, priority = severity ?? priorityDefault, skills } = rule
  return {
    ...inherited(parent),
    task,
    type,
    priority: typeof priority === 'number' ? priority : priorityOf[priority],
    ...(phase === undefined ? {} : { phase }),
    ...(skills === undefined || skills.length === 0 ? {} : { skills }),
    discovery: kind,
    rootTaskId,
    generation,
  }
}

const fixAndCheck = (parent: TaskRecord, token: number, rootTaskId: string, generation: number, fix: string, check: string): ReadonlyArray<Planned> => {
  const { skills } = parent.group
  const common = { ...inherited(parent), priority: priorityOf.HIGH, discovery: validationDiscovery, rootTaskId, generation, ...(skills.length === 0 ? {} : { skills }) }
  const fixId = spawnId(parent, token, 'fix')
  return [
    { plan: { ...common, task: fixId, phase: 'IMPLEMENTATION' }, content: fix },
    { plan: { ...common, task: spawnId(parent, token, 'check'), phase: 'VALIDATION', dependencies: [fixId] }, content: check },
  ]
}

/** A spawned task has a key of its own: it is identified by its parent's attempt, not by its content. */
export const factsOfPlan = (plan: PlannedTask, number: number): TaskFacts => {
  const { task, type, priority, timeout, maxRetries, backoffSeconds, ...optional } = plan
  return { task, number, type, priority, idempotencyKey: `spawned ${task}`, timeout, maxRetries, backoffSeconds, ...optional }
}

/** The content of an event about waiting tasks: `{"tasks": [content, …]}`. */
const contentOf = (contents: ReadonlyArray<string>): string => `{"tasks":[${contents.join(',')}]}`
