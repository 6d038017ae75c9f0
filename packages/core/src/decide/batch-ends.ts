/**
 * Finishes batches (INV-33): whatever command ends what a batch waits for, `BatchFinished` and its callback are in the same append. No command has to know of it,
 * because this looks at the events of each.
 */
import { type Batch, type BatchCounts, type CountedAs, countedOf, hasNothingLeft, noCounts } from '../state/batches.js'
import type { EventOf, QueueEvent } from '../model/events.js'
import { isolated } from '../model/isolation.js'
import { KnownTasks } from '../state/retention.js'
import type { Tables } from '../state/tables.js'
import type { ScheduledTask, TaskFacts } from '../model/task-fields.js'
import { factsOf } from './enqueue.js'
import { preparedFrom } from './planned-content.js'

/** A batch after the events, and where its end would be told. */
interface After extends Pick<Batch, 'on' | 'cancelled' | 'closedAt' | 'callback' | 'tenant' | 'description'> {
  readonly id: string
  readonly counts: BatchCounts
  /** The place of the last event that made a difference to it. */
  last: number
}

/** The events with the ends of batches. `ripe`: also of those that have nothing left to wait for already. */
export const withBatchEnds = (events: ReadonlyArray<QueueEvent>, tables: Tables, at: number, ripe = false): ReadonlyArray<QueueEvent> => {
  const { batches } = tables
  if (batches.unfinished === 0 && events[0]?.type !== 'BatchCreated') return events
  const touched = new Touched(tables)
  if (ripe) for (const id of batches.ripeOnes()) touched.batch(id, events.length - 1)
  events.forEach((event, index) => touched.by(event, index))
  const ends = touched.all().filter(hasNothingLeft)
  return ends.length === 0 ? events : insertEnds(events, ends, tables, at)
}

class Touched {
  private readonly byId = new Map<string, After>()

  constructor(private readonly tables: Tables) {}

  all(): ReadonlyArray<After> {
    return [...this.byId.values()]
  }

  /** The batch as these events leave it, if it is not finished. */
  batch(id: string | undefined, index: number): After | undefined {
    if (id === undefined) return undefined
    const known = this.byId.get(id)
    if (known !== undefined) {
      known.last = index
      return known
    }
    const batch = this.tables.batches.get(id)
    if (batch === undefined || batch.finishedAt > 0) return undefined
    const after = { ...batch, counts: { ...batch.counts }, last: index }
    this.byId.set(id, after)
    return after
  }

  by(event: QueueEvent, index: number): void {
    switch (event.type) {
      case 'BatchCreated': {
        const { batch: id, callback = null, ...given } = event.data
        this.byId.set(id, { ...given, id, callback, cancelled: null, closedAt: 0, counts: noCounts(), last: index })
        return
      }
      case 'BatchClosed':
        return this.change(event.data.batch, index, (batch) => ({ ...batch, closedAt: event.at }))
      case 'BatchCancelled': {
        const { reason, runsCallback } = event.data
        const cancelled = { at: event.at, reason }
        return this.change(event.data.batch, index, (batch) => ({ ...batch, closedAt: event.at, cancelled, callback: runsCallback === true ? batch.callback : null }))
      }
      case 'TaskEnqueued':
        return this.count(event.data.batchId, index, undefined, 'open')
      case 'Completed':
        return this.moved(event.data.task, index, 'completed')
      case 'Cancelled':
        return this.moved(event.data.task, index, 'cancelled')
      case 'Discarded':
        return this.moved(event.data.task, index, 'discarded')
      case 'DeadLettered':
        return this.moved(event.data.task, index, 'deadLetters')
      case 'Requeued':
        return this.moved(event.data.task, index, 'open')
      case 'SpawnProposed':
      case 'LoopHalted':
        return this.count(event.data.tasks[0]?.batchId, index, undefined, 'approvals')
      case 'SpawnApproved':
      case 'SpawnRefused':
      case 'GuardianReleased': {
        const approval = this.tables.approvals.get(event.data.approval)
        const batch = approval === undefined ? undefined : this.tables.batches.ofApproval(approval)
        return this.count(batch?.id, index, 'approvals', undefined)
      }
      default:
    }
  }

  private change(id: string, index: number, changed: (batch: After) => After): void {
    const batch = this.batch(id, index)
    if (batch !== undefined) this.byId.set(id, changed(batch))
  }

  private moved(id: string, index: number, to: CountedAs): void {
    const task = this.tables.byId.get(id)
    const batch = task === undefined ? undefined : this.tables.batches.of(task)
    if (task !== undefined && batch !== undefined) this.count(batch.id, index, countedOf(task.status), to)
  }

  private count(id: string | undefined, index: number, from: keyof BatchCounts | undefined, to: keyof BatchCounts | undefined): void {
    const counts = this.batch(id, index)?.counts
    if (counts === undefined) return
    if (from !== undefined) counts[from]--
    if (to !== undefined) counts[to]++
  }
}

/** Each end comes right after what led to it, so that both stay together if an append cannot take all events; but after all new tasks, in the order of numbers. */
const insertEnds = (events: ReadonlyArray<QueueEvent>, ends: ReadonlyArray<After>, tables: Tables, at: number): ReadonlyArray<QueueEvent> => {
  const isNew = ({ type }: QueueEvent): boolean => type === 'TaskEnqueued' || type === 'TaskImported'
  const lastNew = events.findLastIndex(isNew)
  const known = new KnownTasks(tables, at)
  let number = tables.head.lastNumber + events.filter(isNew).length
  const taken = new Set(events.flatMap((event) => takenBy(event, tables)))
  const placed = ends.map((batch) => ({ batch, place: Math.max(batch.last, lastNew) })).sort((a, b) => a.place - b.place)
  const all: Array<QueueEvent> = []
  let from = 0
  for (const { batch, place } of placed) {
    all.push(...events.slice(from, place + 1))
    from = Math.max(from, place + 1)
    const callback = batch.callback === null ? undefined : callbackOf(batch, batch.callback, ++number, known, taken, at)
    all.push({ type: 'BatchFinished', at, data: { batch: batch.id, ...tallyOf(batch), ...(callback === undefined ? {} : { callback: callback.data.task }) } })
    if (callback !== undefined) all.push(callback)
  }
  return [...all, ...events.slice(from)]
}

/** The ids and keys that tasks take with this event: a dead letter that is sent back takes its key again. */
const takenBy = (event: QueueEvent, tables: Tables): ReadonlyArray<string> => {
  if (event.type === 'TaskEnqueued') return [event.data.task, event.data.idempotencyKey]
  const key = event.type === 'Requeued' ? tables.byId.get(event.data.task)?.key : undefined
  return key === undefined ? [] : [key]
}

/** How many tasks it had, and how they ended. */
const tallyOf = ({ counts: { open, completed, cancelled, discarded, deadLetters } }: After) => ({
  tasks: open + completed + cancelled + discarded + deadLetters,
  completed,
  cancelled,
  discarded,
  deadLetters,
})

const callbackOf = (batch: After, callback: ScheduledTask, number: number, known: KnownTasks, taken: Set<string>, at: number): EventOf<'TaskEnqueued'> => {
  const { id, description } = batch
  const told = { id, ...(description === undefined ? {} : { description }), ...tallyOf(batch) }
  const planned = { ...callback, metadata: { ...callback.metadata, batch: told } }
  // A producer may have taken the id or the key, and the callback must not be lost.
  for (let turn = 1; ; turn++) {
    const task = `${id}.callback${turn === 1 ? '' : `.${turn}`}`
    const prepared = isolated(preparedFrom(planned, task, task), known.tables)
    const { idempotencyKey: key } = prepared
    if (taken.has(task) || taken.has(key) || known.byId(task) !== undefined || known.byKey(key) !== undefined) continue
    taken.add(task).add(key)
    const data: TaskFacts = { ...factsOf(prepared, key, number, known.tables), callbackOf: id }
    return { type: 'TaskEnqueued', at, data, content: prepared.content }
  }
}
