/** Divides long work on the deciding thread into short turns, so that other work runs in between. */

/** A turn takes at least this share of the time of the others' last turn, so that the work ends even on a busy queue. */
const shareMin = 0.5
/** A shorter turn would spend its time on switching. A longer turn than the maximum would noticeably delay answers. */
const turnMsMin = 1
const turnMsMax = 25
/** A turn begins when nobody waits for the disk, or after this time in milliseconds. The pause leaves a processor to the writing thread. */
const restMs = 1
const restMsMax = 10

/**
 * Returns a function to be awaited often, about every quarter of a millisecond. It yields when the turn is over. `isBusy`: whether a command waits
 * for the disk.
 */
export const shortTurns = (isBusy: () => boolean): (() => Promise<void>) => {
  let begun = performance.now()
  let turnMs = turnMsMin
  return async () => {
    const ended = performance.now()
    if (ended - begun < turnMs) return
    await new Promise((resolve) => setImmediate(resolve))
    turnMs = Math.min(Math.max((performance.now() - ended) * shareMin, turnMsMin), turnMsMax)
    while (isBusy() && performance.now() - ended < restMsMax) await new Promise((resolve) => setTimeout(resolve, restMs))
    begun = performance.now()
  }
}
