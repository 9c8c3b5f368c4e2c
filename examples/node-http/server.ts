// A gateway as a server of its own, on node:http: with time limits for slow clients, WebSockets, and an orderly end.
import { serve } from 'signalbox/node'
import { gateway, secret } from './gateway.ts'

const port = Number(process.env.PORT ?? 8787)
const server = await serve(gateway, { port, host: '127.0.0.1' })

console.log(`Listening on http://127.0.0.1:${port}. Ask it:

curl http://127.0.0.1:${port}/v1/responses -H 'Authorization: Bearer ${secret}' -H 'Content-Type: application/json' \\
  -d '{"model": "assistant", "input": "Tell me about trains.", "stream": true}'`)

// Requests that run are answered before the process ends.
process.once('SIGTERM', async () => {
  await server.close({ graceMs: 10_000 })
  await gateway.close()
})
