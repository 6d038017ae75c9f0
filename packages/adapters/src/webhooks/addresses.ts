/** The addresses to which the server connects for a webhook. Nobody may use it to reach addresses that only the server can reach. */
import { lookup as resolve } from 'node:dns/promises'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { buildConnector } from 'undici'

type Connector = ReturnType<typeof buildConnector>

/** Why no message is sent to this address; `undefined` if the address is public. */
export const whyNotPublic = (address: string): string | undefined => {
  if (!ipaddr.isValid(address)) return 'no IP address'
  // An IPv4 address within IPv6 (::ffff:10.0.0.1) is judged as IPv4.
  const parsed = ipaddr.process(address)
  const range = parsed.range()
  if (range !== 'unicast') return words[range] ?? 'a reserved address'
  // Other addresses may be called unicast, but no public IPv6 address is outside of 2000::/3.
  return parsed instanceof ipaddr.IPv6 && !parsed.match(publicIPv6) ? 'a reserved address' : undefined
}

const publicIPv6 = ipaddr.IPv6.parseCIDR('2000::/3')

const words: Readonly<Record<string, string>> = {
  loopback: 'a loopback address',
  private: 'a private address',
  uniqueLocal: 'a private address',
  carrierGradeNat: 'a private address',
  linkLocal: 'a link-local address',
  multicast: 'a multicast address',
  broadcast: 'a broadcast address',
  unspecified: 'an unspecified address',
}

export interface Address {
  readonly address: string
  readonly family: number
}

/** All addresses of a host. */
export type Resolve = (host: string) => Promise<ReadonlyArray<Address>>
export const systemResolve: Resolve = (host) => resolve(host, { all: true })

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
