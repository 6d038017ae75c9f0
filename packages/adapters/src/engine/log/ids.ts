/** Ids of tasks, of commands and of events. */
import { randomBytes } from 'node:crypto'

/** Whether the text is a valid `Daybook-Request-Id`, from which {@link taskIdsOf} makes ids. */
export const isRequestId = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)

/**
 * Ids for the tasks of one request, made from the request id and the task's index. If the request is sent again because its answer was lost, its
 * tasks have the same ids and are recognised. The index replaces the last 16 bits of the request id.
 */
export const taskIdsOf = (requestId: string): ((place: number) => string) => {
  const stem = requestId.slice(0, -4)
  return (place) => stem + place.toString(16).padStart(4, '0')
}

/**
 * The id of a command and the ids of its events. An event's id is the command's id with the index of the event. So a command that is appended again
 * is recognised by its ids. `$causationId` is the command's id.
 */
class CommandIds {
  constructor(private readonly stem: string) {}

  get command(): string {
    return this.stem + placeText(0)
  }

  event(index: number): string {
    return this.stem + placeText(index + 1)
  }
}

/** Cached by index: most commands have few events. */
const placeTexts: Array<string> = []
const placeText = (place: number): string => (placeTexts[place] ??= place.toString(16).padStart(6, '0'))

/** UUIDv8: 72 random bits, drawn at start and again every 2^24 commands, 24 bits for the counter, 24 bits for the index. */
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
