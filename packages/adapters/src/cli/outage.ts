/** What a command does when the server does not answer for a while. */
import { setTimeout as sleep } from 'node:timers/promises'
import { codeOf, mayRetryLater } from '@daybook/client/internal'
import type { Printer } from './printer.js'

/** How often the server is asked again, in milliseconds. */
const againMs = 500

/** Whether the error may be temporary. */
export const isOutage = (error: unknown): boolean => mayRetryLater(codeOf(error) ?? '')

/**
 * The answer, also of a server that is away meanwhile: it is asked again until `untilMs` by `performance.now()`. People are told once. Other refusals, and
 * the last one in time, are thrown.
 */
export const throughOutage = async <A>(ask: () => Promise<A>, printer: Printer, untilMs: number): Promise<A> => {
  for (let isTold = false; ; ) {
    try {
      return await ask()
    } catch (error) {
      if (!isOutage(error) || performance.now() + againMs > untilMs) throw error
      if (!isTold) printer.note(`daybook: this is tried again: ${(error as Error).message}`)
      isTold = true
      await sleep(againMs)
    }
  }
}
