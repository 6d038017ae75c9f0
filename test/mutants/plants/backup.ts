/** Backups: what is in a copy of a data folder, and what a failure leaves. And who can read folders with data. */
import type { Plant } from '../plant.js'

const backup = 'packages/adapters/src/backup/'
const killedBy = ['test/backup/backup.test.ts']

export const backupPlants: ReadonlyArray<Plant> = [
  {
    title: 'a backup lacks the keys of erasable tasks',
    file: `${backup}backup.ts`,
    find: 'if (keys !== undefined && (await exists(keys))) await copyDatabase(keys, `${to}.keys`)',
    replace: 'void keys',
    killedBy,
  },
  {
    title: 'a backup of a folder that may not be written does not name it',
    file: `${backup}copy-data.ts`,
    find: '/^SQLITE_(READONLY|CANTOPEN)/.test(error.code)',
    replace: "error.code === ''",
    killedBy,
    named: 'may not be written',
  },
  {
    title: 'a backup lacks the archive',
    file: `${backup}backup.ts`,
    find: 'if (archive !== undefined && (await exists(archive))) {',
    replace: "if (archive !== undefined && archive === '') {",
    killedBy,
  },
  {
    title: 'copied secrets can be read by everybody on the machine',
    file: `${backup}copy-data.ts`,
    find: "closeSync(openSync(to, 'wx', mode & 0o777))",
    replace: "closeSync(openSync(to, 'wx', 0o644 | (mode & 0)))",
    killedBy,
  },
  {
    title: 'a failed backup leaves its unfinished folder',
    file: `${backup}backup.ts`,
    find: 'await rm(unfinished, { recursive: true, force: true })',
    replace: '',
    killedBy,
  },
  {
    title: 'a backup into a folder that is there',
    file: `${backup}backup.ts`,
    find: 'if (await exists(target)) throw',
    replace: 'if ((await exists(target)) && false) throw',
    killedBy,
  },
  {
    title: 'a backup begins anew after each append of a server',
    file: `${backup}copy-data.ts`,
    find: "db.exec('BEGIN')",
    replace: '',
    killedBy,
  },
  {
    title: 'a backup copies a large log in one step',
    file: `${backup}copy-data.ts`,
    find: 'return stepPages',
    replace: 'return stepPages * 1e6',
    killedBy,
  },
  {
    title: 'a backup goes on after a signal',
    file: 'packages/adapters/src/cli/interruptible.ts',
    find: 'ended.abort(new Interrupted(`interrupted by ${name}`))',
    replace: 'void [ended, Interrupted, name]',
    killedBy,
  },
  {
    title: 'the copy of a read-only folder is read-only',
    file: `${backup}copy-data.ts`,
    find: ' & 0o777) | 0o700',
    replace: ' & 0o777) | 0',
    killedBy,
  },
  {
    title: 'a backup names a missing archive by the name of an unfinished copy',
    file: `${backup}backup.ts`,
    find: 'replaceAll(address.file, () => source)',
    replace: 'replaceAll(source, () => source)',
    killedBy,
  },
  { title: 'a backup is of another folder than that of DAYBOOK_DATA', file: 'packages/adapters/src/cli/commands/backup.ts', find: "cli.io.env.DAYBOOK_DATA || dataDirDefault", replace: 'dataDirDefault', killedBy: ['test/backup/backup.test.ts'] },
  {
    title: 'other users of the machine can read a new data folder',
    file: 'packages/adapters/src/disk/make-folder.ts',
    find: 'makeWithParents(resolve(path), ownerOnly)',
    replace: 'makeWithParents(resolve(path), 0o777 | ownerOnly)',
    killedBy: ['test/files/private-folders.test.ts'],
  },
  {
    title: 'other users of the machine can list the segments of a new archive',
    file: 'packages/adapters/src/archive/archive-stream.ts',
    find: 'makeFolder(archive)',
    replace: '',
    killedBy: ['test/files/private-folders.test.ts'],
  },
  {
    title: 'a backup lacks the archive of a queue whose name ends like a side file',
    file: `${backup}copy-data.ts`,
    find: 'if (isLeftOut(join(below, name))) continue',
    replace: 'if (isSideFile(name) || isLeftOut(join(below, name))) continue',
    killedBy,
    named: 'side file of SQLite',
  },
]
