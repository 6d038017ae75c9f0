/** AppendResp, DeleteResp and TombstoneResp. */
import { empty, message, uint, uint64Max } from './protobuf.js'
import type { Stated } from './requests.js'

/** Each revision is sent twice: in the current fields and in those of version 20.6. */
const expectedFields = (expected: Stated): Buffer => {
  switch (expected) {
    case 'any': return Buffer.concat([empty(9), empty(4)])
    case 'stream_exists': return Buffer.concat([empty(10), empty(5)])
    case 'no_stream': return Buffer.concat([empty(11), uint(3, uint64Max)])
    default: return Buffer.concat([uint(8, expected), uint(3, expected)])
  }
}

const position = (field: number, value: number): Buffer => message(field, uint(1, value), uint(2, value))

export const appended = (revision: number, at: number | undefined): Buffer =>
  message(1, revision < 0 ? empty(2) : uint(1, revision), at === undefined ? empty(4) : position(3, at))

export const wrongVersion = (actual: number, expected: Stated): Buffer =>
  message(2, ...(actual < 0 ? [empty(7), empty(2)] : [uint(6, actual), uint(1, actual)]), expectedFields(expected))

export const deletedAt = (at: number | undefined): Buffer => (at === undefined ? empty(2) : position(1, at))
