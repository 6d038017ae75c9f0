/** Long work on the thread that decides, in short turns: everybody else gets theirs in between. */

/** Of the time that the others' turn took: a busy queue must not keep such work from coming to an end. */
const shareMin = 0.5
/** A longer turn would be felt by whoever waits for an answer. */
const turnMsMax = 10

/** Await the result often, say every quarter of a millisecond: it lets the others go first when it is their turn. */
export const shortTurns = (): (() => Promise<void>) => {
  let begun = performance.now()
  let turnMs = 0
  return async () => {
    const ended = performance.now()
    if (ended - begun < turnMs) return
    await new Promise((resolve) => setImmediate(resolve))
    begun = performance.now()
    turnMs = Math.min((begun - ended) * shareMin, turnMsMax)
  }
}
