import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dialects } from '../dialects.ts'
import { serve } from '../ipc.ts'
import { measured } from './measured.ts'

/** The minimum that a proxy on Node can do: forward headers and bytes unchanged. No key, limits, parsing or accounting. */
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })

const listen = (upstream: string): Promise<number> => {
  const { hostname, port } = new URL(upstream)
  const server = createServer((incoming, outgoing) => {
    const { method, url: path, headers } = incoming
    const asked = request({ agent, hostname, port, method, path, headers }, answered => {
      outgoing.writeHead(answered.statusCode ?? 502, answered.headers)
      answered.pipe(outgoing)
    })
    asked.on('error', () => outgoing.destroy())
    incoming.pipe(asked)
  })
  return new Promise(resolve => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)))
}

serve(measured(async ({ upstream }) => ({ port: await listen(upstream), authorization: '', speaks: dialects })))
