/**
 * The form of encrypted content: the text `A256GCM.KEY.BOX` instead of the event's content, which is otherwise an object. KEY is the key's id, and
 * BOX holds the nonce, the ciphertext and the tag of AES-256-GCM. The tag also covers stream, id, type and facts of the event, so encrypted content
 * cannot be moved to another event.
 *
 * Two parts are encrypted: the members that were withheld from the facts, and the content. Between them is a line feed, which JSON contains only as
 * an escape. Each part may be empty.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { type RecordedEvent, StoreError } from '../store/index.js'
import { type KeyReader, keyBytes, type TaskKey } from './key-store.js'

const algorithm = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16
const keyIdBytes = 12

export const newKey = (): TaskKey => ({ id: randomBytes(keyIdBytes).toString('base64url'), key: randomBytes(keyBytes) })

/** What the encrypted text belongs to. `facts`: the text of the event's data up to its content. */
export interface Place {
  readonly stream: string
  readonly id: string
  readonly type: string
  readonly facts: string
}

const boundTo = ({ stream, id, type, facts }: Place): Buffer => Buffer.from([stream, id, type, facts].join('\n'))

export interface Secret {
  /** JSON text of the withheld members; empty if there are none. */
  readonly members: string
  /** JSON text of the content; empty if there is none. */
  readonly content: string
}

const mark = ',"content":"A256GCM.'

/** The text of the event's data. */
export const encryptedData = (place: Place, { id, key }: TaskKey, { members, content }: Secret): string => {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv(algorithm, key, nonce).setAAD(boundTo(place))
  const box = Buffer.concat([nonce, cipher.update(`${members}\n${content}`, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return `${place.facts}${mark}${id}.${box.toString('base64url')}"}`
}

interface Found {
  readonly facts: string
  readonly keyId: string
  readonly box: string
}

const rest = /^([\w-]{16})\.([\w-]+)"\}$/

/**
 * The parts of an event's data, if its content is encrypted. Users cannot write data in this form: contents are objects, so their data end with two
 * braces, and quotes within a text are escaped.
 */
export const encryptedIn = (data: string): Found | undefined => {
  if (!data.endsWith('"}')) return undefined
  const at = data.lastIndexOf(mark)
  if (at < 0) return undefined
  const [, keyId, box] = rest.exec(data.slice(at + mark.length)) ?? []
  return keyId === undefined || box === undefined ? undefined : { facts: data.slice(0, at), keyId, box }
}

/** Why content is not shown. `encrypted`: to a reader that has no keys by design, such as a read model. */
export type WhyWithheld = 'encrypted' | 'erased' | 'key-missing' | 'damaged'

/** The replacement for the content. */
export const withheldContent = (why: WhyWithheld): string => `{"withheld":"${why}"}`

/** Why this content is not shown; `undefined` if it is real content, which never has such a member. */
export const whyWithheld = (content: string): WhyWithheld | undefined => {
  const [, why] = /^\{"withheld":"(encrypted|erased|key-missing|damaged)"\}$/.exec(content) ?? []
  return why as WhyWithheld | undefined
}

/** The text of the event's data as it was before encryption, or with the reason why it cannot be shown. All decryption is done here. */
export const revealedData = (event: Pick<RecordedEvent, 'stream' | 'id' | 'type' | 'data'>, keys: KeyReader): string => {
  const found = encryptedIn(event.data)
  if (found === undefined) return event.data
  const { facts, keyId, box } = found
  const withheld = (why: WhyWithheld): string => `${facts},"content":${withheldContent(why)}}`
  const key = findKey(keys, keyId)
  if (key === undefined) return withheld('key-missing')
  if (key === 'erased') return withheld('erased')
  const plain = decrypted({ stream: event.stream, id: event.id, type: event.type, facts }, key, Buffer.from(box, 'base64url'))
  if (plain === undefined) return withheld('damaged')
  const end = plain.indexOf('\n')
  const [members, content] = [plain.slice(0, end), plain.slice(end + 1)]
  const whole = members === '' ? facts : withMembers(facts, members)
  return content === '' ? `${whole}}` : `${whole},"content":${content}}`
}

const findKey = (keys: KeyReader, id: string): ReturnType<KeyReader['find']> => {
  try {
    return keys.find(id)
  } catch (error) {
    throw new StoreError('unavailable', `the keys of erasable tasks cannot be read: ${(error as Error).message}`, { cause: error })
  }
}

/** The decrypted text; `undefined` if the box, or what it belongs to, was altered. */
const decrypted = (place: Place, key: Buffer, box: Buffer): string | undefined => {
  if (box.length < nonceBytes + tagBytes) return undefined
  const decipher = createDecipheriv(algorithm, key, box.subarray(0, nonceBytes), { authTagLength: tagBytes }).setAAD(boundTo(place)).setAuthTag(box.subarray(-tagBytes))
  try {
    return decipher.update(box.subarray(nonceBytes, -tagBytes), undefined, 'utf8') + decipher.final('utf8')
  } catch {
    // `final` throws if the tag does not match.
    return undefined
  }
}

/** The facts, with the members instead of their stand-ins. */
const withMembers = (facts: string, members: string): string => JSON.stringify({ ...(JSON.parse(`${facts}}`) as object), ...(JSON.parse(members) as object) }).slice(0, -1)
