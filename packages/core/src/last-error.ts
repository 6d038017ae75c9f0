/** What a record says of the last error of its task. */
import { firstOf } from './scalars.js'

/** Characters kept; the whole of it is in the log. */
const lastErrorMax = 1_000

/** As Unicode text, which was not always asked of what was recorded. */
export const keptError = (message: string): string => firstOf(message, lastErrorMax).toWellFormed()

/** The error of a claim that ended by itself. */
export const expiryMessage = {
  'lease-expired': 'lease expired without a heartbeat',
  'report-missing': 'decision report missing',
  'agent-terminated': 'agent terminated',
} as const
