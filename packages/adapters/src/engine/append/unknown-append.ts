/** Finds out the outcome of an append that the store could not report. */
import * as E from 'fp-ts/lib/Either.js'
import { errorText } from '../../error-text.js'
import { readSeal } from '../../seals/index.js'
import type { ChainHead } from '../../store/index.js'
import type { Batch } from './batch.js'
import type { QueueLog } from '../log/queue-log.js'
import type { Parts } from '../parts.js'

const triesAtClose = 6

/** Whether the log now has this batch at its revisions. */
export const isThere = async (log: QueueLog, batch: Batch): Promise<'yes' | 'no' | 'another'> => {
  const [found] = await log.pick([batch.expected + 1])
  if (found === undefined) return 'no'
  return found.id === batch.texts[0]?.id ? 'yes' : 'another'
}

/** The seal of a batch that is in the log. */
const sealThere = async (log: QueueLog, { expected, texts }: Batch): Promise<ChainHead> => {
  const revision = expected + texts.length
  const [last] = await log.pick([revision])
  const hash = last === undefined ? undefined : readSeal(last.metadata)?.seal.hash
  if (hash === undefined) throw new Error(`revision ${revision} does not have its hash`)
  return { revision, hash }
}

/**
 * Finds out an unknown outcome. The same append is sent again, with the same ids, expected revision and seal, and the log is read, until the outcome
 * is known. The commands are not decided again before that, because they could happen twice. Returns the seal of the batch if it is in the log.
 */
export const sealInLog = async (batch: Batch, reason: string, { log, live, availability, isClosing, warn }: Parts): Promise<ChainHead | undefined> => {
  const doubt = `an append's outcome is unknown (${reason}); it is being settled`
  availability.doubted(doubt)
  warn(doubt)
  let told = ''
  for (let attempt = 0; ; attempt++) {
    try {
      const there = await isThere(log, batch)
      if (there !== 'no') return there === 'yes' ? await sealThere(log, batch) : undefined
      // What was in flight before it is in the log; otherwise this batch could not be there either.
      const again = await log.append(batch.texts, batch.expected, live.chain.end)
      if (E.isRight(again)) return again.right
      if (again.left._tag === 'AppendTooLarge') return undefined
    } catch (cause) {
      // Once for each reason: a store may be away for hours.
      if (errorText(cause) !== told) warn(`still unknown: ${(told = errorText(cause))}`)
    }
    if (isClosing() && attempt >= triesAtClose) {
      throw new Error(`stopped while an append's outcome was unknown (${reason}): it is in the log or it is not`)
    }
    await new Promise((resolve) => setTimeout(resolve, Math.min(50 * 2 ** Math.min(attempt, 7), 1_000)))
  }
}
