import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** What passed by. */
export interface Relay {
  readonly url: string
  /** Milliseconds from the last bytes of each request to the first that came back. */
  readonly waits: readonly number[]
  close(): Promise<void>
}

/** A relay of bytes in front of a server, so that the time to the first byte is measured where an agent would see it. */
export async function startRelay(target: string): Promise<Relay> {
  const port = Number(new URL(target).port)
  const waits: number[] = []
  const sockets = new Set<Socket>()
  const server = createServer(agent => {
    const upstream = connect(port, '127.0.0.1')
    let askedAt: number | undefined
    agent.on('data', bytes => {
      askedAt = performance.now()
      upstream.write(bytes)
    })
    upstream.on('data', bytes => {
      if (askedAt !== undefined) waits.push(performance.now() - askedAt)
      askedAt = undefined
      agent.write(bytes)
    })
    for (const [one, other] of [
      [agent, upstream],
      [upstream, agent],
    ] as const) {
      sockets.add(one)
      one.on('error', () => other.destroy()).on('close', () => other.destroy())
    }
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const close = (): Promise<void> => {
    for (const socket of sockets) socket.destroy()
    return new Promise(resolve => server.close(() => resolve()))
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, waits, close }
}
