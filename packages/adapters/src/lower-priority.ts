import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'

/**
 * With this value, a thread gets a tenth of the share of a thread with the usual 0, while both want to run. With more, other programs on the machine
 * would starve it.
 */
const niceness = 10

/**
 * Lowers the priority of the calling thread, so that on a busy machine the deciding and writing threads come first. Only Linux has priorities of
 * threads; elsewhere, or if it is not allowed, nothing happens. Returns whether it was done.
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
