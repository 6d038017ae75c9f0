/** How tokens are made and stored. 256 random bits cannot be guessed, so a slow hash would add nothing. */
import { createHash, randomBytes } from 'node:crypto'

export const newToken = (): string => `dbk_${randomBytes(32).toString('base64url')}`

/** The hash in hex. */
export const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex')
