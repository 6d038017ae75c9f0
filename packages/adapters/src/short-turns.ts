/** Divides long work on the deciding thread into short turns, so that other work gets its turns in between. */

/** A turn takes this share of the time of the others' last turn, so that the work ends on a busy queue too. */
const shareMin = 0.5
/** A longer turn would noticeably delay answers. */
const turnMsMax = 10

/** Returns a function to be awaited often, about every quarter of a millisecond. It yields when the turn is over. */
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
