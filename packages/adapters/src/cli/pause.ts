/** Reports that the queue is paused, in the commands that people use to find out why nothing happens. */
import { type DaybookClient, DaybookError } from '../client/index.js'
import type { Printer } from './printer.js'
import { clean } from './text.js'

/** Why the queue is paused. `null` when it is not, or when the token may not know: that of a worker or of a tenant. */
export const pauseOf = async (client: DaybookClient): Promise<string | null> => {
  try {
    return (await client.summary()).paused
  } catch (error) {
    if (error instanceof DaybookError && error.code === 'forbidden') return null
    throw error
  }
}

export const pauseText = (reason: string): string => `paused${reason === '' ? '' : ` (${clean(reason, 200)})`}`

export const tellPause = (printer: Printer, paused: string | null): void => {
  if (paused === null) return
  printer.line(`\n${printer.colors.yellow(`the queue is ${pauseText(paused)}: no task is handed out; daybook resume ends it`)}`)
}
