/** Members and values that may be `undefined`. */

/** The type in which each member that may be `undefined` is one that may be left out. */
type Defined<T> = { readonly [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & { readonly [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined> }

/** Without the members that are `undefined`. */
export const defined = <T extends object>(value: T): Defined<T> => Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Defined<T>

/** `undefined` stays `undefined`. */
export const ifDefined = <A, B>(value: A | undefined, of: (value: A) => B): B | undefined => (value === undefined ? undefined : of(value))
