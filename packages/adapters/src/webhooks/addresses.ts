/** The addresses to which the server connects for a webhook. Nobody may use it to reach addresses that only the server can reach. */
import ipaddr from 'ipaddr.js'

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
