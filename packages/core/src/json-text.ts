/** JSON values as texts: put together by hand, at a third of what the native printer costs on small ones. */
import { isPlain, jsonDepthMax, whyNotJson } from './json.js'

// eslint-disable-next-line no-control-regex -- these are the characters that JSON escapes
const needsEscape = /["\\\u0000-\u001f\ud800-\udfff]/

/** The same as `JSON.stringify` of a string. */
export const quote = (text: string): string => (needsEscape.test(text) ? JSON.stringify(text) : `"${text}"`)

/** Stands for the JSON value of which it holds the canonical text: what came as such need not be parsed. */
export class CanonicalText {
  constructor(readonly text: string) {}
}

/**
 * The canonical JSON text of a value: RFC 8785 (keys sorted by UTF-16 code units, numbers as ECMAScript
 * prints them, no white space).
 *
 * Gotchas: properties that are `undefined` are left out, as `JSON.stringify` does.
 *
 * @throws NotJson for NaN, infinities, bigint, functions, cycles or nesting beyond {@link jsonDepthMax}.
 * @example
 * canonicalJson({ b: [1, true], a: 'x' }) // => '{"a":"x","b":[1,true]}'
 */
export const canonicalJson = (value: unknown, path = 'payload'): string => {
  if (value instanceof CanonicalText) return value.text
  if (remembered > ordersInAllMax) {
    root = new Place()
    remembered = 0
  }
  const text = print(value, root, 0)
  if (text === undefined) throw whyNotJson(value, path) ?? new Error('a value changed while it was printed')
  return text
}

/** `undefined` for what is not JSON. */
const print = (value: unknown, place: Place, depth: number): string | undefined => {
  switch (typeof value) {
    case 'string':
      return quote(value)
    case 'number':
      return Number.isFinite(value) ? `${value}` : undefined
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
  }
  return `${text}]`
}

const printMembers = (members: Record<string, unknown>, place: Place, depth: number): string | undefined => {
  const { keys, names, places } = place.orderOf(members)
  let text = ''
  for (let i = 0; i < keys.length; i++) {
    const member = members[keys[i] as string]
    if (member === undefined) continue
    const printed = print(member, (places[i] ??= new Place()), depth)
    if (printed === undefined) return undefined
    text += (text === '' ? '{' : ',') + (names[i] as string) + printed
  }
  return text === '' ? '{}' : `${text}}`
}

/** What is remembered is bounded: the orders of one place, the keys of an order, and all orders together. */
const ordersMax = 4
const keysMax = 64
const ordersInAllMax = 1_000

/**
 * A place in a document. What stands at the same place of one document after another mostly has the same keys,
 * so the order in which they are printed is remembered there: sorting costs more than all the rest.
 */
class Place {
  private readonly orders: Array<KeyOrder> = []

  orderOf(members: Record<string, unknown>): KeyOrder {
    const { orders } = this
    for (let i = 0; i < orders.length; i++) {
      const order = orders[i] as KeyOrder
      if (order.isOf(members)) return order
    }
    const order = new KeyOrder(Object.keys(members))
    if (order.keys.length <= keysMax) {
      remembered++
      if (orders.length === ordersMax) orders.pop()
      orders.unshift(order)
    }
    return order
  }
}

/** The keys of objects that have the same ones, in the same order. */
class KeyOrder {
  /** By UTF-16 code units. */
  readonly keys: ReadonlyArray<string>
  /** Each as it stands before its value. */
  readonly names: ReadonlyArray<string>
  /** Of the values; made when they are needed. */
  readonly places: Array<Place | undefined>

  constructor(private readonly asGiven: ReadonlyArray<string>) {
    this.keys = [...asGiven].sort()
    this.names = this.keys.map((key) => `${quote(key)}:`)
    this.places = this.keys.map(() => undefined)
  }

  isOf(members: Record<string, unknown>): boolean {
    const { asGiven } = this
    let i = 0
    for (const key in members) if (key !== asGiven[i++]) return false
    return i === asGiven.length
  }
}

let root = new Place()
let remembered = 0
