/** The private key that signs checkpoints: made at the first start, for the owner's eyes alone. */
import crypto, { type KeyObject } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs'
import type { Signer } from './note.js'

/** @throws Error if the file cannot be read or made, or holds another kind of key. */
export const openSigningKey = (file: string): KeyObject => {
  const key = crypto.createPrivateKey(readOrMake(file))
  if (key.asymmetricKeyType !== 'ed25519') throw new Error(`${file} holds a key of type ${key.asymmetricKeyType ?? 'none'}; checkpoints are signed with Ed25519`)
  return key
}

const readOrMake = (file: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw new Error(`the key of the checkpoints cannot be read: ${(error as Error).message}`, { cause: error })
  }
  const { privateKey } = crypto.generateKeyPairSync('ed25519')
  const text = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()
  // Under another name until it is whole: half a key would stop every later start.
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
    // Another process made one in the same moment: that one counts.
    return readFileSync(file, 'utf8')
  } finally {
    unlinkSync(whole)
  }
  return text
}

/** Whose checkpoints of this queue are: the name, which is the origin of its log, begins with a word that is the key's alone. */
export const signerOf = (privateKey: KeyObject, queue: string): Signer => {
  const publicKey = crypto.createPublicKey(privateKey)
  const id = crypto.createHash('sha256').update(publicKey.export({ format: 'der', type: 'spki' })).digest('hex').slice(0, 8)
  return { name: `daybook-${id}/${encodeURIComponent(queue)}`, publicKey }
}
