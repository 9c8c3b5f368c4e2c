import { type ChaosProvider, chaosProvider } from '@signalbox/testing'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { answering } from '../packages/testing/src/chaos/acts.ts'
import { freePort } from '../packages/testing/tools/runtimes/free-port.ts'
import { hasBrowser, startBrowser } from './tools/browser.ts'
import { type Running, startExample } from './tools/processes.ts'

// The app as its operator and its customers use it. OpenAI is a server on 127.0.0.1 that speaks its protocol.

const password = 'a-password-for-the-examples'
const authorization = `Basic ${btoa(`admin:${password}`)}`

let provider: ChaosProvider
let app: Running
let origin: string

beforeAll(async () => {
  provider = await chaosProvider()
  const port = await freePort()
  origin = `http://127.0.0.1:${port}`
  const openai = { OPENAI_API_KEY: 'sk-of-the-operator', OPENAI_BASE_URL: provider.url }
  app = startExample('multi-tenant-saas', { PORT: String(port), ADMIN_PASSWORD: password, ...openai })
  await app.until(/Listening/)
  // 10,000 microdollars: 2,000 tokens, five dollars a million.
  provider.always(answering({ text: 'Hello.', usage: { input: 0, output: 2_000 } }))
})
afterAll(async () => {
  await app?.stop()
  await provider?.close()
})

const ask = async (key: string, body: object = {}): Promise<{ readonly status: number; readonly code?: string }> => {
  const response = await fetch(`${origin}/llm/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'assistant', input: 'Hello', max_output_tokens: 2_000, ...body }),
  })
  const { error } = await response.json()
  return { status: response.status, ...(error && { code: error.code }) }
}

/** How the operator fills in a form of the admin page. Returns the text of the page that follows. */
type Submit = (path: string, fields: Readonly<Record<string, string>>) => Promise<string>

const byHttp: Submit = async (path, fields) => {
  const headers = { authorization, origin, 'content-type': 'application/x-www-form-urlencoded' }
  return (await fetch(`${origin}/admin/${path}`, { method: 'POST', headers, body: new URLSearchParams(fields) })).text()
}

const inBrowser =
  (page: Page): Submit =>
  async (path, fields) => {
    await page.goto(`${origin}/admin`)
    const form = page.locator(`form[action="/admin/${path}"]`)
    for (const [name, value] of Object.entries(fields)) if (name !== 'reference') await form.locator(`[name=${name}]`).fill(value)
    await form.getByRole('button').click()
    await page.getByRole('status').waitFor()
    return page.content()
  }

/** The cells of a customer's row, without its forms. */
const rowOf = (html: string, id: string): readonly string[] => {
  const row = new RegExp(`<tr id="${id}">([\\s\\S]*?)</tr>`).exec(html)?.[1] ?? ''
  return [...row.matchAll(/<td>([^<]*)<\/td>/g)].map(([, text = '']) => text)
}

/** Two customers, named alike in both runs but for `suffix`: credit, a budget and a provider key are each one's own. */
async function useApp(submit: Submit, suffix: string): Promise<void> {
  const create = async (name: string): Promise<string> => /ak_\w+/.exec(await submit('customers', { name }))?.[0] ?? ''
  const [acme, globex] = [await create(`Acme <b> ${suffix}`), await create(`Globex ${suffix}`)]
  const ids = { acme: `acme-b-${suffix}`, globex: `globex-${suffix}` }

  // Without credit nothing is answered. Then there is some for two answers.
  expect(await ask(acme)).toMatchObject({ status: 402, code: 'insufficient_credits' })
  await submit(`customers/${ids.acme}/credit`, { usd: '0.025', reference: 'one' })
  expect([(await ask(acme)).status, (await ask(acme)).status]).toEqual([200, 200])
  expect(await ask(acme)).toMatchObject({ status: 402, code: 'insufficient_credits' })
  expect(provider.requests.at(-1)?.headers.authorization).toBe('Bearer sk-of-the-operator')

  // A budget holds although there is credit.
  await submit(`customers/${ids.globex}/credit`, { usd: '5', reference: 'one' })
  await submit(`customers/${ids.globex}/budget`, { usd: '0.015' })
  expect([(await ask(globex)).status, await ask(globex)]).toEqual([200, { status: 402, code: 'budget_exceeded' }])

  // With a key of its own the customer pays OpenAI itself.
  await submit(`customers/${ids.acme}/own-key`, { key: 'sk-of-acme-itself' })
  expect((await ask(acme)).status).toBe(200)
  expect(provider.requests.filter(({ json }) => json).at(-1)?.headers.authorization).toBe('Bearer sk-of-acme-itself')

  const page = await submit('customers', { name: `Globex ${suffix}` })
  expect(page).toContain('is there already')
  expect(page).not.toContain('<b>')
  expect(rowOf(page, ids.acme).slice(1, 6)).toEqual(['3', '$0.02', '$0.01', '$0.005', 'none'])
  expect(rowOf(page, ids.globex).slice(0, 6)).toEqual([`Globex ${suffix}`, '1', '$0.01', '$0', '$4.99', '$0.01 of $0.015'])
}

test('customers have credit, a budget and a provider key of their own, and the admin page shows what each has used', () =>
  useApp(byHttp, 'http'))

test('the admin page is for the operator, and a form that is sent twice pays once', async () => {
  expect((await fetch(`${origin}/admin`)).status).toBe(401)
  const elsewhere = { authorization, origin: 'https://elsewhere.example', 'content-type': 'application/x-www-form-urlencoded' }
  const forged = await fetch(`${origin}/admin/customers`, { method: 'POST', headers: elsewhere, body: 'name=Mallory' })
  expect(forged.status).toBe(403)
  const secret = /ak_\w+/.exec(await byHttp('customers', { name: 'Initech' }))?.[0] ?? ''
  await byHttp('customers/initech/credit', { usd: '1', reference: 'r1' })
  await byHttp('customers/initech/credit', { usd: '1', reference: 'r1' })
  expect(rowOf(await byHttp('customers/initech/budget', { usd: '-1' }), 'initech')[4]).toBe('$1')
  const other = await fetch(`${origin}/llm/v1/workspaces/globex-http/billing/balance`, { headers: { authorization: `Bearer ${secret}` } })
  expect(other.status).toBe(404)
  expect(app.output()).not.toMatch(/Error/)
})

if (inject('isLongRun') && hasBrowser)
  test('the operator does all of it in a browser', async () => {
    const browser = await startBrowser()
    try {
      const context = await browser.newContext({ httpCredentials: { username: 'admin', password } })
      await useApp(inBrowser(await context.newPage()), 'browser')
    } finally {
      await browser.close()
    }
  })
