import { chatProvider, messagesClient, messagesProvider } from '@signalbox/dialects'
import type { InferenceRequest, JsonObject, Model, ProviderDialect } from '@signalbox/dialects/protocol'
import { gatewayFetch } from '@signalbox/fetch-handler'
import { expect, onTestFinished, test } from 'vitest'
import { type Act, acts, type ScriptedProvider, scriptedProvider, testGateway } from '../src/index.ts'

// Conversations of coding agents stay where their beginning is in a prompt cache.

const price = { input: 3_000_000, output: 15_000_000, cached: 300_000 }

async function openGateway(dialect: ProviderDialect = chatProvider) {
  const providers = ['one', 'two'].map(id => alwaysAnswering(id, dialect))
  const offers = providers.map(({ id }) => ({ provider: id, model: 'theirs', api: dialect.name, price }))
  const models: readonly Model[] = [{ id: 'model', offers }]
  const { gateway, secret, caller, close } = await testGateway({ providers, models, strategy: 'balanced', seed: 7 })
  onTestFinished(close)
  const fetch = gatewayFetch(gateway)
  const post = async (path: string, body: JsonObject, headers: Readonly<Record<string, string>> = {}): Promise<Turn> => {
    const response = await fetch(`http://signalbox.local${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}`, ...headers },
      body: JSON.stringify({ model: 'model', ...body }),
    })
    expect(response.status).toBe(200)
    const [decision] = gateway.decisionLog.of(response.headers.get('x-request-id') ?? '')?.decisions ?? []
    const [first] = decision?.candidates ?? []
    return { provider: first?.provider ?? '', warmTokens: Math.max(...(decision?.candidates ?? []).map(each => each.cached_tokens ?? 0)) }
  }
  return { gateway, caller, providers, post }
}

interface Turn {
  readonly provider: string
  /** What the router believes to be in the prompt cache of an offer. */
  readonly warmTokens: number
}

function alwaysAnswering(id: string, dialect: ProviderDialect): ScriptedProvider {
  const answer: Act = context => {
    provider.play(answer)
    return acts.reply('Done.')(context)
  }
  const provider: ScriptedProvider = scriptedProvider({ id, dialect, acts: [answer] })
  return provider
}

const words = (count: number, word: string): string => Array.from({ length: count }, (_, at) => `${word}${at}`).join(' ')

/** A turn of Claude Code: tools, a long system prompt, and the whole conversation so far. */
const claudeCode = (conversation: number, turn: number, first: readonly JsonObject[] = []): JsonObject => ({
  max_tokens: 100,
  system: [...first, { type: 'text', text: words(1_500, 'rule'), cache_control: { type: 'ephemeral' } }],
  tools: [{ name: 'Read', input_schema: { type: 'object', properties: {} } }],
  messages: Array.from({ length: turn }, (_, at) => [
    { role: 'user', content: `Task ${conversation}: ${words(300, `step${at}`)}` },
    ...(at < turn - 1 ? [{ role: 'assistant', content: 'Done.' }] : []),
  ]).flat(),
})

const billingBlock = (at: number): JsonObject => ({
  type: 'text',
  text: `x-anthropic-billing-header: cc_version=2.1.330.${at}; cc_entrypoint=cli; cch=${(at * 7_919).toString(16)};`,
})

test('a billing header that changes with each request does not move a conversation to another provider', async () => {
  const { post, providers } = await openGateway()
  let requests = 0
  const warm: number[][] = Array.from({ length: 6 }, () => [])
  for (let turn = 1; turn <= 6; turn += 1) {
    for (let conversation = 0; conversation < 6; conversation += 1) {
      requests += 1
      const { warmTokens } = await post('/v1/messages', claudeCode(conversation, turn, [billingBlock(requests)]))
      warm[conversation]?.push(warmTokens)
    }
  }
  for (const [first, ...later] of warm) {
    expect(first).toBe(0)
    expect(later.every(tokens => tokens > 1_000)).toBe(true)
  }
  expect(JSON.stringify(providers.map(({ calls }) => calls))).not.toContain('billing-header')
})

const session = '0f6fdf3c-4f0e-4a9b-9d3e-0a4f5a3e6d11'

test.each<[name: string, headers: Readonly<Record<string, string>>, body: JsonObject]>([
  ['x-session-id', { 'x-session-id': session }, {}],
  ['x-session-affinity', { 'x-session-affinity': session }, {}],
  ['session_id', { session_id: session }, {}],
  ['metadata.user_id, as JSON', {}, { metadata: { user_id: JSON.stringify({ device_id: 'd', account_uuid: '', session_id: session }) } }],
  ['metadata.user_id, as text', {}, { metadata: { user_id: `user_${'a'.repeat(64)}_account__session_${session}` } }],
])('a session named by %s keeps a conversation at one provider even if its beginning changes', async (_, headers, body) => {
  const { post } = await openGateway(messagesProvider)
  const turns: Turn[] = []
  for (let turn = 1; turn <= 4; turn += 1) {
    const changed = { ...claudeCode(1, turn), system: `It is ${turn} o’clock. ${words(1_500, 'rule')}`, ...body }
    turns.push(await post('/v1/messages', changed, headers))
  }
  expect(turns.map(({ warmTokens }) => warmTokens > 0)).toEqual([false, true, true, true])
  expect(new Set(turns.map(({ provider }) => provider)).size).toBe(1)
  const other = await post('/v1/messages', { ...claudeCode(2, 1), system: `Else. ${words(1_500, 'rule')}` })
  expect(other.warmTokens).toBe(0)
})

test('in process, the session is an option of the endpoint or a field of a request', async () => {
  const { gateway, caller } = await openGateway(messagesProvider)
  const body = (at: number) => ({ model: 'model', ...claudeCode(1, at), system: `Now ${at}. ${words(1_500, 'rule')}` }) as never
  await gateway.messages.create(body(1), { caller, session })
  const request = messagesClient.decodeRequest(body(2))
  const warmOf = async (asked: InferenceRequest) =>
    Math.max(...(await gateway.plan(asked, caller)).choices.map(({ estimate }) => estimate.cachedTokens))
  expect(await warmOf({ ...request, session })).toBeGreaterThan(0)
  expect(await warmOf({ ...request, session: 'another' })).toBe(0)
})
