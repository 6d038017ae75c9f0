/** Signatures by Standard Webhooks (https://www.standardwebhooks.com). */
import { createHmac } from 'node:crypto'

export const secretPrefix = 'whsec_'
/** The allowed length of a secret in bytes. */
const secretBytes = { min: 24, max: 64 } as const

/** The bytes of `whsec_…`; `undefined` if the text has another form, or the wrong length. */
export const readSecret = (text: string): Buffer | undefined => {
  const encoded = text.startsWith(secretPrefix) ? text.slice(secretPrefix.length) : ''
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) return undefined
  const bytes = Buffer.from(encoded, 'base64')
  return bytes.length >= secretBytes.min && bytes.length <= secretBytes.max ? bytes : undefined
}

/** The value of `webhook-signature`: one signature for each secret. `timestamp` in seconds since 1970. */
export const signatureOf = (secrets: ReadonlyArray<Buffer>, id: string, timestamp: number, body: string): string =>
  secrets.map((secret) => `v1,${createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64')}`).join(' ')
