/** What a refusal means for the worker. */

/** The same request may be accepted later. `unexpected-answer`: it was not the queue that answered, but a proxy, for example. */
export const mayRetryLater = (code: string): boolean =>
  code === 'overloaded' || code === 'too-many-requests' || code === 'unavailable' || code === 'read-only' || code === 'clock' || code === 'outcome-unknown' || code === 'unreachable' || code === 'timeout' || code === 'internal' || code === 'unexpected-answer'

/** No claim like this one will ever be granted. */
export const isFatal = (code: string | undefined): boolean =>
  code === 'invalid' || code === 'unauthorized' || code === 'forbidden' || code === 'closed'

/** The worker no longer holds the task, whatever it reports. */
export const isLost = (code: string): boolean => code === 'lease-lost' || code === 'wrong-state' || code === 'not-found'

export const codeOf = (error: unknown): string | undefined => {
  const code: unknown = typeof error === 'object' && error !== null ? (error as { code?: unknown }).code : undefined
  return typeof code === 'string' ? code : undefined
}
