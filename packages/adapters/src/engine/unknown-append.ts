/** Resolves the outcome of an append that the store could not report. */
import * as E from 'fp-ts/lib/Either.js'
import type { Availability } from './availability.js'
import type { Batch } from './batch.js'
import type { QueueLog } from './queue-log.js'
import { describe } from './refusals.js'

const triesAtClose = 6

export interface Inquiry {
  readonly log: QueueLog
  readonly availability: Availability
  readonly isClosing: () => boolean
  readonly warn: (message: string) => void
}

/** Whether the log now has this batch at its revisions. */
export const isThere = async (log: QueueLog, batch: Batch): Promise<'yes' | 'no' | 'another'> => {
  const [found] = await log.pick([batch.expected + 1])
  if (found === undefined) return 'no'
  return found.id === batch.texts[0]?.id ? 'yes' : 'another'
}

/**
 * Resolves an unknown outcome: the same append is sent again, with the same ids and expected revision, and
 * the log is read, until the outcome is known. The commands are not decided again before that: they could happen twice.
 */
export const isInLog = async (batch: Batch, reason: string, { log, availability, isClosing, warn }: Inquiry): Promise<boolean> => {
  const doubt = `an append's outcome is unknown (${reason}); it is being settled`
  availability.doubted(doubt)
  warn(doubt)
  for (let attempt = 0; ; attempt++) {
    try {
      const there = await isThere(log, batch)
      if (there !== 'no') return there === 'yes'
      const again = await log.append(batch.texts, batch.expected)
      if (E.isRight(again)) return true
      if (again.left._tag === 'AppendTooLarge') return false
    } catch (cause) {
      warn(`still unknown: ${describe(cause)}`)
    }
    if (isClosing() && attempt >= triesAtClose) {
      throw new Error(`stopped while an append's outcome was unknown (${reason}): it is in the log or it is not`)
    }
    await new Promise((resolve) => setTimeout(resolve, Math.min(50 * 2 ** Math.min(attempt, 7), 1_000)))
  }
}
