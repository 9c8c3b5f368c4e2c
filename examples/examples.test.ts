import { createHmac } from 'node:crypto'
import { type ChaosProvider, chaosProvider, defaultText } from '@signalbox/testing'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { answering, refusing } from '../packages/testing/src/chaos/acts.ts'
import { freePort } from '../packages/testing/tools/runtimes/free-port.ts'
import { haltedAnswer } from './tools/answers.ts'
import { hasBrowser, startBrowser } from './tools/browser.ts'
import { canStart, type Running, startExample, startTogether } from './tools/processes.ts'

// Each example is started as its README says, asked as its output says, and stopped. OpenAI is a server on 127.0.0.1 that speaks
// its protocol. Examples for Node share a process, which loads the library once; in the long run each has its own.

const onNode = ['express', 'hono', 'node-http']
const elsewhere = ['bun-server', 'deno'].filter(canStart)
const scripts = ['router-only', 'translate', 'any-sdk', 'custom-provider']
const secret = 'ak_for-the-examples-0123456789'

let provider: ChaosProvider
/** A company's own model server. */
let acme: ChaosProvider
const servers = new Map<string, { readonly process: Running; readonly port: number }>()
const outputs = new Map<string, Promise<string>>()
const running: Running[] = []

beforeAll(async () => {
  ;[provider, acme] = await Promise.all([chaosProvider(), chaosProvider()])
  const env = { GATEWAY_KEY: secret, OPENAI_API_KEY: 'sk-example', OPENAI_BASE_URL: provider.url }
  const acmeEnv = { ACME_API_KEY: 'acme-secret', ACME_BASE_URL: acme.url }
  acme.next(answering({ text: 'From 8 to 18.', usage: { input: 100, output: 200 } }))
  acme.always(refusing(503, { message: 'Away.', type: 'server_error', code: null }))

  const ports = new Map<string, number>()
  for (const name of [...onNode, ...elsewhere]) ports.set(name, await freePort())
  const together = inject('isLongRun') ? [] : [...onNode, ...scripts]
  const shared = startTogether(
    onNode.filter(name => together.includes(name)).map(name => `${name}:${ports.get(name)}`),
    env,
  )
  const sharedScripts = startTogether(
    scripts.filter(name => together.includes(name)),
    acmeEnv,
  )
  running.push(shared, sharedScripts)
  for (const [name, port] of ports) {
    const process = together.includes(name) ? shared : startExample(name, { ...env, PORT: String(port) })
    servers.set(name, { process, port })
    running.push(process)
  }
  for (const name of scripts)
    outputs.set(name, together.includes(name) ? partOf(sharedScripts, name) : wholeOf(startExample(name, acmeEnv)))
})

afterAll(async () => {
  await Promise.all([...new Set(running)].map(each => each.stop()))
  await Promise.all([provider.close(), acme.close()])
})

/** What an example has written that is one of several in a process. */
async function partOf(process: Running, name: string): Promise<string> {
  const part = new RegExp(`^--- ${name}\n([\\s\\S]*?)^---`, 'm')
  return part.exec(await process.until(part))?.[1] ?? ''
}

/** What an example has written that has ended well. */
async function wholeOf(process: Running): Promise<string> {
  expect([await process.ended, process.output()]).toEqual([0, expect.any(String)])
  return process.output()
}

/** Where the `curl` command goes that an example has printed. */
async function addressOf(name: string): Promise<string> {
  const { process, port } = servers.get(name) ?? {}
  const command = new RegExp(`curl (http://127\\.0\\.0\\.1:${port}\\S+) -H 'Authorization: Bearer ${secret}'[\\s\\S]*?"stream": true}'`)
  return command.exec((await process?.until(command)) ?? '')?.[1] ?? ''
}

describe.each([...onNode, 'bun-server', 'deno'])('%s', name => {
  test.skipIf(!canStart(name))('answers whole and streamed, and falls back before the first token', async () => {
    const url = await addressOf(name)
    const ask = (body: object, key = secret): Promise<Response> =>
      fetch(url, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'assistant', input: 'a ticket to the sea', ...body }),
      })

    const whole = await (await ask({})).json()
    expect([whole.output?.[0]?.content[0].text, whole.routing_metadata?.provider]).toEqual([defaultText, 'openai'])
    expect(provider.requests.at(-1)?.headers.authorization).toBe('Bearer sk-example')

    const streamed = await ask({ stream: true })
    expect(streamed.headers.get('content-type')).toContain('text/event-stream')
    const text = await streamed.text()
    const events = [...text.matchAll(/^event: (\S+)$/gm)].map(([, type]) => type)
    expect([events[0], events.at(-1)]).toEqual(['response.created', 'response.completed'])
    expect(events.filter(type => type === 'response.output_text.delta').length).toBeGreaterThan(5)

    provider.next(refusing(503, { message: 'Overloaded.', type: 'server_error', code: null }))
    const other = JSON.stringify(await (await ask({})).json())
    expect(other).toContain('"provider":"sim"')
    expect(other).toContain('a ticket to the sea')

    expect((await ask({}, 'ak_wrong')).status).toBe(401)
  })
})

test('hono: the rest of the app is still its own', async () => {
  const { origin } = new URL(await addressOf('hono'))
  expect(await (await fetch(origin)).text()).toBe('An app with a gateway in it.')
})

test('express: a token answers pages of the app, for its model, and for nothing and nobody else', async () => {
  const url = await addressOf('express')
  const { origin } = new URL(url)
  expect(await (await fetch(origin)).text()).toContain('ask.js')
  const reply = await fetch(`${origin}/token`, { method: 'POST' })
  const { token } = await reply.json()
  expect([token.slice(0, 3), reply.headers.get('cache-control')]).toEqual(['st_', 'no-store'])
  const ask = (from: string | undefined, address = url): Promise<number> =>
    fetch(address, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...(from && { origin: from }) },
      body: JSON.stringify({ model: 'assistant', input: 'Hello' }),
    }).then(({ status }) => status)
  expect(await ask(origin)).toBe(200)
  expect(await ask('https://elsewhere.example')).toBe(403)
  expect(await ask(undefined)).toBe(403)
  expect(await ask(origin, `${origin}/llm/v1/workspaces/my-app/api-keys`)).toBe(403)
})

if (inject('isLongRun') && hasBrowser)
  test('express: the page streams an answer in a browser, and says when its token is used up', async () => {
    const { origin } = new URL(await addressOf('express'))
    const browser = await startBrowser()
    onTestFinished(() => browser.close())
    const page = await browser.newPage()
    await page.goto(origin)
    const ask = async (question: string): Promise<void> => {
      await page.fill('input', question)
      await page.click('button')
    }
    const answer = page.getByRole('status')

    const halted = haltedAnswer()
    provider.next(halted.respond)
    await ask('Hello')
    await answer.getByText(/^Signals were set by hand/).waitFor()
    expect(defaultText.startsWith((await answer.textContent()) ?? '')).toBe(true)
    expect(await answer.textContent()).not.toBe(defaultText)
    halted.finish()
    await answer.getByText(defaultText, { exact: true }).waitFor()

    // Of 5 cents, an answer of 1,000 tokens costs half a cent.
    provider.always(answering({ text: 'Long.', usage: { input: 10, output: 1_000 } }))
    onTestFinished(() => provider.always(undefined))
    await expect
      .poll(
        async () => {
          await ask('Again')
          await answer.getByText(/\S/).waitFor()
          return answer.textContent()
        },
        { timeout: 30_000 },
      )
      .toMatch(/^The request may cost up to .* has .* left/)
  })

test('router-only: plans, falls back, answers both ways and accounts', async () => {
  const output = (await outputs.get('router-only')) ?? ''
  expect(output).toContain('Would ask: sim-down, then sim\n')
  expect(output).toMatch(/^Left out: openai: .*credential/m)
  expect(output).toContain('a ticket to the sea')
  expect(output).toContain('Answered by sim.')
  expect(output).toMatch(/Whole: completed, \d+ tokens, \$0\.0/)
  expect(Number(/Left of \$5: \$([\d.]+)/.exec(output)?.[1])).toBeLessThan(5)
})

test('translate: sends a request to another API, tells what is lost, and streams back', async () => {
  const output = await outputs.get('translate')
  expect(output).toContain('"system":"You answer in one sentence."')
  expect(output).toContain('Lost: seed: ')
  expect(output).toMatch(/"content":"It goes "[\s\S]*"content":"to the sea\."[\s\S]*"finish_reason":"stop"[\s\S]*data: \[DONE]/)
})

test('any-sdk: each SDK asks in its own dialect and is answered in it', async () => {
  const output = await outputs.get('any-sdk')
  expect(output).toContain('openai, responses: Hello from Responses')
  expect(output).toContain('openai, chat: Hello from Chat Completions')
  expect(output).toMatch(/anthropic: Hello from Messages \(\d+ tokens in, \d+ out\)/)
  expect(output).toContain('ai, by fetch: Hello from the AI SDK')
  expect(output).toContain('ai, as a provider: Hello from the AI SDK')
})

test('custom-provider: requests to the own server are signed, and the provider in the process answers for it', async () => {
  const output = await outputs.get('custom-provider')
  // 100 × $0.20 and 200 × $0.80 per million tokens, and $0.00005 for the request.
  expect(output).toContain('acme, for $0.00023: From 8 to 18.')
  expect(output).toContain('streamed: Please write to support@acme.example.')
  const [first] = acme.requests
  const signed = createHmac('sha256', 'acme-secret').update(`${first?.headers['x-acme-time']}.${first?.body}`).digest('hex')
  expect(first?.headers['x-acme-signature']).toBe(signed)
  expect(first?.headers.authorization).toBeUndefined()
  expect(first?.json).toMatchObject({ model: 'support-large-3' })
})
