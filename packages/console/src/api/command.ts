/** Commands to a queue, and what is known of them afterwards. */
import { pathOf, type Query } from '../address/url.js'
import { type Answer, type Method, request } from './request.js'

/** `METHOD /api/queues/{queue}/{segments…}`. The answer's revision is that of the last event that it became. */
export const command = <A>(method: Method, queue: string, segments: ReadonlyArray<string>, body?: unknown, query: Partial<Query> = {}): Promise<Answer<A>> =>
  request<A>(method, pathOf(['api', 'queues', queue, ...segments]), { ...(body === undefined ? {} : { body }), query })

/** For `Done`: only what is there. */
export const revisionOf = ({ revision }: Answer<unknown>): { readonly revision?: number } => (revision === undefined ? {} : { revision })
