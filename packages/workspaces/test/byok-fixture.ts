import type { Transport, TransportRequest } from '@signalbox/dialects/protocol'
import type { Gateway } from '@signalbox/gateway'
import { anthropic, azure, cloudflare, compatible, google, openai, simulated } from '@signalbox/providers'
import { expect } from 'vitest'
import { waitFor } from '../../testing/test/waits.ts'
import { createFixture, type Fixture } from './fixture.ts'

export interface Answered {
  readonly status: number
  readonly body?: unknown
  /** Instead of a body in JSON. */
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** What a vendor answers; the default: who shows a key that begins with `sk-` is served. */
type Vendor = (request: TransportRequest) => Answered | Promise<Answered>

export const secretIn = ({ headers }: TransportRequest): string =>
  headers.authorization?.replace('Bearer ', '') ?? headers['x-api-key'] ?? headers['x-goog-api-key'] ?? headers['api-key'] ?? ''

const completion = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
}

export const served = ({ method }: Pick<TransportRequest, 'method'>): Answered => ({
  status: 200,
  body: method === 'GET' ? { object: 'list', data: [] } : completion,
})
/** Repeats the key in its words, as some do. */
export const refused = (request: TransportRequest, status = 401): Answered => ({
  status,
  body: { error: { message: `Incorrect key provided: ${secretIn(request)}. You said ${secretIn(request)}.`, type: 'auth', code: 'nope' } },
})
const usual: Vendor = request => (secretIn(request).startsWith('sk-') ? served(request) : refused(request))

interface Seen extends Pick<TransportRequest, 'url' | 'method'> {
  readonly secret: string
}

export interface ByokFixture extends Fixture {
  /** In the order of their coming. */
  readonly seen: Seen[]
  /** All that was logged, as text. */
  readonly logged: string[]
  /** What the vendor does from now on. */
  vendor(does: Vendor): void
  readonly keys: ReturnType<Gateway['workspaces']>['byokKeys']
  /** A request of the workspace (default `w`) for the model `m`. */
  ask(workspaceId?: string): Promise<unknown>
  /** Which secrets it was asked with, GETs aside. */
  asked(): readonly string[]
}

const tier = (name: string, dataPolicy: 'no_training' | 'may_train' | 'zdr' = 'no_training') => ({
  tier: name,
  displayName: name,
  dataPolicy,
  qualification: '',
})
const facts = [
  {
    id: 'openai',
    displayName: 'OpenAI',
    dataPolicy: 'no_training',
    tiers: [tier('free', 'may_train'), tier('tier_1'), tier('tier_2'), tier('zdr', 'zdr')],
  },
] as const

export const sealingKey = (fill = 1): Uint8Array => new Uint8Array(32).fill(fill)

export async function createByokFixture(options: Parameters<typeof createFixture>[0] = {}): Promise<ByokFixture> {
  const seen: Seen[] = []
  const logged: string[] = []
  let does = usual
  const transport: Transport = async request => {
    seen.push({ url: request.url, method: request.method, secret: secretIn(request) })
    const { status, body = {}, text = JSON.stringify(body), headers = {} } = await does(request)
    const bytes = [new TextEncoder().encode(text)]
    return {
      status,
      header: name => ({ 'content-type': 'application/json', ...headers })[name],
      body: {
        next: async () => {
          const value = bytes.pop()
          return value ? { done: false, value } : { done: true, value: undefined }
        },
        return: async () => ({ done: true, value: undefined }),
      },
    }
  }
  const log = (told: object, message: string): void => void logged.push(`${message} ${JSON.stringify(told)}`)
  const offer = { provider: 'openai', model: 'gpt-5', api: 'chat', price: { input: 1, output: 1 } }
  const made = await createFixture({
    sealingKey: sealingKey(),
    providers: [
      openai(),
      anthropic(),
      google(),
      azure(),
      cloudflare(),
      compatible({ id: 'other', baseURL: 'https://other.example/v1' }),
      compatible({ id: 'internal', baseURL: 'http://10.0.0.5:8000/v1', byok: false }),
      simulated({ id: 'sim' }),
    ],
    models: [{ id: 'm', offers: [offer] }],
    facts,
    transport,
    logger: { info: log, warn: log, error: log },
    ...options,
  })
  const { gateway } = made
  for (const id of ['w', 'other']) await gateway.workspaces(id).billing.credit({ reference: `credit of ${id}`, amount: 1_000_000 })
  const callers = new Map<string, string>()
  const secretOf = async (workspaceId: string): Promise<string> => {
    const known = callers.get(workspaceId) ?? (await gateway.workspaces(workspaceId).apiKeys.create({ name: 'test' })).secret
    callers.set(workspaceId, known)
    return known
  }
  return {
    ...made,
    seen,
    logged,
    keys: gateway.workspaces('w').byokKeys,
    vendor: next => {
      does = next
    },
    ask: async (workspaceId = 'w') =>
      gateway.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] }, { apiKey: await secretOf(workspaceId) }),
    asked: () => seen.filter(({ method }) => method === 'POST').map(({ secret }) => secret),
  }
}

export const openaiKey = { provider: 'openai', apiKey: 'sk-one-0123456789', name: 'one' } as const

/** Until the background has written what came of the validation. */
export const settled = (keys: ByokFixture['keys'], id: string) =>
  waitFor(async () => {
    const key = await keys.get(id)
    expect(key.validationStatus).not.toBe('pending')
    return key
  })
