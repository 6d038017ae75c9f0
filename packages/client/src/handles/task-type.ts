/** Types of tasks, declared once, for the producers and the workers of a program: `taskType`. */
import type { Json } from '@daybook/core'
import { type Codec, codecOf, type ReceivedBy, type Schema, type SentBy, unchecked, wordsOf } from './codec.js'
import { DaybookError } from '../errors.js'
import { after } from './is-promise.js'
import type { NewTask } from '../methods/tasks.js'

/** What a task may have beside its type and payload. */
export type TaskFields = Omit<NewTask, 'type' | 'payload'>

/**
 * A type of tasks. `In`: what a producer gives as payload, `Out`: what a handler gets. `ResultIn`: what the handler returns as `output`, `ResultOut`: what whoever
 * waits for the result gets.
 */
export interface TaskType<In, Out, ResultIn, ResultOut> {
  readonly name: string
  readonly payload: Codec<In, Out>
  readonly result: Codec<ResultIn, ResultOut>
  /** A task of this type, for {@link DaybookClient.enqueueAll} among others. It is checked when it is enqueued. */
  readonly task: (payload: In, fields?: TaskFields) => TypedTask<ResultOut>
}

export type AnyTaskType = TaskType<never, unknown, never, unknown>

/** A task whose payload is checked before it is sent. */
export type TypedTask<R = unknown> = TaskFields & { readonly type: TaskType<never, unknown, never, R>; readonly payload: unknown }

/** What a producer gives as payload of the type. */
export type PayloadOf<T> = T extends TaskType<infer In, unknown, never, unknown> ? In : never
/** What a handler of the type gets. */
export type ReceivedPayload<T> = T extends TaskType<never, infer Out, never, unknown> ? Out : never
/** What a handler of the type returns as `output`. */
export type OutputOf<T> = T extends TaskType<never, unknown, infer In, unknown> ? In : never
/** The `output` for whoever waits for the result of a task: of this type, or that is typed so. */
export type ReceivedOutput<T> = T extends TaskType<never, unknown, never, infer R> ? R : T extends TypedTask<infer R> ? R : Json | undefined

type Unchecked = Json | undefined

/**
 * Declares a type of tasks. Whoever enqueues one is checked by the compiler, and once more before anything is sent; the worker decodes the payload before
 * its handler sees it. `payload` and `result` are io-ts codecs, or validators that implement Standard Schema, such as those of zod, valibot and arktype.
 * `result` is that of the `output` of results; default: any JSON.
 *
 * *Gotchas*: a validator has no way back from its output, so its *input* is what is sent. Defaults and transformations of the validator are applied in the worker.
 *
 * @example
 * const invoice = taskType('invoice', { payload: z.object({ customer: z.string() }), result: z.object({ total: z.number() }) })
 * const sent = await client.enqueue(invoice, { customer: 'ada' })
 * const { output } = await sent.result()
 */
export function taskType<P extends Schema>(name: string, options: { readonly payload: P }): TaskType<SentBy<P>, ReceivedBy<P>, Unchecked, Unchecked>
export function taskType<P extends Schema, R extends Schema>(name: string, options: { readonly payload: P; readonly result: R }): TaskType<SentBy<P>, ReceivedBy<P>, SentBy<R>, ReceivedBy<R>>
export function taskType(name: string, { payload, result }: { readonly payload: Schema; readonly result?: Schema }): AnyTaskType {
  const type: AnyTaskType = {
    name,
    payload: codecOf(payload, 'payload'),
    result: result === undefined ? unchecked : codecOf(result, 'output'),
    task: (given, fields) => ({ ...fields, type, payload: given }),
  }
  return type
}

export const isTaskType = (value: unknown): value is AnyTaskType =>
  typeof value === 'object' && value !== null && !('type' in value) && typeof (value as Partial<AnyTaskType>).task === 'function'

export const isTyped = (task: NewTask | TypedTask): task is TypedTask => typeof task === 'object' && task !== null && isTaskType(task.type)

/** The task as it is sent, or why it is not. */
export const sentTask = (task: NewTask | TypedTask): NewTask | DaybookError | Promise<NewTask | DaybookError> => {
  if (!isTyped(task)) return task
  const { type, payload, ...fields } = task
  // A task without a payload has `null`, for its worker.
  return after(type.payload.encode((payload ?? null) as never), (checked): NewTask | DaybookError =>
    checked.ok
      ? { ...fields, type: type.name, payload: checked.value ?? null }
      : new DaybookError('invalid', `this is no task of type ${type.name}: ${wordsOf(checked.errors)}`, { errors: checked.errors, unsent: true }),
  )
}
