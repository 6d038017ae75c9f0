/** JSON values as texts. Written by hand, because `JSON.stringify` takes three times as long on small values. */
import { isExactNumber, isPlain, jsonDepthMax, LongJson, whyNotJson } from './json.js'

// eslint-disable-next-line no-control-regex -- these are the characters that JSON escapes
const needsEscape = /["\\\u0000-\u001f\ud800-\udfff]/

/** The text between the quotes. */
export const escaped = (text: string): string => (needsEscape.test(text) ? JSON.stringify(text).slice(1, -1) : text)

/** The same as `JSON.stringify` of a string. */
export const quote = (text: string): string => `"${escaped(text)}"`

/** The same as {@link escaped}. `undefined` for a text with a lone surrogate, which has no canonical form. */
const escapedUnicode = (text: string): string | undefined =>
  !needsEscape.test(text) ? text : text.isWellFormed() ? JSON.stringify(text).slice(1, -1) : undefined

/** A JSON value given as its canonical text. It is printed without being parsed. */
export class CanonicalText {
  constructor(readonly text: string) {}
}

/**
 * The canonical JSON text of a value: RFC 8785 (keys sorted by UTF-16 code units, numbers as ECMAScript
 * prints them, no white space).
 *
 * Gotchas: properties that are `undefined` are left out, as `JSON.stringify` does.
 *
 * @throws NotJson for NaN, infinities, integers beyond ±(2^53 − 1), lone surrogates, bigint, functions, cycles or nesting
 * beyond {@link jsonDepthMax}. {@link LongJson} if the text has more than `lengthMax` UTF-16 code units, as soon as that is known: a value of millions of
 * small parts would take seconds.
 * @example
 * canonicalJson({ b: [1, true], a: 'x' }) // => '{"a":"x","b":[1,true]}'
 */
export const canonicalJson = (value: unknown, path = 'payload', lengthMax = Number.POSITIVE_INFINITY): string => {
  if (value instanceof CanonicalText) return value.text
  printedMax = lengthMax
  if (remembered > ordersInAllMax) {
    root = new Place()
    remembered = 0
  }
  const text = print(value, root, 0)
  if (text !== undefined && text.length > lengthMax) throw new LongJson()
  if (text === undefined) throw whyNotJson(value, path) ?? new Error('a value changed while it was printed')
  return text
}

/** Canonical text; `undefined` for a value that is not JSON. */
const print = (value: unknown, place: Place, depth: number): string | undefined => {
  switch (typeof value) {
    case 'string': {
      const text = escapedUnicode(value)
      return text === undefined ? undefined : `"${text}"`
    }
    case 'number':
      return isExactNumber(value) ? `${value}` : undefined
    case 'boolean':
      return value ? 'true' : 'false'
    case 'object':
      break
    default:
      return undefined
  }
  if (value === null) return 'null'
  if (depth >= jsonDepthMax) return undefined
  if (Array.isArray(value)) return printItems(value, place, depth + 1)
  return isPlain(value) ? printMembers(value as Record<string, unknown>, place, depth + 1) : undefined
}

const printItems = (items: ReadonlyArray<unknown>, place: Place, depth: number): string | undefined => {
  let text = '['
  for (let i = 0; i < items.length; i++) {
    const item = print(items[i], place, depth)
    if (item === undefined) return undefined
    text += i === 0 ? item : `,${item}`
    if (text.length > printedMax) throw new LongJson()
  }
  return `${text}]`
}

const printMembers = (members: Record<string, unknown>, place: Place, depth: number): string | undefined => {
  const order = place.orderOf(members)
  const { keys, heads } = order
  if (keys.length === 0) return '{}'
  if (!order.isUnicode) return undefined
  let text = ''
  for (let i = 0; i < keys.length; i++) {
    const member = members[keys[i] as string]
    if (typeof member === 'string') {
      const printed = order.withText(i, member)
      if (printed === undefined) return undefined
      text += printed
      if (text.length > printedMax) throw new LongJson()
      continue
    }
    if (member === undefined) return printMembers(defined(members), place, depth)
    const printed = print(member, order.placeOf(i), depth)
    if (printed === undefined) return undefined
    text += (heads[i] as string) + printed
    if (text.length > printedMax) throw new LongJson()
  }
  return `${text}}`
}

const defined = (members: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(members).filter(([, member]) => member !== undefined))

/** Bounds of the caches: orders per place, keys per order and their length, orders in all, and the length of a text. */
const ordersMax = 4
const keysMax = 64
const keysLengthMax = 2_048
const ordersInAllMax = 1_000
const textMax = 64
/** The shortest member with its separator. A first one may have an empty name; all others are longer. */
const memberMin = '"":1,'.length

/**
 * A place in a document. Objects at the same place of similar documents mostly have the same keys. Their sorted order is cached there, because
 * sorting would cost more than all other steps.
 */
class Place {
  private readonly orders: Array<KeyOrder> = []

  orderOf(members: Record<string, unknown>): KeyOrder {
    const { orders } = this
    const latest = orders[0]
    if (latest?.isOf(members) === true) return latest
    // Keys are listed once: for an object with very many that takes long.
    const keys = Object.keys(members)
    for (let i = 1; i < orders.length; i++) {
      const order = orders[i] as KeyOrder
      if (order.isOfKeys(keys)) return order
    }
    // Members that are `undefined` count, too: nobody has as many.
    if (keys.length * memberMin > printedMax) throw new LongJson()
    const order = new KeyOrder(keys)
    if (order.isSmall) {
      remembered++
      if (orders.length === ordersMax) orders.pop()
      orders.unshift(order)
    }
    return order
  }
}

/** An order of keys that objects have had, with the texts that were printed last. */
class KeyOrder {
  /** Sorted by UTF-16 code units. */
  readonly keys: ReadonlyArray<string>
  /** No key has a lone surrogate. */
  readonly isUnicode: boolean
  /** The text before each value. Made with `join`, because V8 walks a concatenated string part by part at each use. */
  readonly heads: ReadonlyArray<string>
  /** The same with the opening quote of a text. */
  private readonly textHeads: ReadonlyArray<string>
  private readonly places: Array<Place | undefined>
  private readonly lastTexts: Array<string | undefined>
  /** Head and text together, once the same text has come twice in a row. */
  private readonly lastPrinted: Array<string | undefined>

  constructor(private readonly asGiven: ReadonlyArray<string>) {
    this.keys = [...asGiven].sort()
    this.isUnicode = asGiven.every((key) => key.isWellFormed())
    this.heads = this.keys.map((key, i) => [i === 0 ? '{' : ',', quote(key), ':'].join(''))
    this.textHeads = this.heads.map((head) => [head, '"'].join(''))
    this.places = this.keys.map(() => undefined)
    this.lastTexts = this.keys.map(() => undefined)
    this.lastPrinted = this.keys.map(() => undefined)
  }

  /** Whether it may be cached. */
  get isSmall(): boolean {
    const { keys } = this
    return keys.length <= keysMax && keys.reduce((length, key) => length + key.length, 0) <= keysLengthMax
  }

  isOf(members: Record<string, unknown>): boolean {
    const { asGiven } = this
    let i = 0
    for (const key in members) if (key !== asGiven[i++]) return false
    return i === asGiven.length
  }

  isOfKeys(keys: ReadonlyArray<string>): boolean {
    const { asGiven } = this
    return keys.length === asGiven.length && keys.every((key, i) => key === asGiven[i])
  }

  placeOf(index: number): Place {
    return (this.places[index] ??= new Place())
  }

  /** A member whose value is a text. The text is often the same as in the last document. `undefined` if it has a lone surrogate. */
  withText(index: number, text: string): string | undefined {
    if (text === this.lastTexts[index]) return (this.lastPrinted[index] ??= [this.heads[index], quote(text)].join(''))
    const body = escapedUnicode(text)
    if (body === undefined) return undefined
    if (text.length <= textMax) {
      this.lastTexts[index] = text
      this.lastPrinted[index] = undefined
    }
    return `${this.textHeads[index] as string}${body}"`
  }
}

let root = new Place()
let remembered = 0
/** The largest length of the text that is being printed. */
let printedMax = Number.POSITIVE_INFINITY
