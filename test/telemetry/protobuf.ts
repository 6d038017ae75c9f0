/** Reads the wire format of Protocol Buffers, without a schema. */

/** By number of the field, its values in order: numbers, or bytes (texts, messages, and numbers of fixed length). */
export type Message = ReadonlyMap<number, ReadonlyArray<number | Buffer>>

export const messageOf = (bytes: Buffer): Message => {
  const message = new Map<number, Array<number | Buffer>>()
  let at = 0
  const varint = (): number => {
    let value = 0
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes[at++]
      if (byte === undefined) throw new Error('the message is cut off')
      value += (byte & 127) * factor
      if (byte < 128) return value
    }
  }
  const take = (length: number): Buffer => bytes.subarray(at, (at += length))
  const valueOf = (wireType: number): number | Buffer => {
    if (wireType === 0) return varint()
    if (wireType === 1) return take(8)
    if (wireType === 2) return take(varint())
    if (wireType === 5) return take(4)
    throw new Error(`wire type ${wireType} is unknown`)
  }
  while (at < bytes.length) {
    const tag = varint()
    const value = valueOf(tag & 7)
    const field = Math.floor(tag / 8)
    message.set(field, [...(message.get(field) ?? []), value])
  }
  return message
}

export const partsIn = (message: Message, field: number): ReadonlyArray<Message> => (message.get(field) ?? []).filter(Buffer.isBuffer).map(messageOf)

export const stringIn = (message: Message, field: number): string => {
  const value = message.get(field)?.[0]
  return Buffer.isBuffer(value) ? value.toString() : ''
}

export const numberIn = (message: Message, field: number): number => {
  const value = message.get(field)?.[0]
  return typeof value === 'number' ? value : 0
}
