/**
 * Time that goes on only when there is nothing else to do: then it jumps to the next timer. What a test finds does
 * not depend on how fast the machine is, and a wait of a minute takes none. Only for code whose I/O is files at
 * most: nothing here waits for a socket or another process.
 */
import { afterEach, beforeEach, vi } from 'vitest'

/** So many turns of the event loop in a row that had nothing to do. */
const idleTurns = 3

const isBusy = (): boolean => process.getActiveResourcesInfo().some((resource) => resource === 'Immediate' || resource.startsWith('FSReq'))

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

let standing = 0

/** While this runs no timer fires, if time is virtual. */
export const whileTimeStands = async (body: () => Promise<void>): Promise<void> => {
  standing++
  try {
    await body()
  } finally {
    standing--
  }
}

/** Lets time go on until it is told to end. */
const passTime = (): (() => void) => {
  let isOver = false
  const run = async (): Promise<void> => {
    for (let turns = 0; !isOver; await turn()) {
      turns = standing > 0 || isBusy() ? 0 : turns + 1
      if (turns < idleTurns) continue
      vi.advanceTimersToNextTimer()
      turns = 0
    }
  }
  void run()
  return () => {
    isOver = true
  }
}

/** Each test of the file that calls this runs in virtual time, as do the hooks registered after it. */
export const useVirtualTime = (): void => {
  let end = (): void => undefined
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance', 'hrtime'] })
    end = passTime()
  })
  afterEach(() => {
    end()
    vi.useRealTimers()
  })
}
