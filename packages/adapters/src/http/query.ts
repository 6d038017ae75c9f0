/** Query parameters. They are checked as text; the functions in this file turn them into values. */
import { AgentId, type Asker, BatchId, cancellable, integer, isCursor, listOf, Name, Phase, priorityOf, PriorityName, QueueName, type Status, statuses, type TaskFilter, TaskId, Text, TypePattern } from '@daybook/core'
import { bucketSizeOf } from '@daybook/projections/reports'
import * as t from 'io-ts'
import { defined, ifDefined } from '../defined.js'
import { topMax } from '../read-models/reports/index.js'
import { described } from './openapi/json-schema.js'
import { millisecondsOf, Time } from '../iso-time.js'

const text = (name: string, holds: (value: string) => boolean) => t.refinement(t.string, holds, name)

const isWhole = (value: string, min: number, max: number): boolean =>
  /^\d{1,16}$/.test(value) && Number(value) >= min && Number(value) <= max
const whole = (min: number, max: number) =>
  described(text(`whole number from ${min} to ${max}`, (value) => isWhole(value, min, max)), {
    type: 'integer',
    minimum: min,
    maximum: max,
  })

const seconds = (max: number) =>
  described(text(`number of seconds from 0 to ${max}`, (value) => /^\d{1,16}(\.\d{1,20})?$/.test(value) && Number(value) <= max), { type: 'number', minimum: 0, maximum: max })

const isStatus = (value: string): value is Status => (statuses as ReadonlyArray<string>).includes(value)
const isCancellable = (value: string): boolean => (cancellable as ReadonlyArray<string>).includes(value)
const Statuses = text(`list of ${statuses.join(', ')}, separated by commas`, (value) => value.split(',').every(isStatus))

const priorityAt = (value: string): number | undefined =>
  PriorityName.is(value) ? priorityOf[value] : isWhole(value, 1, 10) ? Number(value) : undefined
/** `8`, `HIGH`, `5-7` or `LOW-MEDIUM`, in either order. */
const priorityRange = (value: string): readonly [number, number] | undefined => {
  const ends = value.split('-').map(priorityAt)
  const [one, other = one] = ends
  return ends.length > 2 || one === undefined || other === undefined || ends.includes(undefined)
    ? undefined
    : [Math.min(one, other), Math.max(one, other)]
}
const Priority = text('priority (1 to 10, or CRITICAL, HIGH, MEDIUM, LOW) or range such as 5-7', (value) => priorityRange(value) !== undefined)

export const revisionMax = Number.MAX_SAFE_INTEGER
/** For routes that only show the present. */
export const AtLeastQuery = t.partial({ atLeast: whole(0, revisionMax) }, 'query')
export type AtLeastQuery = t.TypeOf<typeof AtLeastQuery>

/**
 * Every query about a queue has these parameters. `atLeast`: waits until the queue has this revision. `revision` and `at`: the answer is that of the
 * moment when this revision was the last, or of this time.
 */
const moment = { atLeast: whole(0, revisionMax), revision: whole(0, revisionMax), at: Time }

export const MomentQuery = t.partial(moment, 'query')
export type Moment = t.TypeOf<typeof MomentQuery>

const isRevision = (value: string): boolean => isWhole(value, 0, revisionMax)
const AnyMoment = text('revision, or time such as 2026-07-01T12:00:00.000Z', (value) => isRevision(value) || Time.is(value))
const span = { from: AnyMoment, to: AnyMoment }

/** The moment that a parameter `from` or `to` means. */
export const momentAt = (value: string): Moment => (isRevision(value) ? { revision: value } : { at: value })

/** Default: from before the first event to now. */
export type Span = Partial<Readonly<Record<keyof typeof span, string>>>

/** `cursor`: `nextCursor` of the previous page, with the same moments. */
export const diffQuery = (pageMax: number) => t.partial({ ...span, limit: whole(1, pageMax), cursor: whole(0, revisionMax) }, 'query')
export type DiffQuery = t.TypeOf<ReturnType<typeof diffQuery>>

/** The normative endpoint names its queue in the query. */
export const QueueStatusQuery = t.partial({ queue: QueueName, ...moment }, 'query')

export const resultQuery = (waitSecondsMax: number) => t.partial({ wait: seconds(waitSecondsMax), ...moment }, 'query')
export type ResultQuery = t.TypeOf<ReturnType<typeof resultQuery>>

/** `before`: continues with older events, or with the search for a task that the queue no longer knows. */
export const HistoryQuery = t.partial({ ...moment, before: whole(0, revisionMax) }, 'query')
export type HistoryQuery = t.TypeOf<typeof HistoryQuery>

const TimeOrDay = text('time such as 2026-07-01T12:00:00.000Z, or day such as 2026-07-01', (value) => Time.is(value) || (/^\d{4}-\d\d-\d\d$/.test(value) && Time.is(`${value}T00:00:00Z`)))
const BucketText = text('month, week, day, hour, total, or number of minutes that divides a day and is a multiple of 15', (value) => bucketSizeOf(value) !== undefined)

/** `from` is included and `to` is not. A day means its beginning in the `zone`. */
export const ReportQuery = t.partial(
  {
    from: TimeOrDay,
    to: TimeOrDay,
    bucket: BucketText,
    zone: described(new t.StringType(), { type: 'string', description: 'A time zone of the IANA list, such as Europe/Berlin. Default: UTC.' }),
    by: t.keyof({ all: null, type: null, phase: null, tenant: null, agent: null, discovery: null }),
    top: whole(1, topMax),
    format: t.keyof({ json: null, csv: null, svg: null }),
    atLeast: whole(0, revisionMax),
  },
  'query',
)
export type ReportQuery = t.TypeOf<typeof ReportQuery>

/** Without `q` and `ticketId`: the newest memories. */
export const MemoriesQuery = t.partial({ q: Text, ticketId: Name, limit: whole(1, 100) }, 'query')
export type MemoriesQuery = t.TypeOf<typeof MemoriesQuery>

const Cursor = text('cursor from the previous page', isCursor)
export const pageQuery = (pageMax: number) => ({
  limit: whole(1, pageMax),
  cursor: Cursor,
})

const commaList = (codec: t.Mixed, what: string) => text(`list of ${what}, separated by commas; may be empty`, (value) => namesOf(value).every((each) => codec.is(each)))
const namesOf = (value: string): ReadonlyArray<string> => (value === '' ? [] : value.split(','))

/** The claim for which a task is explained. */
export const ExplainQuery = t.partial(
  { agentId: AgentId, types: commaList(TypePattern, 'types or patterns'), phases: commaList(Phase, 'phases'), skills: commaList(Name, 'skills'), tenant: Name, ...moment },
  'query',
)
export type ExplainQuery = t.TypeOf<typeof ExplainQuery>

/** The asker; `undefined` if the query does not describe one. */
export const askerOf = ({ agentId, types, phases, skills, tenant }: ExplainQuery): Asker | undefined => {
  if ([agentId, types, phases, skills, tenant].every((each) => each === undefined)) return undefined
  return defined({ agent: agentId, types: ifDefined(types, namesOf), phases: ifDefined(phases, namesOf) as ReadonlyArray<Phase> | undefined, skills: ifDefined(skills, namesOf), tenant })
}

/** The filter of lists and of bulk commands. */
const filter = {
  status: Statuses,
  type: TypePattern,
  phase: Phase,
  priority: Priority,
  ticketId: Name,
  tenant: Name,
  batchId: BatchId,
  agent: Name,
  q: Name,
  /** Enqueued at or after `createdAfter`, and before `createdBefore`. */
  createdAfter: Time,
  createdBefore: Time,
  /** Blocked by this task, perhaps among others. */
  waitsFor: TaskId,
}

export const tasksQuery = (pageMax: number) => t.partial({ ...filter, ...pageQuery(pageMax), ...moment }, 'query')
export type TasksQuery = t.TypeOf<ReturnType<typeof tasksQuery>>

/** The same filter in a body. There, statuses may be a list and a priority a number. Only statuses that can be cancelled are accepted. */
const CancellableStatuses = text(`list of ${cancellable.join(', ')}, separated by commas`, (value) => value.split(',').every(isCancellable))
const StatusList = described(
  t.refinement(
    listOf(t.keyof(Object.fromEntries(cancellable.map((status) => [status, null])) as Record<string, null>, 'status')),
    (list) => list.length > 0,
    'list of at least one status that can be cancelled',
  ),
  { type: 'array', items: { type: 'string', enum: cancellable }, minItems: 1 },
)
const CancelFilter = t.exact(
  t.partial({
    ...filter,
    status: t.union([StatusList, CancellableStatuses]),
    priority: t.union([Priority, integer(1, 10)]),
  }),
  'Filter of tasks to cancel',
)
export const CancelAllBody = t.intersection(
  [t.type({ filter: CancelFilter, reason: Text }), t.partial({ dryRun: t.boolean, cursor: Cursor })],
  'Cancellation of many',
)
export type CancelAllBody = t.TypeOf<typeof CancelAllBody>

/** Converts the filter of a body to that of a query. */
export const cancelFilterOf = ({ filter: { status, priority, ...rest } }: CancelAllBody): TaskFilter =>
  filterOf({ ...rest, ...defined({ status: status?.toString(), priority: priority?.toString() }) })

export const filterOf = (query: Omit<TasksQuery, 'limit' | 'cursor' | keyof Moment>): TaskFilter => {
  const { status, type, phase, priority, ticketId, tenant, batchId, agent, q, createdAfter, createdBefore, waitsFor } = query
  const [priorityMin, priorityMax] = ifDefined(priority, priorityRange) ?? []
  return defined({
    statuses: status?.split(',') as ReadonlyArray<Status> | undefined,
    type, phase, priorityMin, priorityMax, ticketId, tenant, batchId, agent,
    text: q,
    createdAfter: ifDefined(createdAfter, millisecondsOf),
    createdBefore: ifDefined(createdBefore, millisecondsOf),
    waitsFor,
  })
}

export const batchesQuery = (pageMax: number) => t.partial({ state: t.keyof({ open: null, closed: null, finished: null }), tenant: Name, limit: whole(1, pageMax), cursor: whole(0, revisionMax), ...moment }, 'query')
export type BatchesQuery = t.TypeOf<ReturnType<typeof batchesQuery>>

/** `true` or `false`. */
const Flag = t.keyof({ true: null, false: null }, 'true or false')

/** `signature`: empty for dead letters that have none, as in the answer of `dead-letters/patterns`. */
export const deadLettersQuery = (pageMax: number) =>
  t.partial({ type: TypePattern, tenant: Name, signature: Text, error: Name, escalated: Flag, snoozed: Flag, ...pageQuery(pageMax), ...moment }, 'query')
export type DeadLettersQuery = t.TypeOf<ReturnType<typeof deadLettersQuery>>

/** `cursor`: `nextCursor` of the previous page. Between pages, patterns may change places, unless both are of one moment. */
export const patternsQuery = (pageMax: number) =>
  t.partial({ type: TypePattern, tenant: Name, signature: Text, error: Name, limit: whole(1, pageMax), cursor: whole(0, revisionMax), ...moment }, 'query')
export type PatternsQuery = t.TypeOf<ReturnType<typeof patternsQuery>>

export const eventsQuery = (pageMax: number) =>
  t.partial(
    {
      from: AnyMoment,
      limit: whole(1, Number.MAX_SAFE_INTEGER),
      type: Name,
      task: Name,
      actor: Name,
      correlationId: Name,
      ...moment,
    },
    `query; a page of JSON holds at most ${pageMax} events, a stream of lines any number`,
  )
export type EventsQuery = t.TypeOf<ReturnType<typeof eventsQuery>>

export const reasonQuery = t.partial({ reason: Text }, 'query')
export type ReasonQuery = t.TypeOf<typeof reasonQuery>
