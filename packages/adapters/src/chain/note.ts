/**
 * Signed notes and checkpoints, in the form of C2SP (signed-note, tlog-checkpoint), so that tools and witnesses of transparency logs can read them:
 *
 *     daybook-3f9c2a71/default            origin: the name of the log
 *     1042                                number of events
 *     9sL2…=                              root of the tree over them, base64
 *
 *     — daybook-3f9c2a71/default Pm1x…    Ed25519 over the lines above
 */
import crypto, { type KeyObject } from 'node:crypto'

export interface Checkpoint {
  readonly origin: string
  readonly size: number
  readonly root: Buffer
}

/** The name and key of a signer. */
export interface Signer {
  readonly name: string
  readonly publicKey: KeyObject
}

const algorithm = 1
const keyBytes = 32

const rawOf = (publicKey: KeyObject): Buffer => Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url')

const typedKey = (publicKey: KeyObject): Buffer => Buffer.concat([Buffer.of(algorithm), rawOf(publicKey)])

/** Identifies the key: the first four bytes of a hash of name and key. */
const keyId = ({ name, publicKey }: Signer): Buffer =>
  crypto.createHash('sha256').update(`${name}\n`).update(typedKey(publicKey)).digest().subarray(0, 4)

/** The public key as one word for others: `name+id+key`. */
export const verifierKey = (signer: Signer): string => `${signer.name}+${keyId(signer).toString('hex')}+${typedKey(signer.publicKey).toString('base64')}`

/** Reads a verifier key; `undefined` if it is not one of Ed25519. */
export const readVerifierKey = (text: string): Signer | undefined => {
  const [, name = '', id = '', key = ''] = /^([^+\s]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/.exec(text.trim()) ?? []
  const bytes = Buffer.from(key, 'base64')
  if (bytes.length !== keyBytes + 1 || bytes[0] !== algorithm) return undefined
  const publicKey = crypto.createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x: bytes.subarray(1).toString('base64url') } })
  const signer = { name, publicKey }
  return keyId(signer).toString('hex') === id ? signer : undefined
}

export const checkpointText = ({ origin, size, root }: Checkpoint): string => `${origin}\n${size}\n${root.toString('base64')}\n`

/** The note with a signature. */
export const signNote = (text: string, signer: Signer, privateKey: KeyObject): string => {
  const signature = Buffer.concat([keyId(signer), crypto.sign(null, Buffer.from(text), privateKey)])
  return `${text}\n— ${signer.name} ${signature.toString('base64')}\n`
}

/** The text of a note that this signer has signed; otherwise `undefined`. Signatures of others, such as witnesses, are ignored. */
export const openNote = (note: string, signer: Signer): string | undefined => {
  const end = note.lastIndexOf('\n\n')
  if (end < 0 || !note.endsWith('\n')) return undefined
  const text = note.slice(0, end + 1)
  for (const line of note.slice(end + 2, -1).split('\n')) {
    const [dash, name, encoded = '', ...rest] = line.split(' ')
    const bytes = Buffer.from(encoded, 'base64')
    if (dash !== '—' || rest.length > 0 || name !== signer.name || !bytes.subarray(0, 4).equals(keyId(signer))) continue
    if (crypto.verify(null, Buffer.from(text), signer.publicKey, bytes.subarray(4))) return text
  }
  return undefined
}

/** Reads the text of a checkpoint; `undefined` if it is not one. Lines after the third are extensions. */
export const readCheckpoint = (text: string): Checkpoint | undefined => {
  const [origin = '', size = '', root = ''] = text.split('\n')
  const bytes = Buffer.from(root, 'base64')
  if (origin === '' || !/^(0|[1-9]\d{0,15})$/.test(size) || bytes.length !== 32 || bytes.toString('base64') !== root) return undefined
  return { origin, size: Number(size), root: bytes }
}

/** The notes of a file, which are separated by empty lines. */
export const splitNotes = (text: string): ReadonlyArray<string> => {
  const notes: Array<string> = []
  let lines: Array<string> = []
  let isSigned = false
  for (const line of text.split('\n')) {
    // A note has one empty line, before its signatures. The next empty line ends it.
    if (line === '' && isSigned) {
      notes.push(`${lines.join('\n')}\n`)
      lines = []
      isSigned = false
      continue
    }
    if (line === '' && lines.length === 0) continue
    lines.push(line)
    if (line.startsWith('— ')) isSigned = true
  }
  if (lines.some((line) => line !== '')) notes.push(`${lines.join('\n')}\n`)
  return notes
}
