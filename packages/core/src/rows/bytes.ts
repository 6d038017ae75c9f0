/** Numbers and texts as bytes, written one after the other and read in the same order. */

const noBytes = new Uint8Array(0)

/** Writes into an array of the caller, and into a larger one when that is full. */
export class ByteWriter {
  bytes: Uint8Array<ArrayBuffer> = noBytes
  length = 0

  /** Starts to write at this place. */
  begin(bytes: Uint8Array<ArrayBuffer>, at: number): void {
    this.bytes = bytes
    this.length = at
  }

  /** Returns the given array, or the larger one with the same bytes before that place. The writer forgets it. */
  end(): Uint8Array<ArrayBuffer> {
    const { bytes } = this
    this.bytes = noBytes
    return bytes
  }

  /** Makes room for `more` bytes. Public methods make room themselves. */
  private reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return
    const larger = new Uint8Array(Math.max(this.bytes.length * 2, this.length + more))
    larger.set(this.bytes)
    this.bytes = larger
  }

  /** Writes any number, exactly. Whole numbers from 0 to 2^53 - 2 take one byte per 7 bits, all others nine bytes. */
  number(value: number): void {
    if (this.length + 9 > this.bytes.length) this.reserve(9)
    if (value >= 0 && value < 127 && (value | 0) === value) this.bytes[this.length++] = value + 1
    else if (Number.isSafeInteger(value) && value >= 0 && value < Number.MAX_SAFE_INTEGER) this.whole(value + 1)
    else {
      this.bytes[this.length++] = 0
      float[0] = value
      for (let i = 0; i < 8; i++) this.bytes[this.length++] = floatBytes[i] as number
    }
  }

  /** Writes any text, including lone surrogates. UUIDs and hashes take one byte for two digits. */
  text(text: string): void {
    const { length } = text
    this.reserve(2 * length + 9)
    const start = this.length
    if (length === uuidLength && this.uuid(text)) return
    this.length = start
    if (length > 0 && length % 2 === 0 && this.digits(text)) return
    this.length = start
    if (this.latin(text)) return
    this.length = start
    this.bytes[this.length++] = kind.utf16
    this.whole(length)
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i)
      this.bytes[this.length++] = code & 0xff
      this.bytes[this.length++] = code >> 8
    }
  }

  /** Writes some bytes of a row as they are. */
  copy(bytes: Uint8Array, from: number, to: number): void {
    this.reserve(to - from)
    this.bytes.set(bytes.subarray(from, to), this.length)
    this.length += to - from
  }

  private whole(value: number): void {
    let rest = value
    for (; rest >= 0x8000_0000; rest = Math.floor(rest / 128)) this.bytes[this.length++] = (rest % 128) | 0x80
    for (; rest >= 0x80; rest >>>= 7) this.bytes[this.length++] = (rest & 0x7f) | 0x80
    this.bytes[this.length++] = rest
  }

  private uuid(text: string): boolean {
    this.bytes[this.length++] = kind.uuid
    if (text.charCodeAt(8) !== dash || text.charCodeAt(13) !== dash || text.charCodeAt(18) !== dash || text.charCodeAt(23) !== dash) return false
    return this.pairs(text, 0, 8) && this.pairs(text, 9, 13) && this.pairs(text, 14, 18) && this.pairs(text, 19, 23) && this.pairs(text, 24, uuidLength)
  }

  private digits(text: string): boolean {
    this.bytes[this.length++] = kind.digits
    this.whole(text.length / 2)
    return this.pairs(text, 0, text.length)
  }

  /** Writes pairs of lower-case hexadecimal digits. False if there is any other character; what was written is then of no use. */
  private pairs(text: string, from: number, to: number): boolean {
    const { bytes } = this
    let at = this.length
    // Negative, or with bits above the first seven, as soon as one character is no digit. This is tested once, not for each character.
    let all = 0
    for (let i = from; i < to; i += 2) {
      const high = text.charCodeAt(i)
      const low = text.charCodeAt(i + 1)
      const value = ((digitValues[high & 0x7f] as number) << 4) | (digitValues[low & 0x7f] as number)
      all |= value | ((high | low) & ~0x7f) << 8
      bytes[at++] = value
    }
    this.length = at
    return all >= 0 && all < 0x100
  }

  private latin(text: string): boolean {
    this.bytes[this.length++] = kind.latin
    this.whole(text.length)
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i)
      if (code > 0xff) return false
      this.bytes[this.length++] = code
    }
    return true
  }
}

export class ByteReader {
  constructor(
    private readonly bytes: Uint8Array,
    private at: number,
  ) {}

  number(): number {
    const value = this.whole()
    if (value > 0) return value - 1
    for (let i = 0; i < 8; i++) floatBytes[i] = this.bytes[this.at++] as number
    return float[0] as number
  }

  text(): string {
    const first = this.bytes[this.at++]
    if (first === kind.uuid) return this.uuid()
    const length = this.textLength(first)
    if (first === kind.digits) return this.digits(length)
    const codes = new Array<number>(length)
    for (let i = 0; i < length; i++) codes[i] = first === kind.latin ? (this.bytes[this.at++] as number) : (this.bytes[this.at++] as number) | ((this.bytes[this.at++] as number) << 8)
    return textOf(codes)
  }

  skipNumbers(count: number): void {
    for (let i = 0; i < count; i++) this.number()
  }

  /** Passes over a text. */
  skipText(): void {
    const first = this.bytes[this.at++]
    if (first === kind.uuid) this.at += uuidBytes
    else {
      const length = this.textLength(first)
      this.at += first === kind.utf16 ? 2 * length : length
    }
  }

  /** Where the next value begins. */
  get position(): number {
    return this.at
  }

  /** Throws if there is no such kind of text or the length is impossible, as in a damaged snapshot. */
  private textLength(first: number | undefined): number {
    if (first === undefined || first > kind.utf16) throw new Error(`a text of the kind ${first}`)
    const length = this.whole()
    if (length > this.bytes.length) throw new Error(`a text of ${length} characters in ${this.bytes.length} bytes`)
    return length
  }

  private whole(): number {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      const byte = this.bytes[this.at++] as number
      value += (byte & 0x7f) * scale
      // Also true beyond the end, where there is no byte: in a damaged snapshot.
      if (!(byte >= 0x80)) return value
    }
  }

  private uuid(): string {
    const codes = uuidCodes
    for (let i = 0; i < uuidLength; i += 2) {
      if (i === 8 || i === 13 || i === 18 || i === 23) codes[i++] = dash
      this.pair(codes, i)
    }
    return textOf(codes)
  }

  private digits(bytes: number): string {
    const codes = new Array<number>(2 * bytes)
    for (let i = 0; i < codes.length; i += 2) this.pair(codes, i)
    return textOf(codes)
  }

  private pair(codes: Array<number>, at: number): void {
    const byte = this.bytes[this.at++] as number
    codes[at] = digits[byte >> 4] as number
    codes[at + 1] = digits[byte & 15] as number
  }
}

/** Makes one flat string, which is read faster than a concatenated one. In parts, because the number of arguments of a call is limited. */
const textOf = (codes: Array<number>): string => {
  if (codes.length <= partMax) return String.fromCharCode.apply(null, codes)
  let text = ''
  for (let from = 0; from < codes.length; from += partMax) text += String.fromCharCode.apply(null, codes.slice(from, from + partMax))
  return text
}

const kind = { uuid: 0, digits: 1, latin: 2, utf16: 3 } as const
/** The first byte of a UUID. */
export const kindOfUuid: number = kind.uuid
const uuidLength = 36
const uuidBytes = 16
const dash = 0x2d
const partMax = 4_096

/** Overwritten for each UUID. */
const uuidCodes = new Array<number>(uuidLength).fill(dash)

const float = new Float64Array(1)
const floatBytes = new Uint8Array(float.buffer)

/** The value of a digit by its character code: 0 to 15; -1 for any other character. */
const digitValues = Int8Array.from({ length: 128 }, (_, code) => '0123456789abcdef'.indexOf(String.fromCharCode(code)))
const digits: ReadonlyArray<number> = Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0))
