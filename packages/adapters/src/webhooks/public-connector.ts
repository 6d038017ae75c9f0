/** Connections for webhooks that allow public addresses only. Apart from `addresses.ts`, so that a server without webhooks does not load undici. */
import { lookup as resolve } from 'node:dns/promises'
import { isIP } from 'node:net'
import { buildConnector } from 'undici'
import { whyNotPublic } from './addresses.js'

type Connector = ReturnType<typeof buildConnector>

export interface Address {
  readonly address: string
  readonly family: number
}

/** All addresses of a host. */
export type Resolve = (host: string) => Promise<ReadonlyArray<Address>>
const systemResolve: Resolve = (host) => resolve(host, { all: true })

export class ForbiddenAddress extends Error {
  override readonly name = 'ForbiddenAddress'
}

/** @throws ForbiddenAddress unless all addresses are public. */
const check = (host: string, addresses: ReadonlyArray<Address>): ReadonlyArray<Address> => {
  for (const { address } of addresses) {
    const why = whyNotPublic(address)
    if (why !== undefined) throw new ForbiddenAddress(`${address === host ? host : `${host} is ${address}, which`} is ${why}: to send there, set allowPrivateAddresses: true for this webhook`)
  }
  return addresses
}

/**
 * Connects only to public addresses. A name is resolved once for each connection, and the checked address is the one that is used. So a name cannot
 * mean another address after the check.
 */
export const publicConnector = (timeoutMs: number, resolveHost: Resolve = systemResolve): Connector => {
  const connector = buildConnector({
    timeout: timeoutMs,
    lookup: (host, { all }, callback) => {
      resolveHost(host).then((addresses) => {
        const checked = check(host, addresses)
        const [first] = checked
        if (first === undefined) return callback(new Error(`${host} has no address`), '')
        return all === true ? callback(null, [...checked]) : callback(null, first.address, first.family)
      }).catch((error: unknown) => callback(error as Error, ''))
    },
  })
  return (options, callback) => {
    // Names are checked when they are resolved. Literal addresses are not resolved, so they are checked here.
    const host = options.hostname.replace(/^\[(.*)\]$/, '$1')
    const why = isIP(host) === 0 ? undefined : whyNotPublic(host)
    if (why !== undefined) return callback(new ForbiddenAddress(`${host} is ${why}: to send there, set allowPrivateAddresses: true for this webhook`), null)
    return connector(options, callback)
  }
}
