/** The part of protobuf's encoding that the server's answers need. */
const bytesOfVarint = (value: number): number => {
  let size = 1
  for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) size += 1
  return size
}

/** Takes a bigint for values that a number cannot hold. */
export const varint = (value: number | bigint): Buffer => (typeof value === 'number' ? ofNumber(value) : ofBigint(value))

const ofBigint = (value: bigint): Buffer =>
  value < 128n ? Buffer.of(Number(value)) : Buffer.concat([Buffer.of(Number(value & 127n) | 128), ofBigint(value >> 7n)])

const ofNumber = (value: number): Buffer => {
  const bytes = Buffer.allocUnsafe(bytesOfVarint(value))
  let rest = value
  let at = 0
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes[at++] = (rest % 128) | 128
  bytes[at] = rest
  return bytes
}

export const int64Max = 2n ** 63n - 1n
export const uint64Max = 2n ** 64n - 1n

export const uint = (field: number, value: number | bigint): Buffer => Buffer.concat([varint(field << 3), varint(value)])

export const bytes = (field: number, value: Uint8Array): Buffer =>
  Buffer.concat([varint((field << 3) | 2), varint(value.length), value])

export const text = (field: number, value: string): Buffer => bytes(field, Buffer.from(value, 'utf8'))

export const message = (field: number, ...parts: ReadonlyArray<Uint8Array>): Buffer => bytes(field, Buffer.concat(parts))

export const empty = (field: number): Buffer => bytes(field, new Uint8Array())
