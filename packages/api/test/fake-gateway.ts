import { type ClaimMemory, sourceOf, webClock, webIds } from '@signalbox/core/runtime'
import { GatewayError } from '@signalbox/dialects/errors'
import type {
  ClientDialect,
  InferenceEvent,
  InferenceRequest,
  InferenceResponse,
  JsonObject,
  Model,
  ResponseMetadata,
} from '@signalbox/dialects/protocol'
import type { Caller, Gateway, Reply } from '@signalbox/gateway'
import { offersHere } from '../src/catalog/offers.ts'

export const goodKey = 'ak_good'

/** What a call does, for the test to say. */
interface Act {
  readonly commit?: Promise<void>
  /** Batches, given as they are pulled; a promise is waited for. */
  readonly batches?: () => Batches
  readonly response?: Promise<InferenceResponse>
}

export interface Fake {
  readonly gateway: Gateway
  /** Set what the next calls do. */
  act: (call: {
    readonly request: InferenceRequest
    readonly signal: AbortSignal | undefined
    readonly claimMemory: ClaimMemory | undefined
  }) => Act
  readonly errors: string[]
  readonly calls: { readonly request: InferenceRequest; readonly requestId: string | undefined; readonly signal: AbortSignal | undefined }[]
}

const caller: Caller = {
  keyId: '018f0000-0000-7000-8000-000000000001',
  keyName: 'test',
  keyPrefix: 'ak_good',
  workspaceId: '018f0000-0000-7000-8000-000000000002',
  workspaceName: 'default',
  billing: 'postpaid',
  scopes: new Set(['inference:invoke']),
  createdAt: 1_700_000_000_000,
}

const metadata: ResponseMetadata = { id: 'resp_1', model: 'small', created_at: 1_700_000_000, itemId: prefix => `${prefix}1`, warnings: [] }

type Header = ((name: string) => string | undefined) | undefined

/** Just enough of a dialect to see what was passed. */
const dialect = (name: string, own: Partial<ClientDialect> = {}): ClientDialect => ({
  name,
  decodeRequest: (body, header: Header) =>
    ({
      prompt: { input: [] },
      routing: { models: [String(body.model ?? 'small')], allow_fallbacks: true },
      delivery: body.stream === true ? 'stream' : 'whole',
      original: body,
      beta: header?.('anthropic-beta'),
    }) as InferenceRequest,
  encodeResponse: (response): JsonObject => ({ id: response.id, object: 'response', status: response.outcome.status, output: [] }),
  encodeEvents: () => ({
    write: events =>
      events.map(event => ({
        event: event.type === 'finished' ? `response.${event.outcome.status}` : `response.${event.type}`,
        data: JSON.stringify(event.type === 'delta' && event.delta.kind !== 'annotation' ? { delta: event.delta.text } : event),
      })),
  }),
  encodeError: ({ message, type, code, param }) => ({ error: { message, type, code, param } }),
  ...own,
})

const messages = dialect('messages', {
  encodeError: ({ message, type, code, param, request_id }) => ({ type: 'error', error: { message, type, code, param }, request_id }),
  keepAlive: { event: 'ping', data: '{"type":"ping"}' },
})

export const delta = (text: string): InferenceEvent => ({ type: 'delta', index: 0, delta: { kind: 'text', part: 0, text } })
export const finished: InferenceEvent = { type: 'finished', outcome: { status: 'completed' } }
export const completed: InferenceResponse = { id: 'x', model: 'small', created_at: 1, output: [], outcome: { status: 'completed' } }

const notHere = (): Promise<never> => Promise.reject(new Error('not here'))

type Batches = AsyncIterator<readonly InferenceEvent[], undefined>

/** Nothing is sent before the commit; a rejection of it is the failure of the events. */
const afterCommit = (commit: Promise<void>, batches: Batches): Batches => ({
  next: () => commit.then(() => batches.next()),
  async return() {
    await batches.return?.()
    return { done: true, value: undefined }
  },
})

async function compactedBy({ infer }: Gateway, request: InferenceRequest, options: Parameters<Gateway['compact']>[1]) {
  const reply = infer({ ...request, delivery: 'whole' }, options)
  return {
    item: { type: 'compaction', id: 'cmp_1', encrypted_content: 'gwc1.x' },
    response: await reply.whole(),
    metadata: reply.metadata(),
  }
}

/** A gateway of plain values: the HTTP side is tested without an engine. */
export function fakeGateway(over: Partial<Gateway> = {}): Fake {
  const errors: string[] = []
  const calls: Fake['calls'] = []
  const model = {
    id: 'small',
    aliases: ['s'],
    created: 1_700_000_000,
    offers: [{ provider: 'p', model: 'x', api: 'chat', contextWindow: 8192, price: { input: 50_000, output: 100_000 } }],
  }
  const deep: Model = { id: 'meta/llama', offers: [{ provider: 'p', model: 'l', api: 'chat' }] }
  const findModel = (name: string) => [model, deep].find(one => one.id === name || (name === 's' && one.id === 'small'))
  const fake: Fake = {
    act: () => ({ response: Promise.resolve(completed) }),
    errors,
    calls,
    gateway: {
      ownedBy: 'signalbox',
      limits: { inferenceRpm: 1, managementReadsRpm: 2, managementWritesRpm: 3, concurrentRequests: 4, maxOutputTokens: 6, attempts: 5 },
      clock: webClock(),
      ids: webIds(),
      logger: { info: () => {}, warn: () => {}, error: (facts, message) => errors.push(`${message} ${JSON.stringify(facts)}`) },
      dialects: { responses: dialect('responses'), chat: dialect('chat'), messages, 'ai-sdk': dialect('ai-sdk') },
      dialectLoaders: {},
      authenticate: async secret => {
        if (secret === goodKey) return caller
        throw new GatewayError('invalid_api_key', { message: 'The API key is missing or not valid.' })
      },
      identity: async who => ({ caller: who, limits: { inferenceRpm: 1, managementReadsRpm: 2, managementWritesRpm: 3 }, budgets: [] }),
      decisionLog: { of: () => undefined, trace: () => ({ version: 2, seed: 1, dropped: 0, decisions: [] }) },
      countManagement: async () => {},
      ready: async () => {},
      admitEarly: async () => ({ slots: [], take: () => {}, leave: () => undefined }),
      plan: () => Promise.reject(new Error('not here')),
      countTokens: async () => ({ input_tokens: 7, estimated: true }),
      fidelity: async () => [],
      compact: (request, options) => compactedBy(fake.gateway, request, options),
      infer: (request, { requestId, signal, claimMemory }): Reply => {
        calls.push({ request, requestId, signal })
        const { commit = Promise.resolve(), batches, response = Promise.resolve(completed) } = fake.act({ request, signal, claimMemory })
        commit.catch(() => {})
        response.catch(() => {})
        const read = batches ?? ((): Batches => ({ next: async () => ({ done: true, value: undefined }) }))
        return {
          committed: commit,
          events: () => sourceOf(afterCommit(commit, read())),
          batches: read,
          whole: () => response,
          leave: async () => {},
          metadata: () => metadata,
          [Symbol.asyncIterator]: () => {
            throw new Error('not here')
          },
        }
      },
      // Every model can be called, even one without an offer.
      callableOffers: async () => ({
        key: '',
        of: model => {
          const here = offersHere(fake.gateway)(model)
          return here.length > 0 ? here : [{ provider: 'p', model: model.id, api: 'chat' }]
        },
      }),
      models: {
        find: findModel,
        resolve: findModel,
        list: () => [deep, model],
        similarNames: () => ['small'],
        providers: () => ['p', 'small'].map(id => ({ id, displayName: id, dataPolicy: 'unknown', dialects: ['chat'] })),
        version: () => 1,
        replace: () => {},
      },
      workspaces: Object.assign(
        () => {
          throw new Error('not here')
        },
        { create: notHere, list: async () => [], acceptInvite: notHere },
      ),
      resealCredentials: notHere,
      replies: { name: notHere, find: notHere, keep: notHere },
      isShared: false,
      responses: { create: notHere },
      chat: { completions: { create: notHere } },
      messages: { create: notHere, countTokens: notHere },
      health: async () => ({ problems: [], notices: [] }),
      isClosing: () => false,
      close: async () => {},
      ...over,
    },
  }
  return fake
}
