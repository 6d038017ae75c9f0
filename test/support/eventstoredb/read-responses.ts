/** ReadResp without an event. */
import { streamIdentifier } from './log-event.js'
import { empty, message, text, uint } from './protobuf.js'

export const confirmation = (subscriptionId: string): Buffer => message(2, text(1, subscriptionId))
export const checkpoint = (commit: number, prepare: number): Buffer => message(3, uint(1, commit), uint(2, prepare))
export const streamNotFound = (stream: string): Buffer => message(4, streamIdentifier(1, stream))
export const caughtUp = (): Buffer => empty(8)
