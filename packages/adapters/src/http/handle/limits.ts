/** Limits on how much runs at once and how often it starts. */
import { limitOf, limitsOf, type LimitView } from '@daybook/core'
import { ifDefined } from '../../defined.js'
import type { LimitBody } from '../routes/limit-routes.js'
import { problem } from '../problem.js'
import { find, type Handled, type QueueCall, replyFound, replyWith, type ViewCall } from '../routes/route.js'
import { isoOf } from '../../iso-time.js'

const shown = ({ shutUntil, ...limit }: LimitView): object => ({ ...limit, shutUntil: ifDefined(shutUntil, isoOf) })

export const list = async ({ queue }: ViewCall): Promise<Handled> =>
  replyWith(await queue.read(limitsOf), (found, revision) => JSON.stringify({ limits: found.map(shown), revision }))

export const show = async ({ queue, params }: ViewCall): Promise<Handled> => {
  const { key = '' } = params
  return replyFound(await find(queue, (state) => limitOf(state, key), () => problem('not-found', `queue ${queue.name} has no limit ${key}`)), (limit) => JSON.stringify(shown(limit)))
}

export const set = async ({ queue, params, body, caller }: QueueCall<LimitBody>): Promise<Handled> =>
  replyWith(await queue.submit({ type: 'SetLimit', key: params.key ?? '', ...body }, caller), (limit) => JSON.stringify(shown(limit)))

export const remove = async ({ queue, params, caller }: QueueCall): Promise<Handled> => {
  const { key = '' } = params
  return replyWith(await queue.submit({ type: 'RemoveLimit', key }, caller), () => JSON.stringify({ key, removed: true }))
}
