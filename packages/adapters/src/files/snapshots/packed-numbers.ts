/**
 * Packs columns of numbers into few bytes. Each column is stored as its least value, and each value as its distance from that. A column uses as many
 * bytes per value as its largest distance needs, and none if all values are equal. The byte order is that of the machine, so only a machine of the
 * same kind can read it.
 */

/** Number of bytes of a distance. With 8, the value itself is stored. */
type Width = 0 | 1 | 2 | 4 | 8

const headBytes = 8
const columnHeadBytes = 16

export const packNumbers = (numbers: Float64Array, rows: number): Uint8Array => {
  const columns = rows === 0 ? 0 : numbers.length / rows
  const heads = Array.from({ length: columns }, (_, at) => headOf(numbers, at * rows, rows))
  const dataBytes = heads.reduce((sum, { width }) => sum + padded(rows * width), 0)
  const packed = new ArrayBuffer(headBytes + columns * columnHeadBytes + dataBytes)
  const head = new Float64Array(packed, 0, 1 + columns * 2)
  head[0] = columns
  let from = head.byteLength
  heads.forEach(({ least, width }, at) => {
    head[1 + at * 2] = least
    head[2 + at * 2] = width
    const values = viewOf(packed, from, rows, width)
    for (let row = 0; row < values.length; row++) values[row] = (numbers[at * rows + row] as number) - least
    from += padded(rows * width)
  })
  return new Uint8Array(packed)
}

const headOf = (numbers: Float64Array, from: number, rows: number): { readonly least: number; readonly width: Width } => {
  let least = Number.POSITIVE_INFINITY
  let most = Number.NEGATIVE_INFINITY
  for (let at = from; at < from + rows; at++) {
    const value = numbers[at] as number
    if (!Number.isSafeInteger(value)) return { least: 0, width: 8 }
    if (value < least) least = value
    if (value > most) most = value
  }
  const range = most - least
  const width = range === 0 ? 0 : range < 2 ** 8 ? 1 : range < 2 ** 16 ? 2 : range < 2 ** 32 ? 4 : 8
  return { least: width === 8 ? 0 : least, width }
}

/**
 * Throws if the bytes do not hold this many rows. They must start at the beginning of their buffer. `into`: an array with room for the numbers, which
 * is used for the result; default: a new one.
 */
export const unpackNumbers = ({ buffer, byteLength }: Uint8Array, rows: number, into?: Float64Array): Float64Array => {
  const columns = new Float64Array(buffer, 0, 1)[0] as number
  if (!Number.isInteger(columns) || columns < 0 || headBytes + columns * columnHeadBytes > byteLength) throw wrong(byteLength, rows)
  const head = new Float64Array(buffer, 0, 1 + columns * 2)
  const numbers = into === undefined || into.length < columns * rows ? new Float64Array(columns * rows) : into.subarray(0, columns * rows)
  let from = head.byteLength
  for (let at = 0; at < columns; at++) {
    const least = head[1 + at * 2] as number
    const width = head[2 + at * 2] as Width
    if (width === 0) numbers.fill(least, at * rows, (at + 1) * rows)
    else {
      numbers.set(viewOf(buffer, from, rows, width), at * rows)
      if (least !== 0) for (let i = at * rows; i < (at + 1) * rows; i++) (numbers[i] as number) += least
    }
    from += padded(rows * width)
  }
  if (from !== byteLength) throw wrong(byteLength, rows)
  return numbers
}

const wrong = (bytes: number, rows: number): Error => new Error(`${bytes} bytes are not the numbers of ${rows} tasks`)

const viewOf = (buffer: ArrayBufferLike, from: number, rows: number, width: Width): Uint8Array | Uint16Array | Uint32Array | Float64Array => {
  switch (width) {
    case 0:
      return new Uint8Array(0)
    case 1:
      return new Uint8Array(buffer, from, rows)
    case 2:
      return new Uint16Array(buffer, from, rows)
    case 4:
      return new Uint32Array(buffer, from, rows)
    case 8:
      return new Float64Array(buffer, from, rows)
  }
}

/** A typed array must begin at a multiple of eight bytes. */
const padded = (bytes: number): number => Math.ceil(bytes / 8) * 8
