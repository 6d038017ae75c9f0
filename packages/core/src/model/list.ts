/** Lists in input from outside. */
import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { errorsMax } from './rejections.js'

/**
 * Like `t.readonlyArray`, but checks no more items once a refusal has enough invalid ones to name. A request may have a million of them, and making an
 * error takes much longer than checking an item.
 */
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

/** The index after the last invalid item that a refusal names; `undefined` if the list has fewer. */
const endOfInvalid = (item: t.Mixed, list: ReadonlyArray<unknown>): number | undefined => {
  let invalid = 0
  for (let i = 0; i < list.length; i++) if (!item.is(list[i]) && ++invalid === errorsMax) return i + 1
  return undefined
}
