/**
 * The files of checkpoints, in the folder `checkpoints` of a data folder. For each queue:
 *
 *     QUEUE.checkpoints    all signed checkpoints, oldest first; append-only
 *     QUEUE.key            the public key that verifies them
 *     QUEUE.tree           the end of the tree at the last checkpoint; a cache. It is written after the first checkpoint
 */
import { mkdir, open, readdir, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { plural } from '@daybook/core'
import { ifMissing } from '../disk/if-missing.js'
import { syncPath } from '../disk/sync-path.js'
import { StoreError } from '../store/index.js'
import { type Checkpoint, openNote, readCheckpoint, readVerifierKey, type Signer, splitNotes, verifierKey } from './note.js'
import { Tree } from './tree.js'
import type { SealPlace } from './verify.js'

/** Checkpoints, and the key that is trusted. */
export interface SignedCheckpoints {
  readonly signer: Signer
  readonly notes: ReadonlyArray<string>
}

/** The end of a tree, the leaf hash of its last event, and the last seal up to there, if there is one. */
export interface TreePlace {
  readonly tree: Tree
  readonly leaf: string
  readonly seal: SealPlace | undefined
}

/** `undefined` if there is no file. Node's words do not always name the file. */
const textOf = (file: string): Promise<string | undefined> =>
  readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw new Error(`${file} cannot be read: ${error.message}`, { cause: error })
  })

export const checkpointFolderOf = (dataDir: string): string => join(dataDir, 'checkpoints')

const fileOf = (folder: string, queue: string, ending: string): string => join(folder, `${encodeURIComponent(queue)}.${ending}`)

/** How many events a tree has, according to its file; 0 if it cannot be read. */
const treeSize = (text: string): number => {
  try {
    const { size } = JSON.parse(text) as { readonly size?: unknown }
    return typeof size === 'number' ? size : 0
  } catch {
    return 0
  }
}

/** The files of a queue that tell whether its checkpoints are whole. `undefined` for one that is missing. */
interface Texts {
  readonly tree: string | undefined
  readonly checkpoints: string | undefined
  readonly key: string | undefined
}

/** Read in the reverse of the order in which a server writes them, so that it may do so meanwhile. */
const readTexts = async (folder: string, queue: string): Promise<Texts> => {
  const tree = await textOf(fileOf(folder, queue, 'tree'))
  const checkpoints = await textOf(fileOf(folder, queue, 'checkpoints'))
  return { tree, checkpoints, key: await textOf(fileOf(folder, queue, 'key')) }
}

/**
 * Why the checkpoints of a queue are lost, all of them or the last ones; `undefined` if they are not. A key alone tells nothing: it is written before
 * the first checkpoint, and a crash may have come between. `sizeOf`: for how many events a checkpoint counts.
 */
const lostCheckpoints = (folder: string, queue: string, { tree, checkpoints }: Texts, sizeOf: (note: string) => number): string | undefined => {
  const [file, treeFile] = [fileOf(folder, queue, 'checkpoints'), fileOf(folder, queue, 'tree')]
  const advice = "restore it from a backup or from a witness's file"
  if (checkpoints === undefined) return tree === undefined ? undefined : `${file} is missing, and ${treeFile} says that checkpoints were signed: ${advice}`
  const notes = splitNotes(checkpoints)
  if (notes.length === 0) return `${file} has no checkpoint: ${advice}`
  const signed = tree === undefined ? 0 : treeSize(tree)
  // Mostly it is the last one.
  if (notes.findLast((note) => sizeOf(note) >= signed) !== undefined) return undefined
  const last = notes.reduce((most, note) => Math.max(most, sizeOf(note)), 0)
  return `the last checkpoint in ${file} is of ${plural(last, 'event')}, and ${treeFile} says that ${signed} were signed: what was signed last is gone. Restore both from one backup, or the checkpoints from a witness's file`
}

/** The size of a checkpoint if this signer has signed it; otherwise `another`. */
const signedSize = (signer: Signer, another: number) => (note: string): number => (openNote(note, signer) === undefined ? another : (readCheckpoint(note)?.size ?? another))

/**
 * The checkpoints of a queue in a data folder; `undefined` if there are none. `trusted`: the key that verifies them. Default: the one in the folder.
 *
 * @throws StoreError if checkpoints were signed and are lost, be it only the last ones, or if there are checkpoints and no key.
 */
export const readCheckpoints = async (folder: string, queue: string, trusted?: Signer): Promise<SignedCheckpoints | undefined> => {
  const texts = await readTexts(folder, queue)
  const { checkpoints, key } = texts
  const signer = trusted ?? (key === undefined ? undefined : readVerifierKey(key))
  // Of those that were altered, the comparison with the log tells more.
  const lost = lostCheckpoints(folder, queue, texts, signer === undefined ? () => Infinity : signedSize(signer, Infinity))
  // Without them nothing would be compared, and a log that was cut short would pass.
  if (lost !== undefined) throw new StoreError('damaged', lost)
  if (checkpoints === undefined) return undefined
  // Without it nothing would be compared, and an altered log would pass.
  if (signer === undefined) throw new StoreError('damaged', `${fileOf(folder, queue, 'key')} is ${key === undefined ? 'missing' : 'no key'}: there are checkpoints, and nothing to verify them with`)
  return { signer, notes: splitNotes(checkpoints) }
}

/**
 * Why this signer must not go on with the checkpoints of a queue; `undefined` if it may: one key verifies all of them. Without the public key, the
 * checkpoints tell who signed them.
 */
export const signedByAnother = async (folder: string, queue: string, signer: Signer): Promise<string | undefined> => {
  const [first] = splitNotes((await textOf(fileOf(folder, queue, 'checkpoints'))) ?? '')
  // A key alone tells nothing: a server may have ended before the first checkpoint.
  if (first === undefined) return undefined
  const key = await textOf(fileOf(folder, queue, 'key'))
  const known = key === undefined ? undefined : readVerifierKey(key)
  const isOwn = known === undefined ? openNote(first, signer) !== undefined : verifierKey(known) === verifierKey(signer)
  return isOwn ? undefined : `signed so far by another key: restore checkpoint-key.pem from a backup, or move the files of the queue in ${folder} away`
}

/** The queues of which checkpoints were signed in this folder, whether the log has them or not, and whether the checkpoints are still there or not. */
export const signedQueues = async (folder: string): Promise<ReadonlyArray<string>> => {
  const names = (await readdir(folder).catch(ifMissing)).flatMap((name) => /^(.*)\.(?:checkpoints|tree)$/s.exec(name)?.[1] ?? [])
  return [...new Set(names)].flatMap(queuesNamed)
}

/** The queue whose files begin with this name. None has a name that a server does not write, such as that of a copy made by hand. */
const queuesNamed = (name: string): ReadonlyArray<string> => {
  try {
    const queue = decodeURIComponent(name)
    return encodeURIComponent(queue) === name ? [queue] : []
  } catch {
    return []
  }
}

/** Appends. The bytes are on disk when it returns. */
const appendDurably = async (file: string, text: string): Promise<void> => {
  const handle = await open(file, 'a', 0o644)
  try {
    await handle.appendFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Replaces a file. Whenever a crash comes, the file has the old text or the new one. */
const replace = async (file: string, text: string): Promise<void> => {
  // No other process takes the same name: it would rename this one's file.
  const unfinished = `${file}.${process.pid}.unfinished`
  const handle = await open(unfinished, 'w', 0o644)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(unfinished, file)
}

/** Notes are separated by an empty line. */
const entryOf = (note: string): string => `${note}\n`

export const appendNote = (file: string, note: string): Promise<void> => appendDurably(file, entryOf(note))

export class CheckpointFiles {
  constructor(
    private readonly folder: string,
    private readonly queue: string,
    private readonly signer: Signer,
  ) {}

  /** Why nothing may be signed after these checkpoints; `undefined` if it may. */
  async obstacle(): Promise<string | undefined> {
    const { folder, queue, signer } = this
    // Those that were altered do not count: {@link last} removes them.
    return (await signedByAnother(folder, queue, signer)) ?? lostCheckpoints(folder, queue, await readTexts(folder, queue), signedSize(signer, 0))
  }

  /** The last checkpoint. An unfinished one after it, left by a crash, is removed. */
  async last(): Promise<Checkpoint | undefined> {
    await mkdir(this.folder, { recursive: true })
    const file = this.file('checkpoints')
    const text = await textOf(file)
    if (text === undefined) return undefined
    const notes = splitNotes(text)
    for (let count = notes.length; count > 0; count--) {
      const signed = openNote(notes[count - 1] as string, this.signer)
      const checkpoint = signed === undefined ? undefined : readCheckpoint(signed)
      if (checkpoint === undefined) continue
      const whole = notes.slice(0, count).map(entryOf).join('')
      if (whole !== text) await replace(file, whole)
      return checkpoint
    }
    return undefined
  }

  async place(): Promise<TreePlace | undefined> {
    const text = await textOf(this.file('tree'))
    if (text === undefined) return undefined
    try {
      const { size, hashes, leaf, seal } = JSON.parse(text) as { readonly size: number; readonly hashes: ReadonlyArray<string>; readonly leaf: string; readonly seal?: SealPlace | null }
      // Servers before this version signed without verifying seals.
      return seal === undefined ? undefined : { tree: new Tree(size, hashes.map((hash) => Buffer.from(hash, 'base64'))), leaf, seal: seal ?? undefined }
    } catch {
      // It is a cache: the log is then read from its beginning.
      return undefined
    }
  }

  async add(note: string, { tree, leaf, seal }: TreePlace): Promise<void> {
    await mkdir(this.folder, { recursive: true })
    const own = `${verifierKey(this.signer)}\n`
    // It may be torn, or of a server that ended before its first checkpoint.
    if ((await textOf(this.file('key'))) !== own) await replace(this.file('key'), own)
    const checkpoints = this.file('checkpoints')
    // The first one appears whole: a file without a checkpoint means that somebody removed them.
    if ((await textOf(checkpoints)) === undefined) {
      await replace(checkpoints, entryOf(note))
      await syncPath(this.folder)
    } else await appendNote(checkpoints, note)
    await replace(this.file('tree'), JSON.stringify({ size: tree.size, hashes: tree.subtrees.map((hash) => hash.toString('base64')), leaf, seal: seal ?? null }))
  }

  private file(ending: string): string {
    return fileOf(this.folder, this.queue, ending)
  }
}
