/**
 * The fields that a producer may give a task, besides its type, id, key and priority: each is declared once, in
 * {@link taskFields}. Commands, events, state, views, the HTTP API, the client's types and the import follow from this table.
 */
import * as t from 'io-ts'
import { Json, JsonObject, RecordedJson, RecordedObject } from './json.js'
import { Concurrency } from './limits/limit.js'
import { ConcurrencyKey, Count, Instant, integer, Name, PositiveSeconds, Priority, RecordedText, Seconds, TaskId, TaskType, Text } from './scalars.js'
import { TraceParent } from './trace-parent.js'
import { Deduplicate, Dependencies, Phase, PriorityName, retriesMax } from './task.js'

interface Field {
  readonly codec: t.Mixed
  /**
   * Where it is kept.
   * - `record`: as a member of the task's record.
   * - `group`: in the group of tasks that the same claims may take.
   * - `extras`: in the record's `extras`, which most tasks do not have.
   * - `log`: not in the state, only in the content of the event.
   * - `command`: nowhere, it matters only to the decision.
   */
  readonly kept: 'record' | 'group' | 'extras' | 'log' | 'command'
  /** Its default is the setting of the same name, so every event has it. Without this, the field may be missing everywhere. */
  readonly default?: 'settings'
  /** A list. An empty one is the same as none, and is not recorded. */
  readonly isList?: true
  /** Milliseconds since 1970 inside, ISO 8601 in the HTTP API. */
  readonly isTime?: true
  /** Only the queue gives it: it is no field of requests. */
  readonly givenBy?: 'queue'
  /** An import gives it, too. */
  readonly isImported?: true
  /** Views, claims, HTTP answers, handlers and queue files show it as it was given. Other fields are shown in ways of their own, or not. */
  readonly isShown?: true
}

/** Events have their optional fields in this order. */
export const taskFields = {
  payload: { codec: Json, kept: 'log' },
  description: { codec: Text, kept: 'log' },
  metadata: { codec: JsonObject, kept: 'log' },
  /** Overrides the queue's setting. */
  deduplicate: { codec: Deduplicate, kept: 'command' },
  /** Seconds a lease lasts without a heartbeat. */
  timeout: { codec: PositiveSeconds, kept: 'record', default: 'settings' },
  /** How long one attempt may take, from its claim, whatever heartbeats say. */
  maxRunSeconds: { codec: PositiveSeconds, kept: 'extras', isShown: true },
  /** Number of failures after which it is a dead letter, including the first; see `attempts.ts`. */
  maxRetries: { codec: integer(0, retriesMax), kept: 'record', default: 'settings' },
  /** Seconds before the first retry; doubles with each. */
  backoffSeconds: { codec: Seconds, kept: 'record', default: 'settings' },
  /** Ids of the tasks that must be completed first. */
  dependencies: { codec: Dependencies, kept: 'record', isList: true },
  /** Shown only while the task is scheduled, and then also for the delay of a retry. */
  availableAt: { codec: Instant, kept: 'extras', isTime: true },
  /** By when it should be done: its score rises before that. */
  deadlineAt: { codec: Instant, kept: 'extras', isTime: true, isShown: true },
  /** The ticket that it belongs to. */
  ticketId: { codec: Name, kept: 'extras', isShown: true },
  phase: { codec: Phase, kept: 'group', isShown: true },
  /** On whose account it is. */
  tenant: { codec: Name, kept: 'group', isShown: true },
  /** Tasks with the same key share a limit of how many of them run at once, and how often they start. */
  concurrencyKey: { codec: ConcurrencyKey, kept: 'group', isShown: true },
  /** Sets the limit of live leases of its concurrency key. */
  concurrencyLimit: { codec: Concurrency, kept: 'command' },
  /** Tasks with the same key run one after the other, in the order in which they were enqueued. */
  orderingKey: { codec: Name, kept: 'extras', isShown: true },
  /** Given and shown as `requires: { skills }`. */
  skills: { codec: t.readonlyArray(Name), kept: 'group', isList: true },
  /** Id of the task that it is a part of, which need not be in the queue. */
  parentTaskId: { codec: TaskId, kept: 'extras', isShown: true },
  /** What kind of discovery of the parent it is about (TQM-BR-001); `validation_failed` for fixes and re-checks. */
  discovery: { codec: Name, kept: 'extras', isShown: true },
  /** The span of the trace that it was enqueued in (W3C Trace Context). Spawned tasks have that of their parents, restarted ones that of the old task. */
  traceparent: { codec: TraceParent, kept: 'extras', isShown: true },
  /** Of a spawned task: the first task of its chain, whose completion began it, and its place in the chain: 1 for children of that task. */
  rootTaskId: { codec: TaskId, kept: 'extras', givenBy: 'queue', isImported: true, isShown: true },
  generation: { codec: Count, kept: 'extras', givenBy: 'queue', isImported: true, isShown: true },
  /** Of a task that was restarted: the finished task whose content it has, and why. */
  restartOf: { codec: TaskId, kept: 'extras', givenBy: 'queue', isShown: true },
  restartReason: { codec: Text, kept: 'extras', givenBy: 'queue', isShown: true },
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

/** The fields of a prepared task: its content is a text by then. */
export const preparedFields = without(givenFields, fieldsWith({ kept: 'log' }))
export type PreparedField = (typeof preparedFields)[number]

const everyFact = fieldsWith({ default: 'settings' })
/** The fields that an event of an enqueued task may have. */
export const optionalFacts = without(without(preparedFields, fieldsWith({ kept: 'command' })), everyFact)

const { skills, ...given } = codecsOf(givenFields)
const ofEachTask = { id: TaskId, idempotencyKey: Name, requires: t.exact(t.partial({ skills })), priority: t.union([Priority, PriorityName]) }
const optional: Codecs<Exclude<(typeof givenFields)[number], 'skills'>> & typeof ofEachTask = { ...given, ...ofEachTask }

/** A task as it is enqueued: only `type` is needed. Times are milliseconds here, ISO 8601 over HTTP. */
export const NewTask = t.intersection(
  [t.type({ type: TaskType }), t.partial(optional)],
  'new task',
)
export type NewTask = t.TypeOf<typeof NewTask>
export const newTaskKeys: ReadonlySet<string> = new Set(NewTask.types.flatMap(({ props }) => Object.keys(props)))

export const preparedCodecs = codecsOf(preparedFields)

/** What the queue alone gives to new tasks, and an import keeps. */
export const importedFields = fieldsWith({ isImported: true })
export type ImportedField = (typeof importedFields)[number]
export const importedCodecs = codecsOf(importedFields)

/** What a schedule cannot give to each of its tasks: points in time, other tasks, a limit that each run would set again, a rule for duplicates, of which there are none, and one trace for all runs. */
const unscheduled = ['traceparent', 'deduplicate', 'concurrencyLimit', 'dependencies', 'availableAt', 'deadlineAt'] as const
const inSchedule = without(without(names, unscheduled), ['skills'])
/** The fields of a schedule's task that a prepared task has under the same name. */
export const preparedInSchedule = without(inSchedule, fieldsWith({ kept: 'log' }))

/** The task that a schedule enqueues at each run: a new task without id, key, dependencies and times. */
export const ScheduledTask = t.intersection(
  [t.type({ type: TaskType }), t.partial({ ...codecsOf(inSchedule), priority: optional.priority, requires: optional.requires })],
  'scheduled task',
)
export type ScheduledTask = t.TypeOf<typeof ScheduledTask>
/** The same as it may have been recorded by earlier versions, under weaker rules. */
export const RecordedScheduledTask: t.Type<ScheduledTask, unknown> = t.intersection(
  [
    t.type({ type: TaskType }),
    t.partial({ ...codecsOf(inSchedule), payload: RecordedJson, description: RecordedText, metadata: RecordedObject, priority: optional.priority, requires: optional.requires }),
  ],
  'recorded scheduled task',
)

/** A task without its content. Part of every `TaskEnqueued`. */
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
/** A task that is spawned, or will be if a guardian approves: everything that is decided about it before it has a number. */
export const PlannedTask = t.intersection(
  [t.type({ task: TaskId, type: TaskType, priority: Priority, ...codecsOf(everyFact), maxRetries: Count }), t.partial({ ...plannable, dependencies })],
  'planned task',
)
export type PlannedTask = t.TypeOf<typeof PlannedTask>
