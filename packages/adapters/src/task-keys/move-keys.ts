import { existsSync, realpathSync, rmSync } from 'node:fs'
import Database from 'better-sqlite3'
import { KeyFile } from './key-file.js'

/**
 * Moves the keys of one file into another, and deletes the first. No program may have it open. A crash loses no key: they are on disk in the second
 * file before they are deleted in the first, and moving them again changes nothing.
 *
 * @param from need not exist.
 * @throws Error if one of the files cannot be read or written.
 */
export const moveKeys = (from: string, into: string): void => {
  if (!existsSync(from)) return
  // One may be a link to the other. Then all keys are where they should be.
  if (existsSync(into) && realpathSync(from) === realpathSync(into)) return
  const [source, target] = [new KeyFile(from), new KeyFile(into)]
  // Opening checks both files, and creates the tables.
  source.open()
  target.open()
  source.close()
  target.close()
  const db = new Database(into)
  try {
    db.pragma('synchronous = FULL')
    db.prepare('ATTACH ? AS source').run(from)
    db.pragma('secure_delete = ON')
    // An erased key stays erased, whichever file says so.
    db.exec(`
      BEGIN IMMEDIATE;
      INSERT INTO main.keys SELECT id, queue, task, revision, key FROM source.keys WHERE true ON CONFLICT (id) DO UPDATE SET key = NULL WHERE excluded.key IS NULL;
      INSERT INTO main.intentions SELECT queue, task, revision FROM source.intentions EXCEPT SELECT queue, task, revision FROM main.intentions;
      COMMIT;
    `)
    // A transaction of its own: over two files with WALs, a crash may keep one half of a transaction, and that could be the deletion.
    db.exec('DELETE FROM source.keys; DELETE FROM source.intentions')
    db.pragma('wal_checkpoint(TRUNCATE)')
  } finally {
    db.close()
  }
  for (const end of ['-wal', '-shm', '']) rmSync(`${from}${end}`, { force: true })
}
