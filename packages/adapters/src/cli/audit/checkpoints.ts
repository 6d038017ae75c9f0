/** Finds the signed checkpoints and the key that the options of `audit verify`, `prove` and `check` name. */
import { readFile } from 'node:fs/promises'
import type { SignedCheckpoints, Signer } from '../../chain/index.js'
import { CliError } from '../exit-codes.js'
import type { Where } from './options.js'

export interface CheckpointFlags extends Where {
  readonly checkpoints?: string
  readonly checkpointKey?: string
}

/** @throws CliError if it cannot be read. */
export const readText = (file: string): Promise<string> => readFile(file, 'utf8').catch((error: Error) => Promise.reject(new CliError(`${file} cannot be read: ${error.message}`)))

/**
 * @param keyOrFile The word in `QUEUE.key`, or a file that contains it.
 * @throws CliError if it is neither.
 */
export const verifierKey = async (keyOrFile: string): Promise<Signer> => {
  const { readVerifierKey } = await import('../../chain/index.js')
  const signer = readVerifierKey(keyOrFile) ?? readVerifierKey(await readText(keyOrFile))
  if (signer === undefined) throw new CliError(`${keyOrFile} is no key that verifies checkpoints: the server writes it as checkpoints/QUEUE.key`)
  return signer
}

/**
 * The checkpoints that the options name; by default those of the data folder. `undefined` if there are none.
 *
 * @throws CliError if a key is named and there is nothing that it could verify.
 */
export const checkpointsOf = async ({ data, checkpoints: file, checkpointKey }: CheckpointFlags, queue: string): Promise<SignedCheckpoints | undefined> => {
  const { checkpointFolderOf, readCheckpoints, splitNotes } = await import('../../chain/index.js')
  const trusted = checkpointKey === undefined ? undefined : await verifierKey(checkpointKey)
  // The folder may have lost its own: a witness's file and a key say all that is needed.
  const isGiven = file !== undefined && trusted !== undefined
  const there = data === undefined || isGiven ? undefined : await readCheckpoints(checkpointFolderOf(data), queue, trusted)
  const signer = trusted ?? there?.signer
  const notes = file === undefined ? there?.notes : splitNotes(await readText(file))
  if (notes === undefined) {
    // Somebody who names a key wants a comparison. Whoever rewrites a log may also remove all its checkpoints.
    if (trusted !== undefined) throw new CliError(`nothing was compared with a checkpoint: ${data === undefined ? 'give --checkpoints, or --data' : `${checkpointFolderOf(data)} has none of queue ${queue}. If some were signed by ${trusted.name}, they were removed: restore them, or give those of a witness with --checkpoints`}`)
    return undefined
  }
  if (signer === undefined) throw new CliError('which key signed these checkpoints? Give --checkpoint-key')
  // A witness's file may have the checkpoints of several queues.
  const { name } = signer
  if (file === undefined) return { signer, notes }
  const own = notes.filter((note) => note.startsWith(`${name}\n`))
  if (own.length === 0) throw new CliError(`${file} has no checkpoint of ${name}`)
  return { signer, notes: own }
}
