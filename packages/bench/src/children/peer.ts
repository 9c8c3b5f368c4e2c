import { type AddressInfo, createServer } from 'node:net'
import { serve } from '../ipc.ts'
import { peerScript } from '../peer.ts'
import { measured } from './measured.ts'

/** Another gateway in a process that is measured like ours. Its output is discarded. */
serve(
  measured(async ({ upstream }) => {
    const port = await freePort()
    process.argv.push('--headless', `--port=${port}`)
    process.stdout.write = () => true
    await import(peerScript)
    const headers = { 'x-portkey-provider': 'openai', 'x-portkey-custom-host': `${upstream}/v1` }
    return { port, authorization: 'Bearer sk-bench', headers, speaks: ['chat'] }
  }),
)

function freePort(): Promise<number> {
  const server = createServer()
  return new Promise(resolve =>
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    }),
  )
}
