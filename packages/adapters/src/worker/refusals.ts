/** Which refusals are about the moment, and which about the request. */

/** The same may be accepted later. */
export const mayRetryLater = (code: string): boolean =>
  code === 'overloaded' || code === 'unavailable' || code === 'unreachable' || code === 'timeout' || code === 'internal'

/** Whoever asks like this will never be given anything. */
export const isFatal = (code: string | undefined): boolean =>
  code === 'invalid' || code === 'unauthorized' || code === 'forbidden' || code === 'closed'

/** The task is no longer this worker's, whatever it says. */
export const isLost = (code: string): boolean => code === 'lease-lost' || code === 'wrong-state' || code === 'not-found'

export const codeOf = (error: unknown): string | undefined => {
  const code: unknown = typeof error === 'object' && error !== null ? (error as { code?: unknown }).code : undefined
  return typeof code === 'string' ? code : undefined
}
