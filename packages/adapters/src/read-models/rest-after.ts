/** How long the feed of read models rests after a batch, so that those who append come first. */

/** The longest rest after a batch, in milliseconds. */
const restMsMax = 200

export interface TakenBatch {
  /** How long it took, in milliseconds. */
  readonly ms: number
  /** Its events. */
  readonly events: number
  /** Events that others appended meanwhile. */
  readonly appended: number
  /** Whether the next batch is as large as any can be, without what is appended during a rest. */
  readonly isNextFull: boolean
}

/**
 * Milliseconds. Near the end of the log a rest is as long as the batch was, if anybody appends: what comes meanwhile makes the next batch larger, and so cheaper
 * for each event. Far behind it a rest makes nothing cheaper, so it is only as long as others have work: the share of the batch's time that their events are of its.
 */
export const restAfter = ({ ms, events, appended, isNextFull }: TakenBatch): number => {
  if (appended === 0) return 0
  return Math.min(isNextFull ? (ms * appended) / events : ms, restMsMax)
}
