import { type DaybookClient, DaybookError } from '../client/index.js'
import type { Printer } from './printer.js'
import { didYouMean } from './suggest/nearest.js'

/** Says that the queue was never used: a mistyped name should not look like a queue whose work is done. */
export const noteUnused = async (printer: Printer, client: DaybookClient): Promise<void> => {
  try {
    if ((await client.depth()).revision >= 0) return
    const names = (await client.queues()).map(({ name }) => name)
    printer.note(`queue ${client.queue} was never used: its first task creates it${didYouMean(client.queue, names)}`)
  } catch (error) {
    // The answer stands without the note. A token may be one that may not ask.
    if (!(error instanceof DaybookError)) throw error
  }
}
