/** The last error of a task, as it is kept in the record. */
import { firstOf } from './scalars.js'

/** Maximum number of characters; the complete error is in the log. */
const lastErrorMax = 1_000

/** Made well-formed, because older logs contain lone surrogates. */
export const keptError = (message: string): string => firstOf(message, lastErrorMax).toWellFormed()

/** The error of a claim that ended without a report. */
export const expiryMessage = {
  'lease-expired': 'lease expired without a heartbeat',
  'report-missing': 'decision report missing',
  'agent-terminated': 'agent terminated',
  'ran-too-long': 'the attempt took longer than maxRunSeconds',
} as const

/** The error of a parked task whose callback did not come. */
export const parkTimeoutMessage = 'no callback came in time'
