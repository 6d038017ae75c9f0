/** Handlers of declared types: they get payloads that are decoded, and return results that are checked. */
import type { Result } from '@daybook/core'
import { wordsOf } from '../handles/codec.js'
import type { Finished } from '../handles/handle.js'
import { after } from '../handles/is-promise.js'
import type { AnyTaskType, OutputOf, ReceivedPayload } from '../handles/task-type.js'
import { type Handler, type HandlerContext, PermanentError } from './handler.js'
import type { WorkTask } from './source.js'

/** A handler that knows its type. */
export type TypedHandler = Handler & { readonly taskType: string }

/** What a handler of the type returns: its output, with whatever else a result has, or `success: false`. */
export type HandlerResult<T> = (undefined extends OutputOf<T> ? Result | void : Finished<OutputOf<T>>) | (Omit<Result, 'output'> & { readonly success: false })

type Work<T> = (task: WorkTask<ReceivedPayload<T>>, context: HandlerContext) => Promise<HandlerResult<T>> | HandlerResult<T>

/** The payload is not one of its type. No retry can help, so the task is a dead letter at once. */
export class InvalidPayload extends PermanentError {
  override readonly name = 'InvalidPayload'
  readonly code = 'invalid-payload'
}

/** The handler returned an output that is not one of its type. The attempt has failed, as with any other error. */
export class InvalidResult extends Error {
  override readonly name = 'InvalidResult'
  readonly code = 'invalid-result'
}

/**
 * @example
 * createWorker({ source, handlers: [handlerOf(invoice, async ({ payload }) => ({ output: { total: await totalOf(payload.customer) } }))] })
 */
export const handlerOf = <T extends AnyTaskType>(type: T, work: Work<T>): TypedHandler => {
  const check = (result: Result | void): Result | void | Promise<Result | void> => {
    if (result?.success === false) return result
    return after(type.result.encode(result?.output as never), (checked): Result | void => {
      if (!checked.ok) throw new InvalidResult(`the result is not one of ${type.name}: ${wordsOf(checked.errors)}`)
      return checked.value === undefined ? result : { ...result, output: checked.value }
    })
  }
  const handler: Handler = (task, context) =>
    after(type.payload.decode(task.payload), (payload) => {
      if (!payload.ok) throw new InvalidPayload(`the payload is not one of ${type.name}: ${wordsOf(payload.errors)}`)
      return after((work as Handler<unknown>)({ ...membersOf(task), payload: payload.value }, context), check)
    })
  return Object.assign(handler, { taskType: type.name })
}

/** The task as a plain object. A task from an engine in the same process has getters, which a spread would lose, and prints itself as a plain one. */
const membersOf = (task: WorkTask & { readonly toJSON?: () => WorkTask }): WorkTask => task.toJSON?.() ?? task

/** One handler for all of them. @throws TypeError for two handlers of one type. */
export const dispatcher = (handlers: ReadonlyArray<TypedHandler>): { readonly types: ReadonlyArray<string>; readonly handler: Handler } => {
  const byType = new Map<string, TypedHandler>()
  for (const handler of handlers) {
    if (byType.has(handler.taskType)) throw new TypeError(`there are two handlers for ${handler.taskType}`)
    byType.set(handler.taskType, handler)
  }
  return { types: [...byType.keys()], handler: (task, context) => (byType.get(task.type) as TypedHandler)(task, context) }
}
