/** INV-32: a redrive keeps its rate and takes only the dead letters that matched at its start. A snoozed dead letter comes back at its time, and not before. */
import { type DeadLetterFilter, deadLetters, type EventOf, type QueueEvent, taskOf } from '@daybook/core'
import type { Shadow, ShadowTask } from '../support/states/index.js'
import { all, same } from './look.js'
import { type Checker, holds } from './world.js'

interface Redrive {
  readonly started: EventOf<'RedriveStarted'>
  /** When it sent tasks back, and their types. */
  readonly times: Array<number>
  readonly types: Set<string>
  /** The place of the last one in the order of dead letters, or before one that was given a higher priority since. */
  last: number
  /** A breaker of one of these types has opened. */
  opened: string | undefined
}

interface Known {
  readonly number: number
  readonly type: string
  priority: number
}
const placeOf = ({ priority, number }: Known): number => (10 - priority) * 2 ** 44 + number

const matches = ({ type, signature }: DeadLetterFilter, { facts, ...task }: ShadowTask): boolean =>
  (type === undefined || facts.type === type) && (signature === undefined || task.signature === signature)

/** Whether another task has its key, or had it until one of these events of the same decision. */
const hasRival = (shadow: Shadow, task: ShadowTask, at: number, events: ReadonlyArray<QueueEvent> = []): boolean => {
  const died = new Set(events.flatMap((event) => (event.type === 'DeadLettered' ? [event.data.task] : [])))
  const hasKey = ({ facts, stage }: ShadowTask): boolean => died.has(facts.task) || !['dead-letter', 'cancelled', 'discarded'].includes(stage)
  return shadow.knownAt(at).some((other) => other !== task && other.facts.idempotencyKey === task.facts.idempotencyKey && hasKey(other))
}

/** A redrive may make up for this much time after a pause of the server, in milliseconds. */
const madeUpMs = 1_000

export const reviewsKeepTheirTime = (): Checker => {
  const known = new Map<string, Known>()
  const snoozes = new Map<string, EventOf<'Snoozed'>['data']>()
  /** When a reviewer last snoozed or escalated a dead letter. */
  const decidedAt = new Map<string, number>()
  let redrive: Redrive | undefined
  /** The breaker that had opened before the command. */
  let opened: string | undefined
  let isTick = false

  const checkAdvance = ({ shadow }: { readonly shadow: Shadow }, { started: { data, at: startedAt }, times, last }: Redrive, id: string, at: number): void => {
    const task = shadow.task(id) as ShadowTask
    holds(task.stage === 'waiting', `the redrive has sent ${id} back, and it is ${task.stage}`)
    holds(matches(data.filter, task), `the redrive sends ${id} back, which does not match`)
    holds((task.deadLetter?.at ?? 0) <= startedAt, `the redrive sends ${id} back, which became a dead letter after it was started`)
    holds((decidedAt.get(id) ?? 0) <= startedAt, `the redrive sends ${id} back, on which a reviewer has decided after it was started`)
    holds(placeOf(known.get(id) as Known) > last, `the redrive sends ${id} back out of turn`)
    holds(opened === undefined, `the redrive goes on with ${id}, though the breaker of ${opened} has opened`)
    const step = Math.ceil(60_000 / data.perMinute)
    times.forEach((from, index) => {
      const count = times.length - index + 1
      holds((count - 1) * step <= at - from + madeUpMs, `the redrive sends ${count} back from ${from} to ${at}, and may send ${data.perMinute} a minute`)
    })
  }

  return {
    command: (_, command) => {
      isTick = command.type === 'Tick'
      opened = redrive?.opened
    },
    event: ({ shadow }, event, decided, index) => {
      const next = decided[index + 1]
      if (event.type === 'Requeued' && isTick && !(next?.type === 'RedriveAdvanced' && next.data.task === event.data.task)) {
        const { until, reviewer, reason } = snoozes.get(event.data.task) ?? { until: Number.POSITIVE_INFINITY }
        holds(event.at >= until, `${event.data.task} is sent back at ${event.at}, and was snoozed until ${until}`)
        same({ reviewer: event.data.reviewer, reason: event.data.reason }, { reviewer, reason }, `who sends ${event.data.task} back`)
      }
      if (event.type === 'Escalated') holds(!snoozes.has(event.data.task), `${event.data.task} is escalated, and would be sent back by itself`)
      if (event.type === 'SnoozeLapsed' && !(next?.type === 'Escalated' && next.data.task === event.data.task)) {
        const { task: id } = event.data
        holds(event.at >= (snoozes.get(id)?.until ?? Number.POSITIVE_INFINITY), `the snooze of ${id} lapses before its time`)
        holds(hasRival(shadow, shadow.task(id) as ShadowTask, event.at), `the snooze of ${id} lapses, and no other task has its key`)
      }
      if (event.type === 'RedriveAdvanced') {
        holds(redrive !== undefined, `${event.data.task} is sent back by a redrive that there is not`)
        checkAdvance({ shadow }, redrive as Redrive, event.data.task, event.at)
      }
      if (event.type === 'TaskAmended' && event.data.priority !== undefined && redrive !== undefined && shadow.task(event.data.task)?.stage === 'dead-letter') {
        const moved = { ...(known.get(event.data.task) as Known), priority: event.data.priority }
        redrive.last = Math.min(redrive.last, placeOf(moved) - 1)
      }
      if (event.type === 'RedriveStopped' && event.data.cause === 'nothing-left' && redrive !== undefined) {
        const { started, last } = redrive
        const left = shadow.tasks.filter(
          (task) => task.stage === 'dead-letter' && matches(started.data.filter, task) && Math.max(task.deadLetter?.at ?? 0, decidedAt.get(task.facts.task) ?? 0) < started.at && placeOf(known.get(task.facts.task) as Known) > last && !hasRival(shadow, task, event.at, decided.slice(0, index)),
        )
        same(left.map(({ facts }) => facts.task), [], 'what a redrive leaves behind that says nothing is left')
      }
    },
    note: (event) => {
      noteTask(known, event)
      redrive = afterEvent(redrive, known, event)
      if (event.type === 'Snoozed') snoozes.set(event.data.task, event.data)
      if (event.type === 'Snoozed' || event.type === 'Escalated') decidedAt.set(event.data.task, event.at)
      const isEnded = event.type === 'Requeued' || event.type === 'Discarded' || event.type === 'Cancelled'
      if (isEnded) decidedAt.delete(event.data.task)
      if (isEnded || event.type === 'SnoozeLapsed') snoozes.delete(event.data.task)
    },
    step: ({ shadow, state, isCloseLook }, command, decided) => {
      // A tick ends all snoozes that are due; scenarios have fewer than it takes at a time.
      if (command?.type === 'Tick') for (const [id, { until }] of snoozes) holds(until > (decided[0]?.at ?? 0), `${id} was snoozed until ${until}, and is not sent back`)
      if (!isCloseLook) return
      const dead = shadow.tasks.filter(({ stage }) => stage === 'dead-letter').map(({ facts }) => facts.task)
      const listed = (snoozed: boolean): ReadonlyArray<string> => deadLetters(state, { snoozed }, all).map(({ id }) => id).sort()
      same(listed(true), dead.filter((id) => snoozes.has(id)).sort(), 'snoozed dead letters')
      same(listed(false), dead.filter((id) => !snoozes.has(id)).sort(), 'dead letters to review now')
      for (const id of dead) same(taskOf(state, id)?.snoozedUntil, snoozes.get(id)?.until, `until when ${id} is snoozed`)
    },
  }
}

const noteTask = (known: Map<string, Known>, event: QueueEvent): void => {
  if (event.type === 'TaskEnqueued' || event.type === 'TaskImported') {
    const { task, number, type, priority } = event.data
    known.set(task, { number, type, priority })
  }
  if (event.type === 'TaskAmended') {
    const task = known.get(event.data.task)
    if (task !== undefined) task.priority = event.data.priority ?? task.priority
  }
}

const afterEvent = (redrive: Redrive | undefined, known: ReadonlyMap<string, Known>, event: QueueEvent): Redrive | undefined => {
  if (event.type === 'RedriveStarted') return { started: event, times: [], types: new Set(), last: -1, opened: undefined }
  if (event.type === 'RedriveStopped' || event.type === 'QueueDeleted') return undefined
  if (redrive === undefined) return undefined
  if (event.type === 'BreakerOpened' && redrive.types.has(event.data.taskType)) redrive.opened ??= event.data.taskType
  if (event.type === 'RedriveAdvanced') {
    const task = known.get(event.data.task) as Known
    redrive.times.push(event.at)
    redrive.types.add(task.type)
    redrive.last = placeOf(task)
  }
  return redrive
}
