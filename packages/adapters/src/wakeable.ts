import { longTimer } from '@daybook/client/common'

/** A wait that can be ended by `wake`. A call to `wake` while nobody waits ends the next wait at once. */
export interface Wakeable {
  readonly wait: (msMax: number) => Promise<void>
  readonly wake: () => void
}

export const wakeable = (): Wakeable => {
  let isWoken = false
  let end: () => void = () => undefined
  return {
    wait: (msMax) =>
      new Promise((resolve) => {
        if (isWoken) {
          isWoken = false
          return resolve()
        }
        const stopWaiting = longTimer(msMax, () => end())
        end = () => {
          stopWaiting()
          end = () => void (isWoken = true)
          isWoken = false
          resolve()
        }
      }),
    wake: () => {
      isWoken = true
      end()
    },
  }
}
