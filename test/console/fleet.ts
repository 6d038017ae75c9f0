/**
 * A fleet with a past, for the console to show: six hours of several queues, made through the client against a server whose clock this file sets. The
 * same at each call, apart from the time at which it ends and the schedules that were due until then.
 */
import { join } from 'node:path'
import { openTokens } from '@daybook/adapters/auth'
import { createClient, type DaybookClient, type Result } from '@daybook/adapters/client'
import { logFileName } from '@daybook/adapters/config'
import { createDaybook } from '@daybook/adapters/engine'
import { startHttpServer } from '@daybook/adapters/http'
import { openSqliteStore } from '@daybook/adapters/sqlite'

export const logFile = (dataDir: string): string => join(dataDir, logFileName)
export const adminToken = 'dbk_test-token-of-the-console-tests'

/** Tokens of people, by name. Each is what a request needs as `Authorization: Bearer …`. */
export interface FleetTokens {
  /** Operator and guardian: may do all that the console offers. */
  readonly ada: string
  /** Auditor: reads everything. */
  readonly ben: string
}

const minuteMs = 60_000
const stepMs = 7.5 * minuteMs
const steps = 48

/** Writes the fleet into the log of a data folder that no server has open. Its last events are from about `end`, in milliseconds since 1970. */
export const seedFleet = async (dataDir: string, end = Date.now()): Promise<FleetTokens> => {
  let now = end - steps * stepMs - 6 * minuteMs
  const began = now
  const store = await openSqliteStore({ file: logFile(dataDir), sharing: 'exclusive' })
  const clock = (): number => now
  const daybook = createDaybook({ store, clock, monotonic: () => now - began, clockJumpMs: Number.POSITIVE_INFINITY, alerts: true, leaseGraceMs: 0, random: () => 0.5 })
  const { tokens } = openTokens({ dir: dataDir, adminToken, store })
  const http = await startHttpServer({ daybook, tokens, port: 0 })
  const admin = createClient({ url: http.url, token: adminToken })
  try {
    const make = async (name: string, roles: Parameters<typeof admin.tokens.create>[0]['roles']): Promise<string> => (await admin.tokens.create({ name, roles })).token
    const people = { ada: await make('ada', ['operator', 'guardian']), ben: await make('ben', ['auditor']) }
    const as = async (name: string, role: 'producer' | 'worker'): Promise<DaybookClient> => createClient({ url: http.url, token: await make(name, [role]) })
    const clients = { producer: await as('ticket-system', 'producer'), worker: await as('fleet', 'worker'), operator: createClient({ url: http.url, token: people.ada }) }
    await work(clients, end, (ms) => (now += ms))
    await Promise.all(Object.values(clients).map((client) => client.close()))
    return people
  } finally {
    await admin.close()
    await http.close(1_000)
    await daybook.close()
    await tokens.close()
  }
}

interface Clients {
  readonly producer: DaybookClient
  readonly worker: DaybookClient
  readonly operator: DaybookClient
}

/** What arrives: of each type so many in an hour, for whom, and how it fails. */
const kinds = [
  { type: 'eng-backend', perHour: 14, priority: 5, phase: 'IMPLEMENTATION', fails: 9, error: (n: number) => `TypeError: cannot read properties of undefined (reading 'invoice') at order ${4_000 + n}` },
  { type: 'eng-frontend', perHour: 11, priority: 5, phase: 'IMPLEMENTATION', fails: 0, error: () => '' },
  { type: 'eng-docs', perHour: 7, priority: 3, phase: 'REQUIREMENTS', fails: 0, error: () => '' },
  { type: 'review-api', perHour: 9, priority: 8, phase: 'VALIDATION', fails: 0, error: () => '' },
  { type: 'qa-browser', perHour: 8, priority: 5, phase: 'TESTING', fails: 4, error: (n: number) => `timeout: the page did not settle within ${20 + n} s` },
  { type: 'ops-deploy', perHour: 4, priority: 8, phase: undefined, fails: 0, error: () => '' },
  { type: 'ops-security', perHour: 5, priority: 10, phase: 'ANALYSIS', fails: 6, error: (n: number) => `connect ECONNREFUSED 10.0.0.${n % 250}:443 (scanner-2)` },
  { type: 'mail-welcome', perHour: 16, priority: 5, phase: undefined, fails: 6, error: (n: number) => `550 mailbox unavailable <user-${n}@example.org>` },
  { type: 'data-import', perHour: 6, priority: 3, phase: undefined, fails: 3, error: (n: number) => `upstream timed out after 30 s (request ${7_000 + n})` },
  { type: 'ai-summary', perHour: 10, priority: 5, phase: 'ANALYSIS', fails: 0, error: () => '' },
] as const
const tenants = ['acme', 'acme', 'acme', 'globex', 'globex', 'initech'] as const
const agents = [
  { agentId: 'eng-1', types: ['eng-*'], skills: ['typescript', 'sql'], maxTasks: 2 },
  { agentId: 'eng-2', types: ['eng-*', 'review-*'], skills: ['typescript'], maxTasks: 2 },
  { agentId: 'ops-1', types: ['ops-*', 'data-*'], skills: ['terraform'], maxTasks: 2 },
  { agentId: 'mailer-1', types: ['mail-*'], maxTasks: 4 },
  { agentId: 'reviewer-1', types: ['review-*', 'qa-*'], phases: ['VALIDATION', 'TESTING'], maxTasks: 2 },
  { agentId: 'summariser-1', types: ['ai-*', 'eng-docs'], skills: ['english', 'german'], maxTasks: 3 },
] as const
/** How long agents are registered and hold their tasks: as long as no run of all tests takes, because they share this fleet. */
const ttlSeconds = 86_400

const work = async (clients: Clients, end: number, pass: (ms: number) => void): Promise<void> => {
  const { operator } = clients
  await setUp(clients)
  const arrivals = newArrivals()
  for (let step = 0; step < steps; step++) {
    await clients.producer.enqueueAll(arrivals(step))
    // Each step has two rounds of claims, so that tasks wait and run for times that differ.
    for (const round of [0, 1]) {
      pass(40_000 + 10_000 * ((step + round) % 4))
      await workRound(clients, step, step > steps - 8)
      pass(stepMs / 2 - 40_000 - 10_000 * ((step + round) % 4))
    }
    if (step === 27) await operator.pause('the database is being upgraded')
    if (step === 28) await operator.resume('the upgrade is done')
    if (step === 34) await operator.settings.patch({ assignment: { tenants: { globex: 2 } } })
  }
  await endOfDay(clients, end, pass)
}

const setUp = async ({ operator, worker, producer }: Clients): Promise<void> => {
  await operator.settings.patch({
    decisionReport: 'optional',
    capacity: { maxConcurrentAgents: 12 },
    defaults: { maxRetries: 2, backoffSeconds: 60, timeout: ttlSeconds },
    breakers: { overrides: { 'ops-security': { failureThreshold: 3, cooldownSeconds: 7_200, halfOpenAfter: 86_400 }, 'data-import': { failureThreshold: 50 }, 'mail-welcome': { failureThreshold: 50 }, 'eng-backend': { failureThreshold: 50 }, 'qa-browser': { failureThreshold: 50 } } },
  })
  for (const agent of agents) await worker.agents.register({ ...agent, ttlSeconds })
  await operator.limits.set('smtp', { concurrency: 3, rate: { starts: 100, perSeconds: 60 } })
  await operator.limits.set('tenant:*', { concurrency: 20 })
  await operator.limits.set('type:data-import', { concurrency: 1 })
  await operator.schedules.create('triage', { every: 1_800, overlap: 'skip', task: { type: 'eng-docs', priority: 3, description: 'Sort what came in' } })
  await operator.schedules.create('nightly-backup', { cron: '30 2 * * *', timeZone: 'Europe/Berlin', task: { type: 'ops-backup', priority: 'HIGH', description: 'Back up the database' } })
  await operator.schedules.create('month-end', { cron: '0 6 L * *', timeZone: 'America/New_York', paused: true, task: { type: 'data-report', description: 'Figures of the month' } })
  await producer.in('mail').enqueueAll(Array.from({ length: 40 }, (_, n) => ({ id: `digest-${n}`, type: 'mail-digest', payload: { issue: n } })))
  await producer.in('nightly').enqueueAll(Array.from({ length: 5 }, (_, n) => ({ id: `night-${n}`, type: 'ops-backup', payload: { of: `db-${n}` } })))
  await operator.in('nightly').pause('only at night')
}

/** The tasks of each step. More come in the middle of the period than at its ends. */
const newArrivals = (): ((step: number) => ReadonlyArray<Parameters<DaybookClient['enqueue']>[0]>) => {
  const due = kinds.map((_, i) => i / kinds.length)
  let count = 0
  return (step) => {
    const busy = 0.6 + 0.6 * Math.sin((Math.PI * step) / steps)
    return kinds.flatMap(({ type, perHour, priority, phase }, kind) => {
      due[kind] = (due[kind] as number) + (perHour / 8) * busy
      const made = Math.floor(due[kind] as number)
      due[kind] = (due[kind] as number) - made
      return Array.from({ length: made }, () => {
        const n = ++count
        return {
          id: `${type}-${n}`, type, priority, payload: { order: n, ref: `r-${n}` }, tenant: tenants[n % tenants.length] as string, ticketId: `T-${1_000 + (n % 60)}`,
          description: `${type.replace('-', ' ')} for order ${n}`, ...(phase === undefined ? {} : { phase }), ...(type === 'mail-welcome' ? { concurrencyKey: 'smtp' } : {}),
        }
      })
    })
  }
}

/** All agents claim what they can, work for a while, and report. `isTroubled`: failures are not retried any more, and nothing of `ops-security` succeeds. */
const workRound = async ({ worker }: Clients, step: number, isTroubled: boolean): Promise<void> => {
  const all = await Promise.all(agents.map(async ({ agentId, maxTasks }) => (await worker.claim({ agentId, max: maxTasks })).map((claim) => ({ agentId, claim }))))
  await worker.outcomes(
    all.flat().map(({ agentId, claim: { task, lease } }) => {
      const said = { taskId: task.id, agentId, token: lease.token }
      const kind = kinds.find(({ type }) => type === task.type)
      // Not the task's number, which depends on the schedules that were due before it. Scheduled tasks have no order, and succeed.
      const { order = 1 } = (task.payload ?? {}) as { readonly order?: number }
      if (kind !== undefined && kind.fails > 0 && step > 6 && (order % kind.fails === 0 || (isTroubled && kind.type === 'ops-security'))) {
        const retryable = !isTroubled
        return { ...said, kind: 'fail', error: kind.error(order), retryable } as const
      }
      return { ...said, kind: 'complete', result: resultOf(task.type, task.number) } as const
    }),
  )
}

const resultOf = (type: string, number: number): Result => ({
  output: { done: true, lines: number % 97 },
  decisionReport: 'followed the house rules',
})

/** Reviews at the end of the day that find something about other tickets: a guardian has to decide. */
const findings = [
  ['review-of-queries', { type: 'optimization_opportunity', details: 'one query for each row of the list', ticketId: 'T-2040' }],
  ['review-of-logout', { type: 'security_issue', details: 'the session is not ended at logout', severity: 'HIGH', suggestedAction: 'end it', ticketId: 'T-3011' }],
] as const

const findThem = async (worker: DaybookClient): Promise<void> => {
  const agentId = 'reviewer-1'
  for (const { task, lease } of await worker.claim({ agentId, types: ['review-login'], max: findings.length })) {
    const discoveries = findings.flatMap(([id, discovery]) => (id === task.id ? [discovery] : []))
    await worker.complete(task.id, { agentId, token: lease.token, result: { decisionReport: 'read all of it', discoveries } })
  }
}

/** What is under way at the end: held, parked, blocked, scheduled, in line; and a backlog that waits. */
const endOfDay = async ({ producer, worker, operator }: Clients, end: number, pass: (ms: number) => void): Promise<void> => {
  await producer.enqueueAll([
    { id: 'release-1', type: 'ops-deploy', priority: 'HIGH', description: 'Release 4.2', ticketId: 'T-4200', deadlineAt: new Date(end + 3_600_000) },
    { id: 'announce-1', type: 'mail-welcome', dependencies: ['release-1'], description: 'Tell everybody', concurrencyKey: 'smtp' },
    { id: 'line-1', type: 'data-import', orderingKey: 'customer-7', payload: { part: 1 } },
    { id: 'line-2', type: 'data-import', orderingKey: 'customer-7', payload: { part: 2 } },
    { id: 'later-1', type: 'eng-docs', availableAt: new Date(end + 7_200_000), description: 'Not before tonight' },
    { id: 'exotic-1', type: 'eng-backend', requires: { skills: ['cobol'] }, description: 'Nobody here can do this' },
    { id: 'critical-1', type: 'ops-security', priority: 'CRITICAL', description: 'A certificate ends today', tenant: 'acme' },
    { id: 'callback-1', type: 'review-customer', priority: 9, description: 'Ask the customer' },
    ...findings.map(([id]) => ({ id, type: 'review-login', priority: 10, ticketId: 'T-1007', description: 'Review the login', payload: { review: id } })),
  ])
  await producer.enqueueAll(Array.from({ length: 60 }, (_, n) => ({ id: `backlog-${n}`, type: kinds[n % 5]?.type as string, tenant: tenants[n % 6] as string, payload: { backlog: n }, priority: 1 + (n % 7) })))
  for (const agent of agents) await worker.agents.register({ ...agent, ttlSeconds })
  await findThem(worker)
  const [asked] = await worker.claim({ agentId: 'reviewer-1', types: ['review-customer'] })
  if (asked !== undefined) await worker.park(asked.task.id, { agentId: 'reviewer-1', token: asked.lease.token, callbackKey: 'customer-answer', timeoutSeconds: 86_400 })
  for (const { agentId, maxTasks } of agents.slice(0, 4)) {
    for (const { task, lease } of await worker.claim({ agentId, max: maxTasks - 1 })) {
      await worker.heartbeat(task.id, { agentId, token: lease.token, progress: { done: task.number % 10, of: 10 }, checkpoint: { at: task.number } })
    }
  }
  await operator.deadLetters.list({ limit: 1 })
  pass(6 * minuteMs - 1_000)
  await producer.enqueue({ id: 'newest-1', type: 'eng-frontend', description: 'The newest task', tenant: 'initech' })
}
