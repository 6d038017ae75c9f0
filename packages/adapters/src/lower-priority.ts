import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'

/** A tenth of the share of a thread with the usual 0, while both want to run. More would let other programs of the machine starve it. */
const niceness = 10

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
