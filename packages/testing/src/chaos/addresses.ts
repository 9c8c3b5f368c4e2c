import { connect, createServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { Worker } from 'node:worker_threads'
import { selfSigned } from './certificate.ts'
import { alike, type Expectation, e502, e504 } from './expect.ts'
import { listen } from './server.ts'

export interface DeadEnd {
  /** Used as the base URL of a provider. */
  readonly baseURL: string
  close(): Promise<void>
}

/** A fault that no server can play, because no request ever reaches it: the fault is the base URL. */
export interface AddressFault {
  readonly row: number
  readonly name: string
  readonly hangs?: true
  readonly expect: Expectation
  open(): Promise<DeadEnd>
}

const nothingToClose = async (): Promise<void> => {}

const closing = (server: { close(done: () => void): unknown }, sockets: Iterable<Socket>): Promise<void> =>
  new Promise(resolve => {
    server.close(() => resolve())
    for (const socket of sockets) socket.destroy()
  })

/** A label longer than a DNS name may have, so that no resolver has to be asked. */
const unresolvable = async (): Promise<DeadEnd> => ({ baseURL: `http://${'x'.repeat(64)}.invalid/v1`, close: nothingToClose })

/** Refuses connections. Port 9 (`discard`) is outside the ephemeral range, so no server of another test can get it, unlike a port that was just closed. */
const refused = async (): Promise<DeadEnd> => ({ baseURL: 'http://127.0.0.1:9/v1', close: nothingToClose })

/** Listens with the shortest possible queue and never accepts a connection, because its thread sleeps. */
const sleeper = `
const { parentPort, workerData } = require('node:worker_threads')
const server = require('node:net').createServer()
server.listen({ host: '127.0.0.1', port: 0, backlog: 1 }, () => {
  parentPort.postMessage(server.address().port)
  setTimeout(() => { Atomics.wait(workerData, 0, 0); server.close(); process.exit() }, 50)
})`

/** Resolves to whether it connected. */
const knock = (port: number, timeoutMs: number): Promise<{ readonly socket: Socket; readonly through: boolean }> =>
  new Promise(resolve => {
    const socket = connect(port, '127.0.0.1')
    const timer = setTimeout(() => resolve({ socket, through: false }), timeoutMs)
    socket.on('error', () => {})
    socket.once('connect', () => {
      clearTimeout(timer)
      resolve({ socket, through: true })
    })
  })

/** Connections that are neither accepted nor refused: the queue of a listening socket, completely filled. */
async function blackHole(): Promise<DeadEnd> {
  const bell = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(sleeper, { eval: true, workerData: bell })
  const port = await new Promise<number>((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
  })
  await new Promise(resolve => setTimeout(resolve, 100))
  const knocks: Socket[] = []
  const close = async (): Promise<void> => {
    for (const socket of knocks) socket.destroy()
    Atomics.store(bell, 0, 1)
    Atomics.notify(bell, 0)
    await worker.terminate()
  }
  for (let tries = 0; tries < 16; tries++) {
    const { socket, through } = await knock(port, 150)
    knocks.push(socket)
    if (!through) return { baseURL: `http://127.0.0.1:${port}/v1`, close }
  }
  await close()
  throw new Error('This system takes connections beyond the queue of a listening socket, so a black hole cannot be made here.')
}

const tlsServer = (options: { readonly name: string; readonly to?: Date; readonly from?: Date }) => async (): Promise<DeadEnd> => {
  const sockets = new Set<Socket>()
  const server = createTlsServer(selfSigned(options), socket => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}')
  })
  const port = await listen(server)
  return { baseURL: `https://127.0.0.1:${port}/v1`, close: () => closing(server, sockets) }
}

/** Accepts the connection, but never starts the TLS handshake. */
async function tlsStall(): Promise<DeadEnd> {
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.resume()
  })
  const port = await listen(server)
  return { baseURL: `https://127.0.0.1:${port}/v1`, close: () => closing(server, sockets) }
}

const yesterday = (): Date => new Date(Date.now() - 86_400_000)
const aYearAgo = (): Date => new Date(Date.now() - 365 * 86_400_000)

/**
 * Rows 1 to 4.
 *
 * @example
 * const deadEnd = await addressFault('refused').open()
 * const provider = compatible({ id: 'dead', baseURL: deadEnd.baseURL, apiKey: 'none', apis: ['chat'] })
 */
export const addressFaults: readonly AddressFault[] = [
  { row: 1, name: 'unresolvable', expect: alike(e502), open: unresolvable },
  { row: 2, name: 'refused', expect: alike(e502), open: refused },
  {
    row: 3,
    name: 'black-hole',
    expect: alike({ ...e504, status: [502, 504], code: ['provider_timeout', 'provider_error', 'deadline_exceeded'] }),
    open: blackHole,
    hangs: true,
  },
  { row: 4, name: 'tls-expired', expect: alike(e502), open: () => tlsServer({ name: 'localhost', from: aYearAgo(), to: yesterday() })() },
  { row: 4, name: 'tls-wrong-name', expect: alike(e502), open: tlsServer({ name: 'someone-else.example' }) },
  { row: 4, name: 'tls-unknown-issuer', expect: alike(e502), open: tlsServer({ name: 'localhost' }) },
  {
    row: 4,
    name: 'tls-handshake-stall',
    expect: alike({ ...e504, status: [502, 504], code: ['provider_timeout', 'provider_error', 'deadline_exceeded'] }),
    open: tlsStall,
    hangs: true,
  },
]

export function addressFault(name: string): AddressFault {
  const found = addressFaults.find(fault => fault.name === name)
  if (!found) throw new TypeError(`There is no address fault "${name}". There are: ${addressFaults.map(fault => fault.name).join(', ')}.`)
  return found
}
