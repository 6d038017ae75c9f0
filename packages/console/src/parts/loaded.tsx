/** The answer to a request, or what is shown instead: placeholder lines that appear after a third of a second, or the reason of a failure. */
import type { ComponentChildren } from 'preact'
import type { Shown } from '../api/use-query.js'
import { ProblemNote } from './problem-note.js'

export interface LoadedProps<A> {
  readonly shown: Shown<A>
  readonly children: (value: A) => ComponentChildren
  /** Number of placeholder lines during the first request. Default 3. */
  readonly lines?: number
}

/** If a request fails after an answer, the answer stays, and the shell says that the connection is lost. */
export const Loaded = <A,>({ shown: { value, error, again }, children, lines = 3 }: LoadedProps<A>) => {
  if (value !== undefined) {
    return (
      <>
        {error !== undefined && error.code !== 'unreachable' && <ProblemNote problem={error} again={again} />}
        {children(value)}
      </>
    )
  }
  return error === undefined ? <Skeleton lines={lines} /> : <ProblemNote problem={error} again={again} />
}

export const Skeleton = ({ lines = 3 }: { readonly lines?: number }) => (
  <div class="skeleton" aria-busy="true" aria-label="loading">
    {Array.from({ length: lines }, (_, i) => <span key={i} />)}
  </div>
)
