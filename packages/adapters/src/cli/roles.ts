/** The roles of tokens, in the order of the help. */
import type { TokenRole } from '../client/index.js'

export const tokenRoles: ReadonlyArray<TokenRole> = ['producer', 'worker', 'operator', 'guardian', 'auditor', 'admin']
