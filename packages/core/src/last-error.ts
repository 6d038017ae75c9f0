/** The last error of a task, as kept in its record. */
import { firstOf } from './scalars.js'

/** Maximum number of characters; the complete error is in the log. */
const lastErrorMax = 1_000

/** Well-formed Unicode, because older logs contain lone surrogates. */
export const keptError = (message: string): string => firstOf(message, lastErrorMax).toWellFormed()

/** The error of a claim that ended by itself. */
export const expiryMessage = {
  'lease-expired': 'lease expired without a heartbeat',
  'report-missing': 'decision report missing',
  'agent-terminated': 'agent terminated',
  'ran-too-long': 'the attempt took longer than maxRunSeconds',
} as const

/** The error of a parked task whose callback did not come. */
export const parkTimeoutMessage = 'no callback came in time'
