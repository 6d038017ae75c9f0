/** Ids of tasks and of requests. */
import { randomBytes } from 'node:crypto'

/** Random hex digits for 256 ids. They are drawn together, because drawing costs more than the rest of an id. */
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
