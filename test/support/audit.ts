/** What a log and the answers that were given must say of each other. Each check throws with the invariant's id. */
import { decodeRecorded, type Outcome, parseObject } from '@daybook/adapters/engine'
import type { RecordedEvent } from '@daybook/adapters/store'
import { type ClaimedTask, type Command, depthOf, type Enqueued, headOf, isUnreadable, type QueueEvent } from '@daybook/core'
import { foldAll } from './queue.js'

/** A command that was sent, and what was said to it. Its id is its correlation id in the log. */
export interface Told {
  readonly id: string
  readonly command: Command
  readonly outcome: Outcome<unknown>
}

export interface LogEntry {
  readonly recorded: RecordedEvent
  readonly event: QueueEvent
  readonly command: string
  readonly causation: string
}

export const holds = (condition: boolean, what: string | (() => string)): void => {
  if (!condition) throw new Error(typeof what === 'string' ? what : what())
}

/** Every event readable, in its place, once. */
export const readLog = (log: ReadonlyArray<RecordedEvent>): ReadonlyArray<LogEntry> => {
  const ids = new Set<string>()
  return log.map((recorded, index) => {
    const event = decodeRecorded(recorded)
    const metadata = parseObject(recorded.metadata) ?? {}
    holds(recorded.revision === index, `revision ${recorded.revision} stands at ${index}`)
    holds(!ids.has(recorded.id), `INV-19: event ${recorded.id} is in the log twice`)
    ids.add(recorded.id)
    if (isUnreadable(event)) throw new Error(`EV-11: ${recorded.type} at ${index} cannot be read: ${event.why}`)
    return { recorded, event, command: String(metadata.$correlationId), causation: String(metadata.$causationId) }
  })
}

/** What is not known to the one who asked: it may have happened. */
const isOpen = ({ outcome }: Told): boolean =>
  outcome._tag === 'Left' && outcome.left.code === 'unavailable' && /cannot be read|look whether|in the log or it is not/.test(outcome.left.detail)

const tasksIn = (entries: ReadonlyArray<LogEntry>, type: string): ReadonlyArray<string> =>
  entries.flatMap(({ event }) => (event.type === type && 'task' in event.data ? [event.data.task] : []))

/** INV-16, INV-19: the log holds what was acknowledged, once and whole, and nothing of what was refused. */
export const answersMatchLog = (told: ReadonlyArray<Told>, log: ReadonlyArray<LogEntry>): void => {
  const byCommand = new Map<string, Array<LogEntry>>()
  for (const entry of log) byCommand.set(entry.command, [...(byCommand.get(entry.command) ?? []), entry])
  for (const each of told) {
    const { id, command, outcome } = each
    const entries = byCommand.get(id) ?? []
    const what = (text: string) => (): string =>
      `${text}: ${id} ${JSON.stringify(command)} was told ${JSON.stringify(outcome)}; the log has ${JSON.stringify(entries.map(({ recorded }) => [recorded.revision, recorded.type, recorded.data]))}`
    holds(new Set(entries.map(({ causation }) => causation)).size <= 1, what('INV-19: it happened twice'))
    holds(entries.every(({ recorded }, i) => recorded.revision === entries[0]!.recorded.revision + i), what('INV-16: it is in pieces'))
    if (isOpen(each)) continue
    if (outcome._tag === 'Left') {
      holds(entries.length === 0, what('INV-16: it was refused, and happened'))
      continue
    }
    const { value, revision } = outcome.right
    holds(revision < log.length, what('INV-19: it was told a revision that is not in the log'))
    holds(entries.length === 0 || entries.at(-1)!.recorded.revision === revision, what('INV-19: it was told another revision'))
    holds(sameAsTold(command, value, entries), what('INV-19: it was acknowledged, and the log says otherwise'))
  }
}

const sameAsTold = (command: Command, value: unknown, entries: ReadonlyArray<LogEntry>): boolean => {
  switch (command.type) {
    case 'Enqueue': {
      const fresh = (value as ReadonlyArray<Enqueued>).filter(({ duplicate }) => !duplicate).map(({ id }) => id)
      return [...fresh].sort().join() === [...tasksIn(entries, 'TaskEnqueued')].sort().join()
    }
    case 'Claim': {
      const got = (value as ReadonlyArray<ClaimedTask>).map(({ task, token }) => `${task} ${token}`)
      const given = entries.map(({ event }) => (event.type === 'Claimed' ? `${event.data.task} ${event.data.token}` : event.type))
      return got.join() === given.join()
    }
    case 'Complete':
      // None when the same completion had been acknowledged before.
      return entries.length === 0 || entries[0]?.event.type === 'Completed' || entries[0]?.event.type === 'MarkedIncomplete'
    case 'Fail':
      return entries[0]?.event.type === 'Failed'
    case 'Release':
      return entries[0]?.event.type === 'Released'
    case 'Heartbeat':
      return entries[0]?.event.type === 'LeaseExtended'
    case 'Cancel':
      return (value as { cancelled: ReadonlyArray<string> }).cancelled.join() === tasksIn(entries, 'Cancelled').join()
    default:
      return true
  }
}

/** INV-1, INV-2: one lease a task at a time, tokens only grow, only the newest counts. INV-14: time does not go back. */
export const leasesAreUnique = (log: ReadonlyArray<LogEntry>): void => {
  const live = new Map<string, number>()
  let lastToken = 0
  let lastAt = 0
  for (const { event, recorded } of log) {
    const what = (text: string) => (): string => `${text} at ${recorded.revision}: ${event.type} ${recorded.data}`
    holds(event.at >= lastAt, what('INV-14: time goes back'))
    lastAt = event.at
    switch (event.type) {
      case 'Claimed':
        holds(!live.has(event.data.task), what('INV-1: claimed while it is leased'))
        holds(event.data.token > lastToken, what('INV-2: the token does not grow'))
        lastToken = event.data.token
        live.set(event.data.task, event.data.token)
        break
      case 'LeaseExtended':
      case 'MarkedIncomplete':
      case 'Completed':
      case 'Failed':
      case 'Released':
      case 'ClaimExpired':
      case 'ClaimReturned':
      case 'ClaimRevoked':
        holds(live.get(event.data.task) === event.data.token, what('INV-2: not the newest token'))
        if (event.type !== 'LeaseExtended' && event.type !== 'MarkedIncomplete') live.delete(event.data.task)
        break
      case 'Cancelled':
      case 'Discarded':
        live.delete(event.data.task)
    }
  }
}

/** INV-9: every task that was ever enqueued is in exactly one status, and the counts add up. */
export const nothingIsLost = (log: ReadonlyArray<LogEntry>): void => {
  const state = foldAll(log.map(({ recorded }) => recorded))
  const { total, byStatus } = depthOf(state)
  const enqueued = new Set(tasksIn(log, 'TaskEnqueued'))
  holds(total === enqueued.size, () => `INV-9: ${enqueued.size} tasks enqueued, ${total} in the state`)
  const counted = Object.values(byStatus).reduce((sum, count) => sum + count, 0)
  holds(counted === total, () => `INV-9: the counts add up to ${counted}, not ${total}`)
  const { misfits } = headOf(state)
  holds(misfits === 0, () => `${misfits} events do not fit the state that they met`)
}
