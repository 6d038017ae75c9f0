/** What a record says of the last error of its task. */

/** Characters kept; the whole of it is in the log. */
export const lastErrorMax = 1_000

/** The error of a claim that ended by itself. */
export const expiryMessage = {
  'lease-expired': 'lease expired without a heartbeat',
  'report-missing': 'decision report missing',
  'agent-terminated': 'agent terminated',
} as const
