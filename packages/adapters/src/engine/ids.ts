/**
 * Ids of commands and of their events. An event's id is its command's with the event's place in it, so a
 * command that is appended again is recognised by its ids, and `$causationId` names the command.
 *
 * UUIDv8: 72 random bits drawn at start and anew every 2^24 commands, 24 bits of count, 24 bits of place.
 */
import { randomBytes } from 'node:crypto'

export interface CommandIds {
  readonly command: string
  readonly event: (index: number) => string
}

export const commandIdSource = (): (() => CommandIds) => {
  let prefix = ''
  let count = 0
  return () => {
    if (count % 2 ** 24 === 0) {
      const hex = randomBytes(9).toString('hex')
      prefix = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(12, 15)}-a${hex.slice(15, 18)}-`
    }
    const stem = prefix + (count++ % 2 ** 24).toString(16).padStart(6, '0')
    return {
      command: `${stem}000000`,
      event: (index) => stem + (index + 1).toString(16).padStart(6, '0'),
    }
  }
}
