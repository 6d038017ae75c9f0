/** The private key that signs checkpoints. It is made at the first start, and only its owner can read the file. */
import crypto, { type KeyObject } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Signer } from './note.js'

/** The file of the key in a data folder. */
export const signingKeyFileOf = (dataDir: string): string => join(dataDir, 'checkpoint-key.pem')

/** @throws Error if the file cannot be read or made, or holds another kind of key. */
export const openSigningKey = (file: string): KeyObject => keyIn(read(file) ?? make(file), file)

/**
 * The key; `undefined` if there is no file.
 *
 * @throws Error if the file cannot be read, or holds another kind of key.
 */
export const readSigningKey = (file: string): KeyObject | undefined => {
  const text = read(file)
  return text === undefined ? undefined : keyIn(text, file)
}

const keyIn = (text: string, file: string): KeyObject => {
  const key = privateKeyIn(text, file)
  if (key.asymmetricKeyType !== 'ed25519') throw new Error(`${file} holds a key of type ${key.asymmetricKeyType ?? 'none'}; checkpoints are signed with Ed25519`)
  return key
}

const privateKeyIn = (text: string, file: string): KeyObject => {
  try {
    return crypto.createPrivateKey(text)
  } catch (error) {
    // OpenSSL's words name neither the file nor what it is for.
    throw new Error(`${file} holds no private key that signs checkpoints: restore it from a backup. Or move it away, and another one is made; move the files in checkpoints away as well, because a queue is signed by one key only`, { cause: error })
  }
}

const read = (file: string): string | undefined => {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new Error(`the key of the checkpoints cannot be read: ${file}: ${(error as Error).message}`, { cause: error })
  }
}

const make = (file: string): string => {
  const { privateKey } = crypto.generateKeyPairSync('ed25519')
  const text = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()
  // It has another name until it is complete: half a key would stop every later start.
  const whole = `${file}.${process.pid}.new`
  const descriptor = openSync(whole, 'w', 0o600)
  try {
    writeSync(descriptor, text)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  try {
    linkSync(whole, file)
    syncPathOf(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    // Another process made one at the same moment: that key is used.
    return readFileSync(file, 'utf8')
  } finally {
    unlinkSync(whole)
  }
  return text
}

/** So that a power cut does not take the key away again: a queue is signed by one key only. */
const syncPathOf = (file: string): void => {
  const folder = openSync(dirname(file), 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

/** The signer of this queue's checkpoints. Its name is the origin of the queue's log, and begins with a word that only this key has. */
export const signerOf = (privateKey: KeyObject, queue: string): Signer => {
  const publicKey = crypto.createPublicKey(privateKey)
  const id = crypto.createHash('sha256').update(publicKey.export({ format: 'der', type: 'spki' })).digest('hex').slice(0, 8)
  return { name: `daybook-${id}/${encodeURIComponent(queue)}`, publicKey }
}
