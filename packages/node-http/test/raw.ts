import { connect, createServer, type Server, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export interface RawServer {
  readonly url: string
  readonly port: number
  readonly sockets: Socket[]
  /** Everything received, by connection. */
  readonly heard: string[]
}

/** A server of raw bytes: `onRequest` runs for each whole request (head and body by content-length) on a connection. */
export async function rawServer(
  onRequest: (socket: Socket, at: { readonly connection: number; readonly request: number }) => void,
): Promise<RawServer> {
  const sockets: Socket[] = []
  const heard: string[] = []
  const server: Server = createServer({ allowHalfOpen: true }, socket => {
    const connection = sockets.push(socket) - 1
    heard[connection] = ''
    let request = 0
    let pending = ''
    socket.on('error', () => {})
    socket.on('data', chunk => {
      heard[connection] += chunk.toString('latin1')
      pending += chunk.toString('latin1')
      for (let end = lengthOf(pending); end !== undefined; end = lengthOf(pending)) {
        pending = pending.slice(end)
        onRequest(socket, { connection, request: request++ })
      }
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return { url: `http://127.0.0.1:${port}/v1/chat`, port, sockets, heard }
}

function lengthOf(text: string): number | undefined {
  const head = text.indexOf('\r\n\r\n')
  if (head === -1) return undefined
  const end = head + 4 + Number(/content-length: (\d+)/i.exec(text.slice(0, head))?.[1] ?? 0)
  return text.length >= end ? end : undefined
}

/** Sends bytes and returns everything received, until the other side ends the connection, or sends nothing for `silenceMs` after its first bytes. */
export async function rawCall(
  port: number,
  bytes: string | Buffer | readonly (string | Buffer)[],
  silenceMs = 400,
): Promise<{ readonly text: string; readonly closed: boolean }> {
  const socket = connect(port, '127.0.0.1')
  let text = ''
  const parts = typeof bytes === 'string' || Buffer.isBuffer(bytes) ? [bytes] : bytes
  const over = new Promise<boolean>(resolve => {
    let timer = setTimeout(() => resolve(false), 20_000)
    socket.on('data', chunk => {
      text += chunk.toString('latin1')
      clearTimeout(timer)
      timer = setTimeout(() => resolve(false), silenceMs)
    })
    socket.on('error', () => resolve(true))
    socket.on('close', () => resolve(true))
    socket.on('end', () => resolve(true))
  })
  for (const part of parts) socket.write(part)
  const closed = await over
  socket.destroy()
  return { text, closed }
}

export const until = async (what: () => boolean, ms = 120_000): Promise<void> => {
  const end = Date.now() + ms
  while (!what()) {
    if (Date.now() > end) throw new Error('It did not happen in time.')
    await new Promise(resolve => setTimeout(resolve, 5))
  }
}

export const sleep = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms))
