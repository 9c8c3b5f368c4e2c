// An app with customers: each calls the gateway below /llm with its own API key, and the operator sees them all at /admin.
import { serve } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import { basicAuth } from 'hono/basic-auth'
import { csrf } from 'hono/csrf'
import { HTTPException } from 'hono/http-exception'
import { isGatewayError, usd } from 'signalbox'
import { toHonoHandler } from 'signalbox/hono'
import { addCredit, createCustomer, listCustomers, setBudget, setOwnKey } from './customers.ts'
import { gateway } from './gateway.ts'
import { adminPage } from './page.ts'

const password = process.env.ADMIN_PASSWORD || crypto.randomUUID()

const app = new Hono()
app.all('/llm/*', toHonoHandler(gateway))

// Browsers send the password by themselves, so forms of other sites are refused.
app.use('/admin/*', basicAuth({ username: 'admin', password }), csrf())
app.get('/admin', async context => context.html(adminPage(await listCustomers())))

app.post('/admin/customers', async context => {
  const secret = await createCustomer(await fieldOf(context, 'name'))
  return answer(context, secret ? `Created. The API key, shown once: ${secret}` : 'This customer is there already.')
})
app.post('/admin/customers/:id/credit', async context => {
  const [amount, reference] = [await dollarsOf(context), await fieldOf(context, 'reference')]
  await addCredit(context.req.param('id'), { amount, reference })
  return answer(context, 'Credit added.')
})
app.post('/admin/customers/:id/budget', async context => {
  await setBudget(context.req.param('id'), await dollarsOf(context))
  return answer(context, 'Budget set.')
})
app.post('/admin/customers/:id/own-key', async context => {
  await setOwnKey(context.req.param('id'), await fieldOf(context, 'key'))
  return answer(context, 'Key saved.')
})

// What the gateway refuses has a message for people, such as an amount that is negative.
app.onError((error, context) => {
  if (error instanceof HTTPException) return error.getResponse()
  if (isGatewayError(error) || error instanceof RangeError) return answer(context, error.message, 400)
  console.error(error)
  return context.text('Something went wrong.', 500)
})

const fieldOf = async (context: Context, name: string): Promise<string> => String((await context.req.parseBody())[name] ?? '').trim()
const dollarsOf = async (context: Context): Promise<number> => usd(Number(await fieldOf(context, 'usd')))
const answer = async (context: Context, message: string, status: 200 | 400 = 200): Promise<Response> =>
  context.html(adminPage(await listCustomers(), message), status)

const port = Number(process.env.PORT ?? 8787)
serve({ fetch: app.fetch, port, hostname: '127.0.0.1' }, () => {
  console.log(`Listening on http://127.0.0.1:${port}. Customers: http://127.0.0.1:${port}/admin, as admin with the password ${password}`)
})
