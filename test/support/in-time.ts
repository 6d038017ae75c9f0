/**
 * A limit for each wait of a test, with an error that names what did not come. A time-out of the whole test does not name it, and does not count as a
 * kill when defects are planted (`test/mutants`).
 */

/** Reached only if something is broken: it is far longer than the slowest machine takes. */
export const patienceMs = 30_000

const waits = new Set<NodeJS.Timeout>()
// The real timers, even in tests in virtual time.
const { setTimeout, clearTimeout } = globalThis

/** The same promise, rejected if it is not settled within `msMax`. */
export const inTime = <A>(what: string, promise: Promise<A>, msMax = patienceMs): Promise<A> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`not within ${msMax} ms: ${what}`)), msMax)
    waits.add(timer)
    const done = (): void => {
      clearTimeout(timer)
      waits.delete(timer)
    }
    promise.then(
      (value) => {
        done()
        resolve(value)
      },
      (error: unknown) => {
        done()
        reject(error as Error)
      },
    )
  })

/** Called at the end of each test, so that its open waits do not disturb later tests. */
export const forgetWaits = (): void => {
  for (const timer of waits) clearTimeout(timer)
  waits.clear()
}
