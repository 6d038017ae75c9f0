/**
 * Virtual time: when nothing else is left to do, time jumps to the next timer. So a test's result does not depend on the speed of the machine, and
 * waiting for a minute takes no time. Only for code without sockets and other processes, because it does not wait for them.
 */
import { afterEach, beforeEach, vi } from 'vitest'

/** Idle turns of the event loop in a row before the time jumps. */
const idleTurns = 3

const isBusy = (): boolean => process.getActiveResourcesInfo().some((resource) => resource === 'Immediate' || resource.startsWith('FSReq'))

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

let standing = 0

/** Runs `body`, during which virtual time stands still. */
export const whileTimeStands = async (body: () => Promise<void>): Promise<void> => {
  standing++
  try {
    await body()
  } finally {
    standing--
  }
}

/** Lets virtual time pass until the returned function is called. */
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

/** Makes the tests of the calling file run in virtual time, and also the hooks registered after this call. */
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
