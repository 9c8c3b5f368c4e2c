import { readFile, writeFile } from 'node:fs/promises'
import { scopes } from '@signalbox/core/resources'
import type { LocalAnswer, Provider } from '@signalbox/dialects/protocol'
import { createGateway, type Model, memoryStorage } from 'signalbox'
import { createClient } from 'signalbox/client'
import { gatewayFetch } from 'signalbox/fetch'
import { compatible, openai, simulated } from 'signalbox/providers'
import { createRouter } from 'signalbox/router'

// What a reader of a page has before the first line of a block: a gateway, a key of it, and the app's own values that the page assumes. The
// blocks are compiled against these types, and run with these values.

const offers = [{ provider: 'sim', model: 'echo', api: 'chat', price: { input: 1_000_000, output: 2_000_000 } }]
const models: readonly Model[] = ['small', 'large', 'sim/story'].map(id => ({ id, offers }))
const secret = 'ak_for-the-blocks-0123456789'

/**
 * A simulated model that also does what the pages about tools and formats ask for: it calls the first tool until its result is there, and
 * answers a schema with an object that has its required fields.
 */
function capable(): Provider {
  const echo = simulated({ id: 'sim', firstWordMs: 1, wordMs: 1 })
  const answer: LocalAnswer = async call => {
    const { messages = [], tools = [], response_format } = call.body as ChatBody
    const [tool] = tools
    const isDone = messages.at(-1)?.role === 'tool'
    const argument = JSON.stringify({ city: 'Bern' })
    const tool_calls = [{ id: 'call_1', type: 'function', function: { name: tool?.function.name, arguments: argument } }]
    const message = tool && !isDone ? { role: 'assistant', content: null, tool_calls } : { role: 'assistant', content: argument }
    if (call.stream || !(tool || response_format)) return echo.answer?.(call) ?? Promise.reject(new Error('echo has no answer.'))
    const choice = { index: 0, message, finish_reason: message.content === null ? 'tool_calls' : 'stop' }
    const usage = { prompt_tokens: 9, completion_tokens: 9, total_tokens: 18 }
    return { status: 200, body: { id: 'c', object: 'chat.completion', created: 1, model: 'echo', choices: [choice], usage } }
  }
  return { ...echo, answer }
}

interface ChatBody {
  readonly messages?: readonly { readonly role: string }[]
  readonly tools?: readonly { readonly function: { readonly name: string } }[]
  readonly response_format?: object
}

/** Nothing listens there. */
const nowhere = 'http://127.0.0.1:9/v1'
const newProviders = () => [
  capable(),
  simulated({ id: 'example' }),
  openai({ apiKey: 'sk-nobody', baseURL: nowhere }),
  compatible({ id: 'local', baseURL: nowhere }),
]

function newGateway() {
  return createGateway({
    providers: newProviders(),
    models,
    storage: memoryStorage(),
    sealingKey: new Uint8Array(32).fill(7),
    async setup({ workspaces }) {
      for (const id of ['app', 'my-app']) await workspaces.create({ id, name: id, billing: 'postpaid' })
      await workspaces('my-app').apiKeys.create({ name: 'backend', secret, scopes: [...scopes] })
    },
  })
}

/** The values of one block. */
export function newSetting() {
  const gateway = newGateway()
  const offer = { id: 'alder', price: { input: 500_000, output: 1_600_000 } }
  return {
    gateway,
    secret,
    models,
    providers: newProviders(),
    storage: memoryStorage(),
    overrides: {},
    corrections: {},
    router: createRouter({ offers: [offer], preference: 'balanced', clock: performance, seed: 1 }),
    client: createClient({ baseURL: 'http://gateway.example', apiKey: secret, fetch: gatewayFetch(gateway) }),
    /** Of some record. */
    id: 'none',
    signal: new AbortController().signal,
    readFile,
    writeFile,
    /** Shows a part of an answer. */
    render: (text: string): void => void text,
    /** The app's own sign-in. */
    readSession: async (cookie: string | null): Promise<{ readonly userId: string } | undefined> =>
      cookie === null ? undefined : { userId: 'u_42' },
  }
}

export type Setting = ReturnType<typeof newSetting>
