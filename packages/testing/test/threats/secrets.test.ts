import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { allRoutes as routes } from '@signalbox/api/routes'
import type { Hooks } from '@signalbox/core/runtime'
import type { Provider } from '@signalbox/dialects/protocol'
import { createGateway, type Gateway } from '@signalbox/gateway'
import { type RequestLine, serve } from '@signalbox/node-http'
import { compatible } from '@signalbox/providers'
import { sqliteStorage } from '@signalbox/storage-sql/sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { answering, json, type Respond, streamed } from '../../src/chaos/acts.ts'
import { type ChaosProvider, chaosProvider } from '../../src/chaos-provider.ts'
import { waitFor } from '../waits.ts'

// Nothing about these looks like a secret: only what knows them can take them out.
const operatorKeys = ['canaryoperatorone7f3a9c51', 'canaryoperatortwo0b8e6d24'] as const
const ownKey = 'canarybroughtkey5d0c7e1f'
const chosenKey = 'ak_canarychosenkey9b1f3e7a2c5d'
const prompt = 'canaryprompt4e8a0c2b'
const words = 'canaryanswer6f1d9e3a'
const sealingKey = new Uint8Array(32).map((_, at) => 7 * at + 3)
/** Not secret, and kept: if it is not found, we looked in the wrong place. */
const kept = 'canarymetadata2c7b5f90'

interface Testbed {
  readonly servers: readonly [ChaosProvider, ChaosProvider]
  readonly folder: string
  /** All of its output, except what is meant to contain a secret. */
  readonly heard: {
    readonly logs: unknown[]
    readonly hooks: unknown[]
    readonly lines: RequestLine[]
    readonly answers: string[]
    readonly told: string[]
  }
  readonly gateway: Gateway
  readonly providers: readonly Provider[]
  readonly workspaceId: string
  readonly secret: string
  /** A call over the network. `isTold`: a successful response has the model's text for the caller, or a secret that is shown once. */
  ask(
    call: string,
    options?: { readonly body?: unknown; readonly isTold?: 'answer' | 'secret'; readonly key?: string; readonly once?: string },
  ): Promise<{ readonly status: number; readonly text: string }>
}

async function testbed(): Promise<Testbed> {
  const folder = mkdtempSync(join(tmpdir(), 'canary-'))
  const servers = [await chaosProvider(), await chaosProvider()] as const
  const heard: Testbed['heard'] = { logs: [], hooks: [], lines: [], answers: [], told: [] }
  const log = (...given: readonly unknown[]): void => void heard.logs.push(given)
  const hear =
    (hook: string) =>
    (...given: readonly unknown[]): void =>
      void heard.hooks.push([hook, ...given])
  const hooks: Hooks = Object.fromEntries(
    ['onRoute', 'onFailure', 'onFirstContent', 'onFinish', 'onBudget'].map(name => [name, hear(name)]),
  )
  const providers = servers.map((server, at) =>
    compatible({ id: `p${at + 1}`, baseURL: server.url, apiKey: operatorKeys[at] ?? '', apis: ['chat', 'responses', 'messages'] }),
  )
  const offers = providers.map(({ id }) => ({
    provider: id,
    model: 'test-model',
    api: 'chat',
    price: { input: 1_000, output: 2_000 },
  }))
  const gateway = createGateway({
    providers,
    models: [{ id: 'm', offers }],
    storage: sqliteStorage(join(folder, 'signalbox.db')),
    sealingKey,
    strategy: 'order',
    hooks,
    limits: { managementReadsRpm: 1e6, managementWritesRpm: 1e6 },
    decisionLog: { store: 1 },
    logger: { info: log, warn: log, error: log },
  })
  const { id: workspaceId } = await gateway.workspaces.create({ name: 'Canary' })
  const home = gateway.workspaces(workspaceId)
  await home.billing.credit({ reference: 'first', amount: 1_000_000_000 })
  const { secret } = await home.apiKeys.create({ name: 'all', scopes: '*' })
  const { url, close } = await serve(gateway, { port: 0, onRequest: line => heard.lines.push(line) })
  onTestFinished(async () => {
    await close()
    await gateway.close()
    for (const server of servers) await server.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    servers,
    folder,
    heard,
    gateway,
    providers,
    workspaceId,
    secret,
    async ask(call, { body, isTold, key = secret, once } = {}) {
      const [method = '', path = ''] = call.split(' ')
      const response = await fetch(`${url}${path.replace('{w}', `/v1/workspaces/${workspaceId}`)}`, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...(once && { 'idempotency-key': once }) },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      const text = await response.text()
      const list = isTold === undefined || !response.ok ? heard.answers : isTold === 'answer' ? heard.told : undefined
      list?.push(`${call} ${response.status} ${JSON.stringify([...response.headers])} ${text}`)
      return { status: response.status, text }
    },
  }
}

/** Repeats the request in texts, codes and headers. */
const echoing =
  (status: number): Respond =>
  line => {
    const { authorization = '', 'x-api-key': key = '' } = line.seen.headers
    const shown = `${authorization} ${key}`.replace('Bearer ', '').trim()
    const error = { message: `Incorrect API key provided: ${shown}. (${authorization})`, type: shown, code: shown, param: shown }
    return json(status, { error, detail: shown }, { 'x-debug': shown, 'www-authenticate': `Bearer realm="${shown}"` })(line)
  }

const echoingStream: Respond = line => {
  const shown = line.seen.headers.authorization ?? ''
  const frames = [...line.answer.opening, ...line.answer.content.slice(0, 1)].map(({ data }) => `data: ${data}\n\n`)
  return streamed([...frames, `data: ${JSON.stringify({ error: { message: `It broke: ${shown}`, code: shown.slice(7) } })}\n\n`], {
    'content-type': 'text/event-stream',
  })(line)
}

const bodies: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  '/v1/responses': {
    model: 'm',
    instructions: prompt,
    input: `Say it. ${prompt}`,
    prompt_cache_key: prompt,
    metadata: { note: prompt },
    gateway: { metadata: { note: kept } },
  },
  '/v1/chat/completions': {
    model: 'm',
    messages: [
      { role: 'system', content: prompt },
      { role: 'user', content: prompt },
    ],
    user: prompt,
    metadata: { note: prompt },
    gateway: { metadata: { note: kept } },
  },
  '/v1/messages': { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: `${prompt} `.repeat(2_000) }] },
}

async function callAll({ servers: [first, second], ask }: Testbed): Promise<void> {
  for (const [path, body] of Object.entries(bodies)) {
    for (const stream of [false, true]) {
      const asked = { body: { ...body, stream }, isTold: 'answer' } as const
      for (const server of [first, second])
        server.always(
          answering({ reasoning: words, text: `${words} ${words}`, tools: [{ name: 'f', arguments: JSON.stringify({ words }) }] }),
        )
      await ask(`POST ${path}`, asked)
      for (const status of [400, 401, 403, 404, 429, 500]) {
        // One refuses and the other responds; then both refuse.
        first.next(echoing(status))
        await ask(`POST ${path}`, asked)
        first.next(echoing(status))
        second.next(echoing(status))
        await ask(`POST ${path}`, asked)
      }
      for (const server of [first, second]) server.always(echoingStream)
      await ask(`POST ${path}`, asked)
    }
    await ask(`POST ${path}`, { body: `{"model":"m","input":"${prompt}` })
    await ask(`POST ${path}`, { body: { ...body, model: 'none' } })
  }
}

const idsIn = (text: string): string => JSON.parse(text).id

test('no secret, prompt or response appears anywhere except where it was requested', async () => {
  const here = await testbed()
  const { ask, gateway, workspaceId, heard, folder } = here
  const made = await ask('POST {w}/api-keys', {
    body: { name: 'made', scopes: ['inference:invoke'], budget: { limit_usd: 5 } },
    isTold: 'secret',
    once: 'key',
  })
  await ask('POST {w}/api-keys', { body: { name: 'made', scopes: ['inference:invoke'], budget: { limit_usd: 5 } }, once: 'key' })
  const invited = await ask('POST {w}/invites', { body: { email: 'a@example.com', role: 'developer' }, isTold: 'secret', once: 'invite' })
  const waiting = await ask('POST {w}/invites', { body: { email: 'b@example.com', role: 'viewer' }, isTold: 'secret' })
  await gateway.workspaces(workspaceId).apiKeys.create({ name: 'chosen', secret: chosenKey })
  await callAll(here)
  const brought = await ask('POST {w}/byok-keys', {
    body: { provider: 'p1', api_key: ownKey, name: 'own', is_default: true },
    once: 'byok',
  })
  expect([made.status, invited.status, brought.status]).toEqual([202, 202, 202])
  here.servers[0].always(echoing(401))
  const byok = `{w}/byok-keys/${idsIn(brought.text)}`
  await ask(`POST ${byok}/validate`, { body: {} })
  here.servers[0].always(undefined)
  await ask(`POST ${byok}/validate`, { body: {} })
  await callAll(here)
  await ask(`PATCH ${byok}`, { body: { api_key: `${ownKey}2` } })
  const token: string = JSON.parse(invited.text).token
  await ask('POST /v1/invites/accept', { body: { token, name: 'A' } })
  await ask('POST /v1/invites/accept', { body: { token, name: 'A' } })
  // A value in the wrong place is not repeated.
  await ask('GET /v1/me', { key: `${here.secret}x` })
  await ask('POST {w}/byok-keys', { body: { provider: ownKey, api_key: 5, name: '' } })
  await ask('POST {w}/byok-keys', { body: { provider: 'p1', api_key: `${ownKey} with a space`, name: 'n' } })
  await ask('POST {w}/byok-keys', { body: `{"api_key":"${ownKey}` })
  await readAll(here, { api_key_id: idsIn(made.text), byok_key_id: idsIn(brought.text) })
  await waitFor(async () =>
    expect((await gateway.workspaces(workspaceId).byokKeys.get(idsIn(brought.text))).validationStatus).not.toBe('pending'),
  )

  const files = (): string =>
    readdirSync(folder)
      .map(name => readFileSync(join(folder, name)).toString('latin1'))
      .join('\n')
  const everything = { depth: Number.POSITIVE_INFINITY, showHidden: true, maxStringLength: null, maxArrayLength: null } as const
  const places: Readonly<Record<string, string>> = {
    'the database while it is open': files(),
    'the logs': inspect(heard.logs, everything),
    'what hooks hear': inspect(heard.hooks, everything),
    'the lines of requests': inspect(heard.lines, everything),
    'answers, error bodies, lists, the audit and the export': heard.answers.join('\n'),
    'the gateway as it prints itself': inspect(gateway, { ...everything, depth: 8, getters: false }),
    'the providers as they print themselves': inspect(here.providers, { ...everything, depth: 8, getters: false }),
    'what the decisions tell': JSON.stringify(heard.lines.map(({ requestId }) => gateway.decisionLog.of(requestId))),
  }
  await gateway.close()
  const secrets = {
    here: here.secret,
    made: JSON.parse(made.text).api_key,
    token,
    waiting: JSON.parse(waiting.text).token,
    ownKey,
    chosenKey,
    prompt,
    words,
    ...operatorKeys,
  }
  const found = Object.entries({ ...places, 'the database once it is closed': files() }).flatMap(([place, text]) =>
    [...Object.entries(secrets), ['sealing key', Buffer.from(sealingKey).toString('latin1')] as const].flatMap(([name, secret]) =>
      spellings(name, secret)
        .filter(spelling => text.includes(spelling))
        .map(spelling => `${name} in ${place}: …${around(text, spelling)}…`),
    ),
  )
  expect(found).toEqual([])
  const told = heard.told.join('\n')
  for (const key of [...operatorKeys, ownKey]) expect(told).not.toContain(key.slice(12))
  expect(told).toContain(words)
  for (const place of ['the database while it is open', 'answers, error bodies, lists, the audit and the export'])
    expect([place, places[place]?.includes(kept)]).toEqual([place, true])
  expect(here.servers[0].requests.some(({ headers }) => headers.authorization === `Bearer ${ownKey}`)).toBe(true)
  const paths = new Set(['unmatched', ...routes.map(({ path }) => path)])
  expect(heard.lines.filter(({ route }) => !paths.has(route))).toEqual([])
  expect(heard.hooks.length).toBeGreaterThan(100)
  expect(heard.answers.length).toBeGreaterThan(50)
})

/** What may be shown of a key is its beginning; all the rest is searched for. */
const spellings = (name: string, secret: string): readonly string[] => {
  const rest = name.startsWith('prompt') || name.startsWith('words') ? secret : secret.slice(12)
  const bytes = Buffer.from(rest, 'latin1')
  // Base64 of the middle of a text begins at any of three places.
  const inBase64 = [0, 1, 2].map(at => bytes.subarray(at).toString('base64').slice(0, -4))
  return [rest, bytes.toString('hex'), encodeURIComponent(rest), ...inBase64, Buffer.from(rest, 'utf16le').toString('latin1')]
}

const around = (text: string, spelling: string): string =>
  text.slice(Math.max(0, text.indexOf(spelling) - 120), text.indexOf(spelling) + 60)

/** Every row that only reads. */
async function readAll({ ask, gateway, workspaceId }: Testbed, known: Readonly<Record<string, string>>): Promise<void> {
  const home = gateway.workspaces(workspaceId)
  const [budget] = await home.budgets.list()
  const requests = await home.analytics.requests({ limit: 100 })
  const ids: Readonly<Record<string, string>> = { ...known, budget_id: budget?.id ?? 'x', provider: 'p1' }
  for (const { method, path, needs } of routes) {
    if (method !== 'GET') continue
    const whole = (id: string): string =>
      `GET ${path.replace(/:([a-z_]+)\+?/g, (_, name: string) => ({ ...ids, workspace_id: workspaceId, request_id: id, model_id: 'm' })[name] ?? 'x')}`
    for (const { id } of path.includes(':request_id') ? requests : [{ id: '' }]) await ask(whole(id))
    if (needs !== 'nothing' && path.endsWith('s')) await ask(`${whole('')}?limit=100`)
  }
}
