/** The options of a new task, shared by `enqueue` and `schedules set`. */
import type { JsonObject } from '@daybook/core'
import type { NewTask } from '../client/index.js'
import { defined, ifDefined } from '../defined.js'
import { UsageError } from './exit-codes.js'
import type { Io } from './io.js'
import { readJson, readJsonOrText } from './values.js'

export interface TaskOptions {
  readonly type?: string
  readonly priority?: NewTask['priority']
  readonly payload?: string
  readonly description?: string
  readonly timeout?: number
  readonly maxRetries?: number
  readonly backoff?: number
  readonly ticket?: string
  readonly phase?: string
  readonly tenant?: string
  readonly skills?: ReadonlyArray<string>
  readonly metadata?: string
}

/** The fields that they give, without the type. */
export const taskFields = async ({ priority, description, timeout, maxRetries, tenant, ...options }: TaskOptions, io: Io) =>
  defined({
    priority, description, timeout, maxRetries,
    backoffSeconds: options.backoff,
    ticketId: options.ticket,
    phase: options.phase?.toUpperCase() as NewTask['phase'],
    tenant,
    requires: ifDefined(options.skills, (skills) => ({ skills })),
    payload: await ifDefined(options.payload, (text) => readJsonOrText(text, io)),
    metadata: await ifDefined(options.metadata, async (text) => (await readJson(text, '--metadata', io)) as JsonObject),
  })

/** A task that is given as a whole, as JSON. The server checks the rest of it. `option` names it. */
export const readWholeTask = async <A extends { readonly type: string }>(given: string, option: string, io: Io): Promise<A> => {
  const whole: unknown = await readJson(given, option, io)
  if (typeof whole === 'object' && whole !== null && 'type' in whole && typeof whole.type === 'string') return whole as A
  throw new UsageError(`${option} must be a JSON object with a type`)
}
