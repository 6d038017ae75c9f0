import { accessSync, constants, existsSync } from 'node:fs'
import { join } from 'node:path'
import { takeServerLock } from '../sqlite/index.js'

/**
 * Allows one server per data folder, whatever its store is: tokens, snapshots, read models, checkpoints and what was sent to webhooks are of one server.
 * Commands and embedded queues that use the folder beside it do not take this lock. Returns its release.
 */
export const lockDataFolder = (dir: string): (() => void) => {
  const file = join(dir, 'server')
  // SQLite's own words would not name what may not be used.
  for (const path of [dir, `${file}.lock`]) if (existsSync(path)) accessSync(path, constants.W_OK)
  return takeServerLock(file, 'exclusive', `another server uses the data folder ${dir}: stop that one, or give this one a --data of its own`).release
}
