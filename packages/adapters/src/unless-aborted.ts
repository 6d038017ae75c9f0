/** Rejects with the signal's reason as soon as it is aborted; `work` may go on then. */
export const unlessAborted = async <A>(work: Promise<A>, signal: AbortSignal | undefined): Promise<A> => {
  if (signal === undefined) return work
  let stop = (): void => undefined
  const aborted = new Promise<never>((_, reject) => (stop = () => reject(signal.reason as Error)))
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  return Promise.race([work, aborted]).finally(() => signal.removeEventListener('abort', stop))
}
