/** Checks whether a program can be started, before any task is claimed for it. */
import { access, constants, stat } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

type Found = 'yes' | 'missing' | 'forbidden'

const look = async (file: string): Promise<Found> => {
  try {
    if (!(await stat(file)).isFile()) return 'forbidden'
    await access(file, constants.X_OK)
    return 'yes'
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES' ? 'forbidden' : 'missing'
  }
}

/**
 * Why `command` cannot be started, in words; `undefined` if no reason is known.
 *
 * *Gotchas*: a script whose interpreter is missing passes the check. On Windows, which has its own rules, everything passes.
 */
export const cannotStart = async (command: string, path: string | undefined): Promise<string | undefined> => {
  if (process.platform === 'win32') return undefined
  const files = command.includes('/') ? [command] : (path ?? '/bin:/usr/bin').split(delimiter).map((folder) => join(folder, command))
  let found: Found = 'missing'
  for (const file of files) {
    const one = await look(file)
    if (one === 'yes') return undefined
    if (one === 'forbidden') found = one
  }
  return found === 'missing' ? `${command} cannot be found` : `${command} may not be run: it is no program, or lacks chmod +x`
}
