/** For `catch`: nothing, if the file or folder is not there. */
export const ifMissing = (error: NodeJS.ErrnoException): ReadonlyArray<never> => {
  if (error.code === 'ENOENT') return []
  throw error
}
