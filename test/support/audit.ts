/** Checks a log against the answers that were given. Each check throws an error with the invariant's id. */
import { decodeRecorded, type Outcome, parseObject } from '@daybook/adapters/engine'
import type { RecordedEvent } from '@daybook/adapters/store'
import { type Command, depthOf, evolve, headOf, initial, isUnreadable, type QueueEvent, type QueueState, revisionOf } from '@daybook/core'
import { isInTheLog } from './audit-rules.js'
import { foldAll } from './queue.js'

/** A command and its answer. `id`: the command's correlation id in the log. */
export interface Exchange {
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

/** Decodes the log. Every event must be readable, have its revision, and occur once. */
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

const tasksIn = (entries: ReadonlyArray<LogEntry>, type: string): ReadonlyArray<string> =>
  entries.flatMap(({ event }) => (event.type === type && 'task' in event.data ? [event.data.task] : []))

/** The log, and the queue's state at any revision. */
class FoldedLog {
  readonly byCommand = new Map<string, Array<LogEntry>>()
  private folded: QueueState = initial('q')

  constructor(readonly log: ReadonlyArray<LogEntry>) {
    for (const entry of log) {
      const entries = this.byCommand.get(entry.command)
      if (entries === undefined) this.byCommand.set(entry.command, [entry])
      else entries.push(entry)
    }
  }

  /** Fast if it is called with growing revisions. */
  stateAt(revision: number): QueueState {
    if (revisionOf(this.folded) > revision) this.folded = initial('q')
    for (let next = revisionOf(this.folded) + 1; next <= revision; next++) this.folded = evolve(this.folded, this.log[next]!.event)
    return this.folded
  }

  past(revision: number): ReadonlyArray<QueueEvent> {
    return this.log.slice(0, revision + 1).map(({ event }) => event)
  }
}

/** INV-16, INV-19: the log has every acknowledged command once and completely, and nothing of a refused one. */
export const answersMatchLog = (exchanges: ReadonlyArray<Exchange>, log: ReadonlyArray<LogEntry>): void => {
  const folded = new FoldedLog(log)
  const revisionAnswered = ({ outcome }: Exchange): number => (outcome._tag === 'Right' ? outcome.right.revision : -1)
  for (const each of [...exchanges].sort((a, b) => revisionAnswered(a) - revisionAnswered(b))) answerMatchesLog(each, folded)
}

const answerMatchesLog = ({ id, command, outcome }: Exchange, folded: FoldedLog): void => {
  const entries = folded.byCommand.get(id) ?? []
  const what = (text: string) => (): string =>
    `${text}: ${id} ${JSON.stringify(command)} was told ${JSON.stringify(outcome)}; the log has ${JSON.stringify(entries.map(({ recorded }) => [recorded.revision, recorded.type, recorded.data]))}`
  holds(new Set(entries.map(({ causation }) => causation)).size <= 1, what('INV-19: it happened twice'))
  holds(entries.every(({ recorded }, i) => recorded.revision === entries[0]!.recorded.revision + i), what('INV-16: it is in pieces'))
  if (outcome._tag === 'Left') {
    if (outcome.left.code === 'outcome-unknown') return
    holds(entries.length === 0 || isTakenBack(outcome.left.code, entries, folded.log), what('INV-16: it was refused, and happened'))
    return
  }
  const { value, revision } = outcome.right
  holds(revision < folded.log.length, what('INV-19: it was told a revision that is not in the log'))
  holds(entries.length === 0 || entries.at(-1)!.recorded.revision === revision, what('INV-19: it was told another revision'))
  const acknowledged = {
    command,
    value: value as never,
    events: entries.map(({ event }) => event),
    past: () => folded.past(revision),
    state: () => folded.stateAt(revision),
  }
  holds(isInTheLog(acknowledged), what('INV-19: it was acknowledged, and the log says otherwise'))
}

/** The events of a claim that its agent never received: taken back, expired, or revoked with its agent. */
const endsUnworked: ReadonlySet<string> = new Set(['Claimed', 'Released', 'ClaimExpired', 'ClaimRevoked'])

/** A claim may be refused although it was appended. If its contents could not be read, the engine takes it back and nobody works on it. */
const isTakenBack = (code: string, entries: ReadonlyArray<LogEntry>, log: ReadonlyArray<LogEntry>): boolean => {
  const tokens = new Set(entries.flatMap(({ event }) => (event.type === 'Claimed' ? [event.data.token] : [])))
  const isWork = ({ event }: LogEntry): boolean => 'token' in event.data && tokens.has(event.data.token) && !endsUnworked.has(event.type)
  return code === 'unavailable' && tokens.size === entries.length && !log.some(isWork)
}

/** INV-1, INV-2: one lease per task at a time, tokens only grow, only the newest is valid. INV-14: time does not go back. */
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
