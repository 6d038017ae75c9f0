/** Whether an address can be reached only from this machine. */
import { isIP } from 'node:net'

/** True for a literal loopback address and for `localhost`. Other names are not looked up, because their meaning can change. */
export const isLoopback = (host: string): boolean => {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase()
  if (bare === 'localhost') return true
  switch (isIP(bare)) {
    case 4:
      return bare.startsWith('127.')
    case 6:
      return bare === '::1' || bare.startsWith('::ffff:127.')
    default:
      return false
  }
}

/** Why a server on this address may not run without tokens; `undefined` if it may. */
export const refusalOfAuthOff = (host: string): string | undefined =>
  isLoopback(host)
    ? undefined
    : `--auth off is accepted on a loopback address only, and ${host} is none: leave --auth out, or listen on 127.0.0.1`
