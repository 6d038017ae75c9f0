/**
 * The fields that a producer may give a task, besides its type, id, key and priority. Each is declared once, in {@link taskFields}. Commands, events,
 * state, views, the HTTP API, the client's types and the import follow from this table.
 */
import * as t from 'io-ts'
import { listOf } from './list.js'
import { Json, JsonObject, RecordedJson, RecordedObject } from '../text/json.js'
import { Concurrency } from './limit.js'
import { BatchId, ConcurrencyKey, Count, Instant, integer, Name, PositiveSeconds, Priority, RecordedText, Seconds, TaskId, TaskType, Text } from './scalars.js'
import { TraceParent } from './trace-parent.js'
import { Deduplicate, Dependencies, Phase, PriorityName, retriesMax } from './task.js'

interface Field {
  readonly codec: t.Mixed
  /**
   * Where the field is kept.
   * - `record`: a member of the task's record.
   * - `group`: in the group of tasks that the same claims may take.
   * - `extras`: in the record's `extras`, which most tasks do not have.
   * - `log`: not in the state, only in the content of the event.
   * - `command`: nowhere; only the decision uses it.
   */
  readonly kept: 'record' | 'group' | 'extras' | 'log' | 'command'
  /** The default is the setting of the same name, so every event has the field. Without `default`, the field may be missing everywhere. */
  readonly default?: 'settings'
  /** The field is a list. An empty list is the same as none, and is not recorded. */
  readonly isList?: true
  /** The field is a time: milliseconds since 1970 inside, ISO 8601 in the HTTP API. */
  readonly isTime?: true
  /** Only the queue sets the field: requests cannot have it. */
  readonly givenBy?: 'queue'
  /** An import may give the field, too. */
  readonly isImported?: true
  /** Views, claims, HTTP answers, handlers and queue files show the field as it was given. Other fields are shown in ways of their own, or not at all. */
  readonly isShown?: true
}

/** The order here is the order of the optional fields in events. */
export const taskFields = {
  payload: { codec: Json, kept: 'log' },
  description: { codec: Text, kept: 'log' },
  metadata: { codec: JsonObject, kept: 'log' },
  /** Overrides the queue's setting. */
  deduplicate: { codec: Deduplicate, kept: 'command' },
  /** Seconds a lease lasts without a heartbeat. */
  timeout: { codec: PositiveSeconds, kept: 'record', default: 'settings' },
  /** How long one attempt may take from its claim, in seconds, whatever its heartbeats. */
  maxRunSeconds: { codec: PositiveSeconds, kept: 'extras', isShown: true },
  /** After this many failures, the first included, the task is a dead letter; see `attempts.ts`. */
  maxRetries: { codec: integer(0, retriesMax), kept: 'record', default: 'settings' },
  /** Seconds before the first retry. The wait doubles with each retry. */
  backoffSeconds: { codec: Seconds, kept: 'record', default: 'settings' },
  /** Ids of the tasks that must be completed first. */
  dependencies: { codec: Dependencies, kept: 'record', isList: true },
  /** Shown only while the task is scheduled; then also for the delay of a retry. */
  availableAt: { codec: Instant, kept: 'extras', isTime: true },
  /** By when the task should be done. Its score rises before that. */
  deadlineAt: { codec: Instant, kept: 'extras', isTime: true, isShown: true },
  /** The ticket that the task belongs to. */
  ticketId: { codec: Name, kept: 'extras', isShown: true },
  phase: { codec: Phase, kept: 'group', isShown: true },
  /** The tenant on whose account the task runs. */
  tenant: { codec: Name, kept: 'group', isShown: true },
  /** Tasks with the same key share limits on how many run at once and how often they start. */
  concurrencyKey: { codec: ConcurrencyKey, kept: 'group', isShown: true },
  /** Sets the limit on live leases of the task's concurrency key. */
  concurrencyLimit: { codec: Concurrency, kept: 'command' },
  /** Tasks with the same key run one after the other, in the order in which they were enqueued. */
  orderingKey: { codec: Name, kept: 'extras', isShown: true },
  /** Given and shown as `requires: { skills }`. */
  skills: { codec: listOf(Name), kept: 'group', isList: true },
  /** Id of the task that this one is a part of. That task need not be in the queue. */
  parentTaskId: { codec: TaskId, kept: 'extras', isShown: true },
  /** The kind of the parent's discovery that the task is about (TQM-BR-001); `validation_failed` for fixes and re-checks. */
  discovery: { codec: Name, kept: 'extras', isShown: true },
  /** The batch of the task. Tasks that it spawns belong to the same batch. */
  batchId: { codec: BatchId, kept: 'extras', isShown: true },
  /** The span of the trace in which the task was enqueued (W3C Trace Context). A spawned task has that of its parent, a restarted task that of the old one. */
  traceparent: { codec: TraceParent, kept: 'extras', isShown: true },
  /** Only of a spawned task. `rootTaskId`: the first task of its chain. `generation`: its distance from that task, 1 for its children. */
  rootTaskId: { codec: TaskId, kept: 'extras', givenBy: 'queue', isImported: true, isShown: true },
  generation: { codec: Count, kept: 'extras', givenBy: 'queue', isImported: true, isShown: true },
  /** Only of a restarted task: the old task whose content it has, and why it was restarted. */
  restartOf: { codec: TaskId, kept: 'extras', givenBy: 'queue', isShown: true },
  restartReason: { codec: Text, kept: 'extras', givenBy: 'queue', isShown: true },
  /** The batch that was finished, so that this task was enqueued. */
  callbackOf: { codec: BatchId, kept: 'extras', givenBy: 'queue', isShown: true },
} as const satisfies Readonly<Record<string, Field>>

type Table = typeof taskFields
type FieldName = keyof Table
/** The names of the fields that have all of these properties. */
type NameWith<P> = { [K in FieldName]: Table[K] extends P ? K : never }[FieldName]

export type FieldValue<K extends FieldName> = t.TypeOf<Table[K]['codec']>
/** Values of fields, each of which may be missing. (`keyof Pick` keeps the table's comments for editors.) */
type Some<K extends FieldName> = { readonly [N in keyof Pick<Table, K>]?: FieldValue<N> }

const names = Object.keys(taskFields) as ReadonlyArray<FieldName>

/** The names of the fields that have all of these properties, in the table's order. */
const fieldsWith = <const P extends Partial<Field>>(properties: P): ReadonlyArray<NameWith<P>> =>
  names.filter((name): name is NameWith<P> => {
    const field: Field = taskFields[name]
    return Object.entries(properties).every(([key, value]) => field[key as keyof Field] === value)
  })
const without = <A extends string, B extends A>(all: ReadonlyArray<A>, some: ReadonlyArray<B>): ReadonlyArray<Exclude<A, B>> =>
  all.filter((name): name is Exclude<A, B> => !(some as ReadonlyArray<A>).includes(name))

type Codecs<K extends FieldName> = { readonly [N in keyof Pick<Table, K>]: Table[N]['codec'] }
const codecsOf = <K extends FieldName>(some: ReadonlyArray<K>): Codecs<K> =>
  Object.fromEntries(some.map((name) => [name, taskFields[name].codec])) as Codecs<K>

export const timeFields = fieldsWith({ isTime: true })
export type TimeField = (typeof timeFields)[number]
const times: ReadonlySet<string> = new Set(timeFields)
export const isTimeField = (name: string): name is TimeField => times.has(name)

export const listFields = fieldsWith({ isList: true })

export const shownFields = fieldsWith({ isShown: true })
export type ShownField = (typeof shownFields)[number]
export type ShownFields = Some<ShownField>

export const shownInExtras = fieldsWith({ kept: 'extras', isShown: true })
export const shownInGroup = fieldsWith({ kept: 'group', isShown: true })

/** The fields of a record's `extras`, in the order of snapshots. */
export const extraFields = [...shownInExtras, ...without(fieldsWith({ kept: 'extras' }), shownInExtras)]
export type ExtraFields = Some<(typeof extraFields)[number]>

const queueFields = fieldsWith({ givenBy: 'queue' })
/** The fields of requests. */
export const givenFields = without(names, queueFields)

/** The fields of a prepared task. Fields of the content are part of its content text. */
export const preparedFields = without(givenFields, fieldsWith({ kept: 'log' }))
export type PreparedField = (typeof preparedFields)[number]

const everyFact = fieldsWith({ default: 'settings' })
/** The fields that an event of an enqueued task may have. */
export const optionalFacts = without(without(preparedFields, fieldsWith({ kept: 'command' })), everyFact)

export const skillsMax = 256
/** The skills that a new task may require. The state has them as long as the task is known, so their number is limited. Recorded tasks may have more. */
const Skills = t.refinement(taskFields.skills.codec, (names) => names.length <= skillsMax, `at most ${skillsMax} skills`)

const { skills, ...given } = codecsOf(givenFields)
const ofEachTask = { id: TaskId, idempotencyKey: Name, requires: t.exact(t.partial({ skills: Skills })), priority: t.union([Priority, PriorityName]) }
const optional: Codecs<Exclude<(typeof givenFields)[number], 'skills'>> & typeof ofEachTask = { ...given, ...ofEachTask }

/** A task as it is enqueued: only `type` is required. Times are in milliseconds here, and ISO 8601 over HTTP. */
export const NewTask = t.intersection(
  [t.type({ type: TaskType }), t.partial(optional)],
  'new task',
)
export type NewTask = t.TypeOf<typeof NewTask>

export const preparedCodecs = { ...codecsOf(preparedFields), skills: Skills }

/** The fields that only the queue sets for new tasks, and that an import keeps. */
export const importedFields = fieldsWith({ isImported: true })
export type ImportedField = (typeof importedFields)[number]
export const importedCodecs = codecsOf(importedFields)

/**
 * Fields that a schedule's task cannot have. All runs would share them: points in time, other tasks, a batch, one trace, a limit that each run would set
 * again. A rule for duplicates would have no effect. The callback of a batch cannot have them either.
 */
const unscheduled = ['traceparent', 'batchId', 'deduplicate', 'concurrencyLimit', 'dependencies', 'availableAt', 'deadlineAt'] as const
const inSchedule = without(without(givenFields, unscheduled), ['skills'])
/** The fields of a schedule's task that a prepared task has under the same name. */
export const preparedInSchedule = without(inSchedule, fieldsWith({ kept: 'log' }))

/** The task that a schedule enqueues at each run: a new task without id, key, dependencies and times. */
export const ScheduledTask = t.intersection(
  [t.type({ type: TaskType }), t.partial({ ...codecsOf(inSchedule), priority: optional.priority, requires: optional.requires })],
  'scheduled task',
)
export type ScheduledTask = t.TypeOf<typeof ScheduledTask>
/** A schedule's task as it may have been recorded by earlier versions, under weaker rules. */
export const RecordedScheduledTask: t.Type<ScheduledTask, unknown> = t.intersection(
  [
    t.type({ type: TaskType }),
    t.partial({ ...codecsOf(inSchedule), payload: RecordedJson, description: RecordedText, metadata: RecordedObject, priority: optional.priority, requires: t.exact(t.partial({ skills })) }),
  ],
  'recorded scheduled task',
)

/** A task without its content. It is part of every `TaskEnqueued`. */
export const TaskFacts = t.intersection(
  [
    t.type({
      task: TaskId,
      /** 1, 2, 3 … per queue; `#42` can be used wherever an id can (GB-01). */
      number: integer(1, Number.MAX_SAFE_INTEGER),
      type: TaskType,
      priority: Priority,
      idempotencyKey: Name,
      ...codecsOf(everyFact),
      // Earlier versions recorded more than is accepted today.
      maxRetries: Count,
    }),
    t.partial({ ...codecsOf(optionalFacts), ...codecsOf(queueFields) }),
  ],
  'task facts',
)
export type TaskFacts = t.TypeOf<typeof TaskFacts>
/** The members that every event about a new task has. */
export const requiredFacts: ReadonlyArray<string> = Object.keys(TaskFacts.types[0].props)

const { availableAt: _, dependencies, ...plannable } = { ...codecsOf(optionalFacts), ...codecsOf(queueFields) }
/** A task that is spawned, or will be if a guardian approves: all of its fields except its number. */
export const PlannedTask = t.intersection(
  [t.type({ task: TaskId, type: TaskType, priority: Priority, ...codecsOf(everyFact), maxRetries: Count }), t.partial({ ...plannable, dependencies })],
  'planned task',
)
export type PlannedTask = t.TypeOf<typeof PlannedTask>
