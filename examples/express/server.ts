// An Express app with a gateway below /llm, and a page that calls the gateway itself, with a token that may be lost.
import { join } from 'node:path'
import express from 'express'
import { usd } from 'signalbox'
import { toExpressHandler } from 'signalbox/express'
import { gateway, secret } from './gateway.ts'

const port = Number(process.env.PORT ?? 8787)
/** Where browsers see the app. Never taken from a request: its Host header is whatever the client sends. */
const origin = process.env.ORIGIN || `http://127.0.0.1:${port}`

const app = express()
app.use('/llm', toExpressHandler(gateway))
app.use(express.static(join(import.meta.dirname, 'public')))

// A token for one user, for a quarter of an hour, for one model, up to 5 cents, and for pages of this app only.
app.post('/token', async (_request, response) => {
  const user = 'u_42' // The user that is signed in to your app.
  const { token } = await gateway.workspaces('my-app').sessions.create({
    user,
    models: ['assistant'],
    maxSpend: usd(0.05),
    budgets: [{ limit: usd(1), period: 'month' }], // All sessions of this user together.
    expiresIn: 900,
    origins: [origin],
  })
  response.set('cache-control', 'no-store').json({ token })
})

app.listen(port, '127.0.0.1', () => {
  console.log(`Listening on http://127.0.0.1:${port}, with a page. A server asks it:

curl http://127.0.0.1:${port}/llm/v1/responses -H 'Authorization: Bearer ${secret}' -H 'Content-Type: application/json' \\
  -d '{"model": "assistant", "input": "Tell me about trains.", "stream": true}'`)
})
