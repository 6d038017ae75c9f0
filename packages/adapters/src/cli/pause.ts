/** Reports that the queue is paused, in the commands by which people find out why nothing happens. */
import type { DaybookClient } from '../client/index.js'
import type { Printer } from './printer.js'
import { clean } from './text.js'

/** Why the queue is paused; `null` when it is not. */
export const pauseOf = async (client: DaybookClient): Promise<string | null> => (await client.summary()).paused

export const pauseText = (reason: string): string => `paused${reason === '' ? '' : ` (${clean(reason, 200)})`}`

export const tellPause = (printer: Printer, paused: string | null): void => {
  if (paused === null) return
  printer.line(`\n${printer.colors.yellow(`the queue is ${pauseText(paused)}: no task is handed out; daybook resume ends it`)}`)
}
