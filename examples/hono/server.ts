// A Hono app with a gateway below /llm, beside its other routes.
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { toHonoHandler } from 'signalbox/hono'
import { gateway, secret } from './gateway.ts'

const app = new Hono()
app.get('/', context => context.text('An app with a gateway in it.'))
app.all('/llm/*', toHonoHandler(gateway))

const port = Number(process.env.PORT ?? 8787)
serve({ fetch: app.fetch, port, hostname: '127.0.0.1' }, () => {
  console.log(`Listening on http://127.0.0.1:${port}. Ask it:

curl http://127.0.0.1:${port}/llm/v1/responses -H 'Authorization: Bearer ${secret}' -H 'Content-Type: application/json' \\
  -d '{"model": "assistant", "input": "Tell me about trains.", "stream": true}'`)
})
