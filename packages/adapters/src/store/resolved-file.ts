import { realpathSync } from 'node:fs'

/** A log is one log, whatever links lead to it. */
export const resolvedFile = (file: string): string => {
  try {
    return realpathSync(file)
  } catch {
    return file
  }
}
