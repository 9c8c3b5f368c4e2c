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
  ['::', 128],
  ['::1', 128],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
]

const closed = (): BlockList => {
  const list = new BlockList()
  for (const [network, bits] of networks) list.addSubnet(network, bits, isIPv6(network) ? 'ipv6' : 'ipv4')
  return list
}

let known: BlockList | undefined

/** Whether a resolved address is one of the public Internet. An IPv4 address in the clothes of an IPv6 one is judged as what it is. */
export function isPublic(address: string): boolean {
  known ??= closed()
  const bare = address.replace(/%.*$/, '')
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare) ?? []
  if (mapped !== undefined) return !known.check(mapped, 'ipv4')
  return !known.check(bare, isIPv6(bare) ? 'ipv6' : 'ipv4')
}
