import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** A TCP proxy to a port of this machine that can be blocked. */
export interface BlockableProxy {
  readonly port: number
  /**
   * `refusing`: connections are cut, and new ones too. `hanging`: nothing is forwarded, not even an end, and everything is once it is
   * unblocked, as when a network heals.
   */
  block(how?: 'refusing' | 'hanging'): void
  unblock(): void
}

export async function openBlockableProxy(target: number): Promise<BlockableProxy> {
  const sockets = new Set<Socket>()
  let blocked: 'refusing' | 'hanging' | undefined
  let waiting: (() => void)[] = []
  const whenOpen = (run: () => void): void => {
    if (blocked === 'hanging') waiting.push(run)
    else run()
  }
  const forward = (from: Socket, into: Socket): void => {
    sockets.add(from)
    from.on('data', chunk => whenOpen(() => void into.write(chunk)))
    from.on('error', () => {})
    from.on('end', () => whenOpen(() => into.end()))
    from.on('close', () => {
      sockets.delete(from)
      whenOpen(() => into.destroySoon())
    })
  }
  const server = createServer({ allowHalfOpen: true }, socket => {
    if (blocked === 'refusing') return void socket.destroy()
    const other = connect({ port: target, host: '127.0.0.1', allowHalfOpen: true })
    forward(socket, other)
    forward(other, socket)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  onTestFinished(() => {
    cut()
    server.close()
  })
  return {
    port: (server.address() as AddressInfo).port,
    block(how = 'refusing') {
      blocked = how
      if (how === 'refusing') cut()
    },
    unblock() {
      blocked = undefined
      for (const run of waiting) run()
      waiting = []
    },
  }
}
