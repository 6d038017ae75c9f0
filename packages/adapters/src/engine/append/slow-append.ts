/** Reports an append that the store does not answer, as when a disk hangs or a cluster has no leader. Commands wait for it without limit, so somebody must be told. */
import type { Availability } from './availability.js'

/** An append that is not answered after this time is reported, in milliseconds. */
export const slowAppendMs = 10_000

export interface Reports {
  readonly availability: Availability
  readonly warn: (message: string) => void
}

/** Resolves as the append does. Until then, and from `slowAppendMs` on, the queue counts as unavailable. */
export const reportIfSlow = async <A>(append: Promise<A>, { availability, warn }: Reports): Promise<A> => {
  const begunAt = performance.now()
  let isReported = false
  const timer = setTimeout(() => {
    isReported = true
    const reason = `the store has not answered an append for ${slowAppendMs / 1_000} s, and commands wait for it: look at its disk, or at its cluster`
    availability.doubted(reason)
    warn(reason)
  }, slowAppendMs)
  timer.unref()
  try {
    return await append
  } finally {
    clearTimeout(timer)
    if (isReported) {
      availability.restored()
      warn(`the store has answered an append after ${Math.round((performance.now() - begunAt) / 1_000)} s`)
    }
  }
}
