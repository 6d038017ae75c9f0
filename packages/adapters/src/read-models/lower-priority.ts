import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'

/** 19 is the lowest: a thread that gets what the others leave. */
const niceness = 15

/**
 * Lowers the priority of the calling thread, so that on a busy machine those who decide and write come first. Linux alone has priorities of
 * threads; elsewhere, and where it is not allowed, nothing happens. Returns whether it was done.
 */
export const lowerPriority = (): boolean => {
  try {
    const id = /^\d+\/task\/(\d+)$/.exec(readlinkSync('/proc/thread-self'))?.[1]
    if (id === undefined) return false
    setPriority(Number(id), niceness)
    return true
  } catch {
    return false
  }
}
