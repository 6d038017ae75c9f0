/** Ids of tasks, of commands and of events. */
import { randomBytes } from 'node:crypto'

/** Random hex digits for 256 ids: drawing costs more than the rest of an id. */
const digitsAnId = 20
let digits = ''
let used = 0

let lastMs = 0
let timeText = ''

/** A UUIDv7: 48 bits of time in milliseconds, 74 random bits. */
export const newTaskId = (): string => {
  const ms = Date.now()
  if (ms !== lastMs) {
    lastMs = ms
    const hex = ms.toString(16).padStart(12, '0')
    timeText = `${hex.slice(0, 8)}-${hex.slice(8)}-7`
  }
  if (used === digits.length) {
    digits = randomBytes((256 * digitsAnId) / 2).toString('hex')
    used = 0
  }
  const at = used
  used += digitsAnId
  const variant = '89ab'.charAt(digits.charCodeAt(at + 3) & 3)
  return `${timeText}${digits.slice(at, at + 3)}-${variant}${digits.slice(at + 4, at + 7)}-${digits.slice(at + 7, at + 19)}`
}

/** What may stand in the header {@link taskIdsOf} is made from. */
export const isRequestId = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)

/**
 * Ids for the tasks of one request, each from its place there: the same request, sent again because its answer was lost, has the same
 * ids, so its tasks are known by them. Of the request's own id, the last 16 bits are the place.
 */
export const taskIdsOf = (requestId: string): ((place: number) => string) => {
  const stem = requestId.slice(0, -4)
  return (place) => stem + place.toString(16).padStart(4, '0')
}

/**
 * The id of a command and those of its events. An event's id is its command's with the event's place in it, so a
 * command that is appended again is recognised by its ids, and `$causationId` names the command.
 */
export class CommandIds {
  constructor(private readonly stem: string) {}

  get command(): string {
    return this.stem + placeText(0)
  }

  event(index: number): string {
    return this.stem + placeText(index + 1)
  }
}

/** By place: most commands have few events, and many a claim as many as the one before. */
const placeTexts: Array<string> = []
const placeText = (place: number): string => (placeTexts[place] ??= place.toString(16).padStart(6, '0'))

/** UUIDv8: 72 random bits drawn at start and anew every 2^24 commands, 24 bits of count, 24 bits of place. */
export const commandIdSource = (): (() => CommandIds) => {
  let prefix = ''
  let count = 0
  return () => {
    if (count % 2 ** 24 === 0) {
      const hex = randomBytes(9).toString('hex')
      prefix = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(12, 15)}-a${hex.slice(15, 18)}-`
    }
    return new CommandIds(prefix + (count++ % 2 ** 24).toString(16).padStart(6, '0'))
  }
}
