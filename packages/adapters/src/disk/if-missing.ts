/** For `catch`: nothing, if the file or folder is not there. */
export const ifMissing = (error: NodeJS.ErrnoException): ReadonlyArray<never> => {
  if (error.code === 'ENOENT') return []
  throw error
}

/** The same, with `undefined` instead of an empty list. */
export const undefinedIfMissing = (error: NodeJS.ErrnoException): undefined => {
  if (error.code !== 'ENOENT') throw error
}
