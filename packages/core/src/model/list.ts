/** Lists and dictionaries in input from outside. */
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
      const end = Array.isArray(input) ? endOfInvalid(input, (each) => item.is(each)) : undefined
      if (end === undefined) return plain.validate(input, context)
      const begun = plain.validate((input as ReadonlyArray<unknown>).slice(0, end), context)
      return E.isLeft(begun) ? begun : plain.validate(input, context)
    },
    plain.encode,
    item,
  )
}

/** Like `t.record`, but checks no more members once a refusal has enough invalid ones to name, for the same reason. */
export const recordOf = <D extends t.Mixed, C extends t.Mixed>(domain: D, codomain: C): t.RecordC<D, C> => {
  const plain = t.record(domain, codomain)
  return new t.DictionaryType(
    plain.name,
    plain.is,
    (input, context) => {
      const members = typeof input === 'object' && input !== null ? Object.entries(input) : []
      // A member whose key is no name is left to `validate`, as by `t.record`.
      const end = endOfInvalid(members, ([key, value]) => !domain.is(key) || codomain.is(value))
      if (end === undefined) return plain.validate(input, context)
      const begun = plain.validate(Object.fromEntries(members.slice(0, end)), context)
      return E.isLeft(begun) ? begun : plain.validate(input, context)
    },
    plain.encode,
    domain,
    codomain,
  )
}

/** The index after the last invalid item that a refusal names; `undefined` if there are fewer. */
const endOfInvalid = <A>(items: ReadonlyArray<A>, isValid: (item: A) => boolean): number | undefined => {
  let invalid = 0
  // With an index, because a hole of a sparse list is invalid, too.
  for (let i = 0; i < items.length; i++) if (!isValid(items[i] as A) && ++invalid === errorsMax) return i + 1
  return undefined
}
