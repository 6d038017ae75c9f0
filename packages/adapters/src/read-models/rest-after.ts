/** How long the feed of read models rests after a batch, so that appends come first. */

/** The longest rest after a batch, in milliseconds. */
const restMsMax = 200

export interface TakenBatch {
  /** How long the batch took, in milliseconds. */
  readonly ms: number
  /** Number of its events. */
  readonly events: number
  /** Number of events that others appended meanwhile. */
  readonly appended: number
  /** Whether the next batch is full already, without the events that are appended during a rest. */
  readonly isNextFull: boolean
}

/**
 * The length of the rest in milliseconds. Near the end of the log, a rest is as long as the batch was, if anybody appends: later events make the next
 * batch larger, and therefore cheaper per event. Far behind the end, a rest makes nothing cheaper. So it is only the share of the batch's time that
 * the others' events are of its own events.
 */
export const restAfter = ({ ms, events, appended, isNextFull }: TakenBatch): number => {
  if (appended === 0) return 0
  return Math.min(isNextFull ? (ms * appended) / events : ms, restMsMax)
}
