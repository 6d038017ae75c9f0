/** Values that are there at once, or later. */

/** Whether the value is a promise, or anything else that can be awaited. */
export const isPromise = <A>(value: A | Promise<A>): value is Promise<A> =>
  value instanceof Promise || typeof (value as Partial<Promise<A>> | undefined)?.then === 'function'

/** The promise itself, or one of whatever else can be awaited: its `then` may call back at once, more than once, or return nothing. */
export const promiseOf = <A>(value: A | Promise<A>): Promise<A> => Promise.resolve(value)

/** Goes on with the value: at once if it is there, so that what needs no promise makes none. */
export const after = <A, B>(value: A | Promise<A>, next: (value: A) => B | Promise<B>): B | Promise<B> => (isPromise(value) ? promiseOf(value).then(next) : next(value))
