import { BlockList, isIPv6 } from 'node:net'

/** Networks that are not part of the public Internet: private, loopback, link-local, shared, documentation, multicast, reserved. */
const privateNetworks: readonly (readonly [network: string, bits: number])[] = [
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
  // Only 2000::/3 is allocated for global use; the rest is local or embeds an IPv4 address.
  ['::', 3],
  ['4000::', 2],
  ['8000::', 1],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
]

/** One list per family: in a shared one, the IPv6 networks that embed IPv4 would match every IPv4 address. */
const blockListOf = (family: 'ipv4' | 'ipv6'): BlockList => {
  const list = new BlockList()
  for (const [network, bits] of privateNetworks) if (isIPv6(network) === (family === 'ipv6')) list.addSubnet(network, bits, family)
  return list
}

let blockLists: { readonly ipv4: BlockList; readonly ipv6: BlockList } | undefined

/** Whether a resolved address belongs to the public Internet. An IPv4-mapped IPv6 address is judged by its IPv4 address. */
export function isPublic(address: string): boolean {
  blockLists ??= { ipv4: blockListOf('ipv4'), ipv6: blockListOf('ipv6') }
  const bare = address.replace(/%.*$/, '')
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare) ?? []
  if (mapped !== undefined) return !blockLists.ipv4.check(mapped, 'ipv4')
  return isIPv6(bare) ? !blockLists.ipv6.check(bare, 'ipv6') : !blockLists.ipv4.check(bare, 'ipv4')
}
