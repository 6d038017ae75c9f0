/** As much of protobuf's encoding as the server's answers need. */
const bytesOfVarint = (value: number): number => {
  let size = 1
  for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) size += 1
  return size
}

export const varint = (value: number): Buffer => {
  const bytes = Buffer.allocUnsafe(bytesOfVarint(value))
  let rest = value
  let at = 0
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes[at++] = (rest % 128) | 128
  bytes[at] = rest
  return bytes
}

/** 2^63-1, which a number cannot hold: the revision of a tombstone. */
export const int64Max = Buffer.from('ffffffffffffffff7f', 'hex')

export const uint = (field: number, value: number): Buffer => Buffer.concat([varint(field << 3), varint(value)])

export const bytes = (field: number, value: Uint8Array): Buffer =>
  Buffer.concat([varint((field << 3) | 2), varint(value.length), value])

export const text = (field: number, value: string): Buffer => bytes(field, Buffer.from(value, 'utf8'))

export const message = (field: number, ...parts: ReadonlyArray<Uint8Array>): Buffer => bytes(field, Buffer.concat(parts))

export const empty = (field: number): Buffer => bytes(field, new Uint8Array())
