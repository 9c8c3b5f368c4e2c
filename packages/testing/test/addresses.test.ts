import { X509Certificate } from 'node:crypto'
import { lookup } from 'node:dns/promises'
import { connect } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { afterEach, describe, expect, test } from 'vitest'
import { addressFault, type DeadEnd } from '../src/chaos/addresses.ts'
import { selfSigned } from '../src/chaos/certificate.ts'

let open: DeadEnd | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

const start = async (name: string): Promise<URL> => {
  open = await addressFault(name).open()
  return new URL(open.baseURL)
}

/** How an attempt to connect ends; `nothing` if it does not within the patience. */
const attempt = ({ protocol, hostname, port }: URL, timeoutMs = 400): Promise<string> =>
  new Promise(resolve => {
    const socket =
      protocol === 'https:'
        ? connectTls({ host: hostname, port: Number(port) }, () => finish('secure'))
        : connect(Number(port), hostname, () => finish('connected'))
    const finish = (how: string): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve(how)
    }
    const timer = setTimeout(() => finish('nothing'), timeoutMs)
    socket.on('error', error => finish('code' in error ? String(error.code) : 'error'))
  })

describe('unreachable base URLs', () => {
  test('unresolvable: the name does not exist', async () => {
    await expect(lookup((await start('unresolvable')).hostname)).rejects.toMatchObject({ syscall: 'getaddrinfo' })
  })

  test('refused: no server listens on the port', async () => {
    expect(await attempt(await start('refused'))).toBe('ECONNREFUSED')
  })

  test('black-hole: a connection is neither accepted nor refused', async () => {
    const url = await start('black-hole')
    expect(await attempt(url)).toBe('nothing')
    expect(await attempt(url)).toBe('nothing')
  })

  test.each([
    ['tls-expired', 'CERT_HAS_EXPIRED'],
    ['tls-wrong-name', 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['tls-unknown-issuer', 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['tls-handshake-stall', 'nothing'],
  ])('%s', async (name, how) => {
    expect(await attempt(await start(name))).toBe(how)
  })

  test('an unknown name throws', () => {
    expect(() => addressFault('nowhere')).toThrow(/There are: unresolvable, refused/)
  })
})

test('the self-signed certificate is valid X.509', () => {
  const { cert } = selfSigned({ name: 'stellwerk.example' })
  const read = new X509Certificate(cert)
  expect(read.subject).toBe('CN=stellwerk.example')
  expect(read.subjectAltName).toBe('DNS:stellwerk.example')
  expect(read.verify(read.publicKey)).toBe(true)
  expect(Date.parse(read.validTo)).toBeGreaterThan(Date.now())
})
