import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { readHead } from '../raw-http.ts'

/** A provider and a client in one process, each over a raw socket: the provider writes a piece only once the client has read the previous one. */
export interface LockStep {
  /** The provider's URL. */
  readonly upstream: string
  /** Sends a request over a keep-alive connection; resolves once the provider has read the gateway's request. */
  send(port: number, request: Buffer): Promise<Exchange>
  close(): void
}

interface Exchange {
  /** The provider writes; resolves once the client has read `mark` this many times since. */
  say(bytes: Uint8Array, mark: string, times?: number): Promise<void>
  /** Ends the response: the client's connection serves the next request. */
  done(): void
}

export async function openLockStep(): Promise<LockStep> {
  let arrived: ((socket: Socket) => void) | undefined
  const sockets = new Set<Socket>()
  const server = createServer({ noDelay: true }, socket => {
    sockets.add(socket)
    readRequests(socket, () => arrived?.(socket))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const idle: Socket[] = []
  return {
    upstream: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async send(port, request) {
      const client = idle.pop() ?? (await dial(port, sockets))
      const provider = new Promise<Socket>((resolve, reject) => {
        arrived = resolve
        client.once('data', bytes => reject(new Error(`An answer before the provider was asked:\n${bytes.toString()}`)))
      })
      client.write(request)
      const socket = await provider
      client.removeAllListeners('data')
      return {
        say: (bytes, mark, times = 1) => said({ provider: socket, client, bytes, mark, times }),
        done: () => void idle.push(client),
      }
    },
    close: () => close(server, sockets),
  }
}

function close(server: Server, sockets: ReadonlySet<Socket>): void {
  server.close()
  for (const socket of sockets) socket.destroy()
}

async function dial(port: number, sockets: Set<Socket>): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  sockets.add(socket)
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  return socket
}

/** Calls `arrived` for each request with a complete body. */
function readRequests(socket: Socket, arrived: () => void): void {
  let bytes: Buffer = Buffer.alloc(0)
  socket.on('error', () => socket.destroy())
  socket.on('data', (piece: Buffer) => {
    bytes = Buffer.concat([bytes, piece])
    const head = readHead(bytes)
    if (head === undefined || bytes.length < head.size) return
    bytes = Buffer.alloc(0)
    arrived()
  })
}

interface Saying {
  readonly provider: Socket
  readonly client: Socket
  readonly bytes: Uint8Array
  readonly mark: string
  readonly times: number
}

function said({ provider, client, bytes, mark, times }: Saying): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = ''
    const read = (piece: Buffer): void => {
      text += piece.toString('latin1')
      if (text.split(mark).length - 1 < times) return
      client.off('data', read).off('close', broken)
      resolve()
    }
    const broken = (): void => reject(new Error(`The connection ended before ${times} × ${mark}:\n${text}`))
    client.on('data', read).once('close', broken)
    provider.write(bytes)
  })
}
