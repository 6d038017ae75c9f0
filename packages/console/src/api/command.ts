/** Commands to a queue, and their answers. */
import { pathOf, type Query } from '../address/url.js'
import { type Answer, type Method, request } from './request.js'

/** `METHOD /api/queues/{queue}/{segments…}`. The answer's revision is that of the last event that the command appended. */
export const command = <A>(method: Method, queue: string, segments: ReadonlyArray<string>, body?: unknown, query: Partial<Query> = {}): Promise<Answer<A>> =>
  request<A>(method, pathOf(['api', 'queues', queue, ...segments]), { ...(body === undefined ? {} : { body }), query })

/** For `Done`: only if the answer has a revision. */
export const revisionOf = ({ revision }: Answer<unknown>): { readonly revision?: number } => (revision === undefined ? {} : { revision })
