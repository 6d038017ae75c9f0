/** The differences between two moments of a queue, and the events that caused them (EV-06). */
import { breakerOf, breakersOf, type BreakerView, isUnreadable, type QueueEvent, type QueueState, taskOf, taskTypeOf, type TaskView, type Unreadable, waitersOf } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { showEvent } from '../../engine/index.js'
import type { RecordedEvent } from '../../store/index.js'
import { invalid } from '../problem.js'
import type { DiffQuery } from '../query.js'
import type { Handled, KnownMoment, SpanCall } from '../routes/route.js'
import { taskTexts } from '../json/task-text.js'
import { isoOf } from '../../iso-time.js'
import { shownBreaker } from './queue.js'
import { pageSizeOf } from './tasks.js'

/** A task or breaker that events of the span are about, or may have changed. */
interface Touched<View> {
  readonly before: View | undefined
  readonly events: Array<RecordedEvent>
}

type Breakers = Readonly<Record<string, BreakerView | undefined>>

/** Walks over a span and finds what its events touch. */
class Touching {
  readonly tasks = new Map<string, Touched<TaskView>>()
  readonly breakers = new Map<string, Touched<BreakerView>>()
  /** What the last event may have changed besides its own task. Whether it has is known when the next event comes. */
  private open: { readonly event: RecordedEvent; readonly breakers: Breakers; readonly waiting: ReadonlyArray<TaskView> } | undefined

  /** The time of the earlier moment. */
  at = 0

  note(recorded: RecordedEvent, event: QueueEvent | Unreadable, before: QueueState): void {
    this.close(before)
    if (isUnreadable(event)) return
    const { data } = event
    const task = 'task' in data ? data.task : undefined
    if (task !== undefined) this.touch(task, recorded, () => taskOf(before, task, this.at))
    const type = 'taskType' in data ? data.taskType : task === undefined ? undefined : taskTypeOf(before, task)
    this.open = {
      event: recorded,
      // The end of the queue changes all breakers. Any other event that is neither about a type nor about a known task changes none.
      breakers: type !== undefined ? { [type]: breakerOf(before, type) } : event.type === 'QueueDeleted' ? breakersOf(before) : {},
      waiting: task !== undefined && ends.has(event.type) ? waitersOf(before, task).flatMap((id) => taskOf(before, id) ?? []) : [],
    }
  }

  /** `after`: the state after the last event. */
  close(after: QueueState): void {
    if (this.open === undefined) return
    const { event, breakers, waiting } = this.open
    this.open = undefined
    for (const before of waiting) {
      if (taskOf(after, before.id)?.status !== before.status) this.touch(before.id, event, () => before)
    }
    for (const [type, breaker] of Object.entries(breakers)) {
      if (JSON.stringify(breakerOf(after, type)) === JSON.stringify(breaker)) continue
      const touched = this.breakers.get(type) ?? { before: breaker, events: [] }
      touched.events.push(event)
      this.breakers.set(type, touched)
    }
  }

  private touch(id: string, event: RecordedEvent, before: () => TaskView | undefined): void {
    const touched = this.tasks.get(id) ?? { before: before(), events: [] }
    touched.events.push(event)
    this.tasks.set(id, touched)
  }
}

/** After these events, tasks that waited for the task may be ready. */
const ends: ReadonlySet<string> = new Set(['Completed', 'Cancelled', 'Discarded'])

export const diff = async ({ queue, span, query, limits }: SpanCall<DiffQuery>): Promise<Handled> => {
  const { from, to } = span
  if (to.revision < from.revision) return E.left(invalid([{ path: 'query.to', message: 'is before from' }]))
  if (to.revision - from.revision > limits.scanEventsMax) {
    return E.left(invalid([{ path: 'query.to', message: `is ${to.revision - from.revision} events after from: at most ${limits.scanEventsMax} can be compared at once` }]))
  }
  const touching = new Touching()
  const { tasks, breakers } = touching
  const after = await queue.walk({
    begin: (_, at) => (touching.at = at),
    event: (recorded, event, before) => touching.note(recorded, event, before),
    end: (state, at) => {
      touching.close(state)
      return {
        at,
        tasks: new Map([...tasks.keys()].map((id) => [id, taskOf(state, id, at)])),
        breakers: new Map([...breakers.keys()].map((type) => [type, breakerOf(state, type)])),
      }
    },
  })
  const page = await differing(queue, [...tasks], after.tasks, Number(query.cursor ?? 0), pageSizeOf(query.limit, limits), limits.pageBytesMax)
  const differ = [...breakers].sort(([a], [b]) => (a < b ? -1 : 1)).filter(([type, { before }]) => JSON.stringify(after.breakers.get(type)) !== JSON.stringify(before))
  const answer = {
    from: shownMoment(from, touching.at),
    to: shownMoment(to, after.at),
    tasks: page.tasks,
    nextCursor: page.next,
    breakers: differ.slice(0, limits.pageMax).map(([type, { before, events }]) => {
      const now = after.breakers.get(type)
      return {
        type,
        before: before === undefined ? null : shownBreaker(before),
        after: now === undefined ? null : shownBreaker(now),
        events: events.slice(-breakerEventsMax).map(reference),
        eventsTotal: events.length,
      }
    }),
    breakersTotal: differ.length,
    revision: to.revision,
  }
  return E.right({ status: 200, text: JSON.stringify(answer), revision: to.revision })
}

const shownMoment = ({ revision, at }: KnownMoment, seenAt: number): object => ({ revision, at: revision < 0 && at === undefined ? null : isoOf(seenAt) })

const reference = (event: RecordedEvent): object => {
  const { revision, type, at, actor, correlationId } = showEvent(event)
  return { revision, type, at, actor, correlationId }
}

/** Number of the last events of a breaker in an answer. Every failure of its type is one, and they come with each page. */
const breakerEventsMax = 100

/** Number of tasks whose texts are made at a time. */
const stepMax = 100

/** A page of the tasks that differ, in the order of the first event about each. */
const differing = async (
  queue: SpanCall['queue'],
  touched: ReadonlyArray<readonly [id: string, Touched<TaskView>]>,
  after: ReadonlyMap<string, TaskView | undefined>,
  start: number,
  limit: number,
  bytesMax: number,
): Promise<{ readonly tasks: ReadonlyArray<object>; readonly next: string | null }> => {
  const tasks: Array<object> = []
  let bytes = 0
  for (let from = start; from < touched.length; from += stepMax) {
    const part = touched.slice(from, from + stepMax)
    const then = await shownOf(queue, part.map(([, { before }]) => before))
    const now = await shownOf(queue, part.map(([id]) => after.get(id)))
    for (const [index, [id, { before, events }]] of part.entries()) {
      if (tasks.length === limit || bytes > bytesMax) return { tasks, next: String(from + index) }
      const differs = changes(then[index], now[index])
      if (differs === undefined) continue
      const { number, type } = (after.get(id) ?? before) as TaskView
      const shown = { id, number, type, ...differs, events: events.map(reference) }
      bytes += JSON.stringify(shown).length
      tasks.push(shown)
    }
  }
  return { tasks, next: null }
}

type Shown = Readonly<Record<string, unknown>> | undefined

/** What a dead letter holds up changes with other tasks, whose events are not those of the dead letter. */
const withoutHoldsUp = ({ holdsUp: _, ...view }: TaskView): TaskView => view

const shownOf = async (queue: SpanCall['queue'], views: ReadonlyArray<TaskView | undefined>): Promise<ReadonlyArray<Shown>> => {
  const texts = await taskTexts(queue, views.flatMap((view) => (view === undefined ? [] : withoutHoldsUp(view))))
  let next = 0
  return views.map((view) => (view === undefined ? undefined : (JSON.parse(texts[next++] as string) as Shown)))
}

/** The members that differ, in both forms; `null` if the task did not exist. `undefined` if nothing differs. */
const changes = (before: Shown, after: Shown): { readonly before: Shown | null; readonly after: Shown | null } | undefined => {
  if (before === undefined || after === undefined) return before === after ? undefined : { before: before ?? null, after: after ?? null }
  const differ = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]))
  const only = (shown: Readonly<Record<string, unknown>>) => Object.fromEntries(differ.map((key) => [key, shown[key] ?? null]))
  return differ.length === 0 ? undefined : { before: only(before), after: only(after) }
}
