/** The private key that signs checkpoints. It is made at the first start, and only its owner can read the file. */
import crypto, { type KeyObject } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs'
import type { Signer } from './note.js'

/** @throws Error if the file cannot be read or made, or holds another kind of key. */
export const openSigningKey = (file: string): KeyObject => {
  const key = keyIn(readOrMake(file), file)
  if (key.asymmetricKeyType !== 'ed25519') throw new Error(`${file} holds a key of type ${key.asymmetricKeyType ?? 'none'}; checkpoints are signed with Ed25519`)
  return key
}

const keyIn = (text: string, file: string): KeyObject => {
  try {
    return crypto.createPrivateKey(text)
  } catch (error) {
    // OpenSSL's words name neither the file nor what it is for.
    throw new Error(`${file} holds no private key that signs checkpoints: restore it from a backup, or move it away, and another one is made`, { cause: error })
  }
}

const readOrMake = (file: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw new Error(`the key of the checkpoints cannot be read: ${(error as Error).message}`, { cause: error })
  }
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
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    // Another process made one at the same moment: that key is used.
    return readFileSync(file, 'utf8')
  } finally {
    unlinkSync(whole)
  }
  return text
}

/** The signer of this queue's checkpoints. Its name is the origin of the queue's log, and begins with a word that only this key has. */
export const signerOf = (privateKey: KeyObject, queue: string): Signer => {
  const publicKey = crypto.createPublicKey(privateKey)
  const id = crypto.createHash('sha256').update(publicKey.export({ format: 'der', type: 'spki' })).digest('hex').slice(0, 8)
  return { name: `daybook-${id}/${encodeURIComponent(queue)}`, publicKey }
}
