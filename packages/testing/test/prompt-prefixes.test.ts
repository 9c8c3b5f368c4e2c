import { responsesProvider } from '@signalbox/dialects'
import type { JsonObject, Provider } from '@signalbox/dialects/protocol'
import { gatewayFetch } from '@signalbox/fetch-handler'
import { anthropic } from '@signalbox/providers'
import { isStepCount, jsonSchema, tool } from 'ai'
import { describe, expect, onTestFinished, test } from 'vitest'
import { acts, type ScriptedProvider, scriptedProvider, testGateway } from '../src/index.ts'
import { aiPackages, generated } from './drivers/ai.ts'
import { openTestbed } from './drivers/fixture.ts'
import { repeatedPrefixes } from './drivers/prefix.ts'
import { providerTraits } from './drivers/provider-traits.ts'
import { shareOf } from './share-of.ts'

// Prompt caches match prefixes. A turn of an agent sends what the turn before it sent, and then more.

/** An agent in the dialect of an endpoint, which sends back what it received unchanged. */
interface AgentClient {
  readonly name: string
  readonly path: string
  readonly question: (text: string) => JsonObject
  readonly result: (call: string, output: string) => JsonObject
  /** What an answer adds to the history, and the ids of its calls. */
  readonly read: (answer: JsonObject) => { readonly added: readonly JsonObject[]; readonly calls: readonly string[] }
  readonly body: (history: readonly JsonObject[], turn: number) => JsonObject
}

const words = (count: number, word: string): string => Array.from({ length: count }, (_, at) => `${word}${at}`).join(' ')
const instructions = words(900, 'rule')
const toolNames = Array.from({ length: 12 }, (_, at) => `tool_${at}`)
const parameters = (name: string): JsonObject => ({
  type: 'object',
  properties: { path: { type: 'string', description: words(20, `${name}_path`) }, limit: { type: 'integer' } },
  required: ['path'],
})
const list = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? value : [])
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const agents: readonly AgentClient[] = [
  {
    name: 'responses',
    path: '/v1/responses',
    question: content => ({ role: 'user', content }),
    result: (call_id, output) => ({ type: 'function_call_output', call_id, output }),
    read: ({ output }) => ({
      added: list(output),
      calls: list(output).flatMap(({ type, call_id }) => (type === 'function_call' ? [textOf(call_id)] : [])),
    }),
    body: input => ({
      instructions,
      tools: toolNames.map(name => ({ type: 'function', name, parameters: parameters(name) })),
      input,
      include: ['reasoning.encrypted_content'],
      prompt_cache_key: 'session',
    }),
  },
  {
    name: 'chat',
    path: '/v1/chat/completions',
    question: content => ({ role: 'user', content }),
    result: (tool_call_id, content) => ({ role: 'tool', tool_call_id, content }),
    read({ choices }) {
      const message = list(choices)[0]?.message as JsonObject
      return { added: [message], calls: list(message.tool_calls).map(({ id }) => textOf(id)) }
    },
    body: history => ({
      messages: [{ role: 'system', content: instructions }, ...history],
      tools: toolNames.map(name => ({ type: 'function', function: { name, parameters: parameters(name) } })),
    }),
  },
  {
    // As Claude Code: with its billing header, and a cache point that moves on to the last message.
    name: 'messages',
    path: '/v1/messages',
    question: text => ({ role: 'user', content: [{ type: 'text', text }] }),
    result: (tool_use_id, content) => ({ role: 'user', content: [{ type: 'tool_result', tool_use_id, content }] }),
    read: ({ content }) => ({
      added: [{ role: 'assistant', content: list(content) }],
      calls: list(content).flatMap(({ type, id }) => (type === 'tool_use' ? [textOf(id)] : [])),
    }),
    body: (history, turn) => ({
      max_tokens: 32_000,
      system: [
        { type: 'text', text: `x-anthropic-billing-header: cc_version=2.1.330; cch=${turn * 7_919};` },
        { type: 'text', text: instructions, cache_control: { type: 'ephemeral' } },
      ],
      tools: toolNames.map(name => ({ name, input_schema: parameters(name) })),
      messages: history.map((message, at) => (at === history.length - 1 ? marked(message) : message)),
      metadata: { user_id: '{"session_id":"session"}' },
    }),
  },
]

const marked = (message: JsonObject): JsonObject => ({
  ...message,
  content: list(message.content).map((block, at, { length }) =>
    at === length - 1 ? { ...block, cache_control: { type: 'ephemeral' } } : block,
  ),
})

/** Ten requests: three tasks, each with some steps of tools. */
async function run(client: AgentClient, provider: ScriptedProvider): Promise<ScriptedProvider['calls']> {
  for (const step of steps) {
    const tools = Array.from({ length: step.calls }, (_, at) => ({
      id: `call_${step.at}_${at}`,
      name: `tool_${at}`,
      arguments: JSON.stringify({ path: `src/${step.at}/${at}.ts` }),
    }))
    provider.play(
      acts.reply({ reasoning: words(40, `thought${step.at}_`), text: words(30, `word${step.at}_`), ...(tools.length > 0 && { tools }) }),
    )
  }
  const { gateway, secret, close } = await testGateway({ providers: [provider] })
  onTestFinished(close)
  const fetch = gatewayFetch(gateway)
  let history: readonly JsonObject[] = []
  let calls: readonly string[] = []
  for (const { at } of steps) {
    const more =
      calls.length > 0 ? calls.map(call => client.result(call, words(150, `line${at}_`))) : [client.question(words(60, `task${at}_`))]
    history = [...history, ...more]
    const response = await fetch(`http://signalbox.local${client.path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'test-model', ...client.body(history, at) }),
    })
    const answer = (await response.json()) as JsonObject
    expect(response.status, JSON.stringify(answer)).toBe(200)
    const { added, calls: called } = client.read(answer)
    history = [...history, ...added]
    calls = called
  }
  return provider.calls
}

const steps = [3, 1, 0, 1, 2, 1, 0, 1, 1, 0].map((calls, at) => ({ calls, at }))

describe.each(agents)('an agent over the $name API', client => {
  test.each(shareOf(providerTraits, agents.indexOf(client), 2))('repeats its prefix with a provider of $name', async ({ dialect }) => {
    const calls = await run(client, scriptedProvider({ id: 'scripted', dialect }))
    expect(repeatedPrefixes(calls)).toEqual(Array(steps.length - 1).fill(true))
  })
})

test('content that changes with each request is placed after the conversation', async () => {
  const responses = agents.find(({ name }) => name === 'responses')
  if (!responses) throw new Error('There is such an agent.')
  // As Codex: in front of the rest, and in an order of its own each time.
  const body = (history: readonly JsonObject[], turn: number): JsonObject => ({
    client_metadata: turn % 2 ? { turn, thread: 'a' } : { thread: 'a', turn },
    ...responses.body(history, turn),
  })
  const calls = await run({ ...responses, body }, scriptedProvider({ id: 'scripted', dialect: responsesProvider }))
  expect(calls.map(({ body: { client_metadata: told } }) => told)).toMatchObject(calls.map((_, turn) => ({ turn, thread: 'a' })))
  expect(repeatedPrefixes(calls)).toEqual(Array(steps.length - 1).fill(true))
})

test('an agent over the Messages API repeats its prefix with Anthropic, except for its billing header', async () => {
  const messages = agents.find(({ name }) => name === 'messages')
  const { quirks, quirksOf }: Provider = anthropic({ apiKey: 'k' })
  const traits = providerTraits.find(({ name }) => name === 'messages')
  if (!messages || !traits) throw new Error('There is such an agent, and such a dialect.')
  const provider = scriptedProvider({ id: 'anthropic', dialect: traits.dialect })
  const calls = await run(messages, Object.assign(provider, { quirks, quirksOf }))
  const bodies = calls.map(({ body }) => JSON.stringify(body))
  expect(bodies.every(body => body.includes('cch='))).toBe(true)
  const without = bodies.map(body => ({ body: JSON.parse(body.replace(/cch=\d+/, '')) as JsonObject }))
  expect(repeatedPrefixes(without)).toEqual(Array(steps.length - 1).fill(true))
})

describe.each(aiPackages)('the AI SDK with $name', ({ name, model, providerOptions }) => {
  const number = aiPackages.findIndex(each => each.name === name)
  test.each(shareOf(providerTraits, number, 2))('repeats its prefix in a tool loop with a provider of $name', async ({ dialect }) => {
    const calling = { name: 'look', arguments: '{"place":"Zürich"}' }
    const looking = [1, 2, 3].map(step => acts.reply({ reasoning: 'Hm.', text: 'Looking.', tools: [{ ...calling, id: `call_${step}` }] }))
    const provider = scriptedProvider({ id: 'scripted', dialect, acts: [...looking, acts.reply('Done.')] })
    const look = tool({
      inputSchema: jsonSchema<{ place: string }>({ type: 'object', properties: { place: { type: 'string' } } }),
      execute: async ({ place }) => `${place}: ${words(80, 'rain')}`,
    })
    await generated(false, {
      model: model(await openTestbed([provider])),
      instructions,
      prompt: 'Go.',
      tools: { look },
      stopWhen: isStepCount(5),
      ...(providerOptions && { providerOptions }),
    })
    expect(repeatedPrefixes(provider.calls)).toEqual([true, true, true])
  })
})
