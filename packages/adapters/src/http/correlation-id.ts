/** What the lines of the log, the events and the answer of one request have in common. */
import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

const correlationId = /^[\x21-\x7e]{1,128}$/

/** The caller's `X-Correlation-Id` if it is a valid one, and a new one otherwise. */
export const correlationIdOf = ({ 'x-correlation-id': given }: IncomingHttpHeaders): string => (typeof given === 'string' && correlationId.test(given) ? given : randomUUID())
