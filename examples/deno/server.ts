// A gateway as an HTTP server of Deno.
import { toDenoHandler } from 'signalbox/deno'
import { gateway, secret } from './gateway.ts'

const port = Number(process.env.PORT ?? 8787)
Deno.serve({ hostname: '127.0.0.1', port, onListen: () => {} }, toDenoHandler(gateway))

console.log(`Listening on http://127.0.0.1:${port}. Ask it:

curl http://127.0.0.1:${port}/v1/responses -H 'Authorization: Bearer ${secret}' -H 'Content-Type: application/json' \\
  -d '{"model": "assistant", "input": "Tell me about trains.", "stream": true}'`)
