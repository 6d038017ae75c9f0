/** The optional members may also be given as `undefined`, which JSON leaves out: a program under `exactOptionalPropertyTypes` writes `errors: found.errors`. */
export type MayLack<T> = { readonly [K in keyof T]: T extends Required<Pick<T, K>> ? T[K] : T[K] | undefined }

/** The same at any depth. */
export type MayLackAnywhere<T> = T extends ReadonlyArray<unknown> ? T : T extends object ? { readonly [K in keyof T]: MayLackAnywhere<T[K]> | (T extends Required<Pick<T, K>> ? never : undefined) } : T
