// A gateway as an HTTP server of Bun.
import { toBunServer } from 'signalbox/bun'
import { gateway, secret } from './gateway.ts'

const port = Number(process.env.PORT ?? 8787)
Bun.serve({ hostname: '127.0.0.1', port, ...toBunServer(gateway) })

console.log(`Listening on http://127.0.0.1:${port}. Ask it:

curl http://127.0.0.1:${port}/v1/responses -H 'Authorization: Bearer ${secret}' -H 'Content-Type: application/json' \\
  -d '{"model": "assistant", "input": "Tell me about trains.", "stream": true}'`)
