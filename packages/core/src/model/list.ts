/** Lists in input from outside. */
import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'

/** A refusal names no more fields than this, and making an error takes much longer than reading an item. */
const invalidMax = 100

/** Like `t.readonlyArray`, but checks nothing after the hundredth invalid item: a request may have a million of them. */
export const listOf = <C extends t.Mixed>(item: C): t.ReadonlyArrayC<C> => {
  const plain = t.readonlyArray(item)
  return new t.ReadonlyArrayType(
    plain.name,
    plain.is,
    (input, context) => {
      const end = Array.isArray(input) ? endOfInvalid(item, input) : undefined
      if (end === undefined) return plain.validate(input, context)
      const begun = plain.validate((input as ReadonlyArray<unknown>).slice(0, end), context)
      return E.isLeft(begun) ? begun : plain.validate(input, context)
    },
    plain.encode,
    item,
  )
}

/** The index after the last invalid item that is named; `undefined` if there are fewer. */
const endOfInvalid = (item: t.Mixed, list: ReadonlyArray<unknown>): number | undefined => {
  let invalid = 0
  for (let i = 0; i < list.length; i++) if (!item.is(list[i]) && ++invalid === invalidMax) return i + 1
  return undefined
}
