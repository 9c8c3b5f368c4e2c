import { BlockList, isIPv6 } from 'node:net'

/** Networks that are nobody's business from outside: private, loopback, link-local, shared, documentation, multicast, reserved. */
const networks: readonly (readonly [network: string, bits: number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  // Only an eighth of IPv6 has been given out; what lies outside of it leads inside, or to an IPv4 address in disguise.
  ['::', 3],
  ['4000::', 2],
  ['8000::', 1],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
]

/** A list for each family: an IPv4 address would also be found in the networks of IPv6 that stand for all of them. */
const closed = (family: 'ipv4' | 'ipv6'): BlockList => {
  const list = new BlockList()
  for (const [network, bits] of networks) if (isIPv6(network) === (family === 'ipv6')) list.addSubnet(network, bits, family)
  return list
}

let known: { readonly ipv4: BlockList; readonly ipv6: BlockList } | undefined

/** Whether a resolved address is one of the public Internet. An IPv4 address in the clothes of an IPv6 one is judged as what it is. */
export function isPublic(address: string): boolean {
  known ??= { ipv4: closed('ipv4'), ipv6: closed('ipv6') }
  const bare = address.replace(/%.*$/, '')
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare) ?? []
  if (mapped !== undefined) return !known.ipv4.check(mapped, 'ipv4')
  return isIPv6(bare) ? !known.ipv6.check(bare, 'ipv6') : !known.ipv4.check(bare, 'ipv4')
}
