import { realpathSync } from 'node:fs'

/** The real path of a file: a log is the same log, whatever links lead to it. */
export const resolvedFile = (file: string): string => {
  try {
    return realpathSync(file)
  } catch {
    return file
  }
}
