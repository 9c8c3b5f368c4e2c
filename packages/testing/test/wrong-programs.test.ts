import { signalbox } from '@signalbox/ai-sdk'
import { chatProvider } from '@signalbox/dialects'
import { toFetchHandler } from '@signalbox/fetch-handler'
import { createGateway, defineProvider, type Gateway, type Model } from '@signalbox/gateway'
import { amazonBedrock, anthropic, compatible, openai, simulated } from '@signalbox/providers'
import { memoryStorage } from '@signalbox/storage-memory'
import { expect, expectTypeOf, test } from 'vitest'

// Programs that the compiler refuses: `pnpm types` fails where a line below a `@ts-expect-error` compiles. Nothing of `wrong` runs.

const storage = memoryStorage()
const price = { input: 1_000_000, output: 2_000_000 }
const good = {
  providers: [simulated({ id: 'sim' })],
  models: [{ id: 'small', aliases: ['s'], offers: [{ provider: 'sim', model: 'echo', api: 'chat', price }] }],
  storage,
} as const
/** With a dialect of its own, whose name is in the type of the provider. */
const acme = defineProvider({ id: 'acme', baseURL: 'https://acme.example/v1', dialects: [{ ...chatProvider, name: 'acme' }], apiKey: 'sk' })
const own = {
  providers: [acme, simulated({ id: 'sim' })],
  models: [
    {
      id: 'small',
      offers: [
        { provider: 'acme', model: 'm', api: 'acme' },
        { provider: 'sim', model: 'echo', api: 'chat' },
      ],
    },
  ],
  storage,
} as const
const make = () => createGateway({ ...good, strategies: { thrifty: ({ cost }) => cost } })
const apiKey = 'ak_'

const wrong = (gateway: ReturnType<typeof make>): readonly unknown[] => [
  // @ts-expect-error no providers
  createGateway({ models: good.models, storage }),
  // @ts-expect-error no storage
  createGateway({ providers: good.providers, models: good.models }),
  // @ts-expect-error an unknown option
  createGateway({ providers: good.providers, models: good.models, storage, stratgey: 'cost' }),
  // @ts-expect-error a strategy that does not exist
  createGateway({ ...good, strategy: 'cheapest' }),
  // @ts-expect-error a provider that is not called
  createGateway({ ...good, providers: [openai] }),
  // @ts-expect-error an offer of a provider that is not there
  createGateway({ ...good, models: [{ id: 'small', offers: [{ provider: 'nope', model: 'm', api: 'chat' }] }] }),
  // @ts-expect-error an offer in an API that does not exist
  createGateway({ ...good, models: [{ id: 'small', offers: [{ provider: 'sim', model: 'm', api: 'openai' }] }] }),
  // @ts-expect-error an offer in an API that the provider does not have
  createGateway({ ...own, models: [{ id: 'small', offers: [{ provider: 'acme', model: 'm', api: 'acne' }] }] }),
  // @ts-expect-error an offer without a provider
  createGateway({ ...good, models: [{ id: 'small', offers: [{ model: 'm', api: 'chat' }] }] }),
  // @ts-expect-error a field of a model in snake case
  createGateway({ ...good, models: [{ id: 'small', display_name: 'Small', offers: [] }] }),
  // @ts-expect-error a price as text
  createGateway({ ...good, models: [{ id: 'small', offers: [{ ...good.models[0].offers[0], price: { input: '1', output: 2 } }] }] }),
  // @ts-expect-error a time as text
  createGateway({ ...good, timeouts: { idleMs: '5s' } }),
  // @ts-expect-error an unknown limit
  createGateway({ ...good, limits: { rpm: 5 } }),
  // @ts-expect-error the key of a provider under another name
  openai({ key: 'sk-…' }),
  // @ts-expect-error a server without a URL
  compatible({ id: 'local' }),
  // @ts-expect-error a dialect that does not exist
  compatible({ id: 'local', baseURL: 'http://127.0.0.1:8000/v1', apis: ['openai'] }),
  // @ts-expect-error a region as a number
  amazonBedrock({ region: 1 }),
  // @ts-expect-error a model that is not there
  gateway.responses.create({ model: 'smal', input: 'Hi' }, { apiKey }),
  // @ts-expect-error the same in Chat Completions
  gateway.chat.completions.create({ model: 'smal', messages: [] }, { apiKey }),
  // @ts-expect-error the same in Messages
  gateway.messages.create({ model: 'smal', max_tokens: 5, messages: [] }, { apiKey }),
  // @ts-expect-error a parameter that is misspelt
  gateway.responses.create({ model: 'small', input: 'Hi', temprature: 1 }, { apiKey }),
  // @ts-expect-error the same in Chat Completions
  gateway.chat.completions.create({ model: 'small', messages: [], temprature: 1 }, { apiKey }),
  // @ts-expect-error the same in Messages
  gateway.messages.create({ model: 'small', max_tokens: 5, messages: [], temprature: 1 }, { apiKey }),
  // @ts-expect-error a strategy of a request that does not exist
  gateway.responses.create({ model: 'small', input: 'Hi', gateway: { routing: { strategy: 'cheapest' } } }, { apiKey }),
  // @ts-expect-error no caller and no API key
  gateway.responses.create({ model: 'small', input: 'Hi' }),
  // @ts-expect-error `prompt` in place of `input`
  gateway.responses.create({ model: 'small', prompt: 'Hi' }, { apiKey }),
  // @ts-expect-error a model that is not there, for the AI SDK
  signalbox(gateway)('smal'),
  // @ts-expect-error a handler of nothing
  toFetchHandler(),
]

test('an offer may be in an API that a provider names in its type, or that is not a literal', async () => {
  await createGateway({ ...own, storage: memoryStorage() }).close()
  const api: string = 'chat'
  const offer = { provider: 'sim', model: 'echo', api }
  await createGateway({ ...good, storage: memoryStorage(), models: [{ id: 'small', offers: [offer] }] }).close()
})

test('literals in the options of a gateway determine its types', () => {
  expect(wrong).toBeTypeOf('function')
  const gateway = make()
  type Body = Parameters<typeof gateway.responses.create>[0]
  expectTypeOf<Body['model']>().toEqualTypeOf<'small' | 's' | null | undefined>()
  type Routing = NonNullable<NonNullable<Body['gateway']>['routing']>
  expectTypeOf<'thrifty' | 'order' | 'latency'>().toExtend<Routing['strategy']>()
  const right = () => [
    gateway.responses.create({ model: 's', input: 'Hi', gateway: { routing: { strategy: 'thrifty' } } }, { apiKey }),
    gateway.responses.create({ model: 'small', input: 'Hi', extensions: { sim: { anything: 1 } } }, { apiKey }),
    toFetchHandler(gateway),
    signalbox(gateway)('small'),
  ]
  expect(right).toBeTypeOf('function')
})

test('a gateway whose models come from elsewhere accepts any name', () => {
  const models: readonly Model[] = good.models
  const gateway = createGateway({ providers: [anthropic(), openai()], models, storage })
  expectTypeOf(gateway).toExtend<Gateway>()
  expectTypeOf<Parameters<typeof gateway.responses.create>[0]['model']>().toEqualTypeOf<string | null | undefined>()
  const mixed = () => createGateway({ ...good, models: [...models, ...good.models], strategy: 'order' })
  expectTypeOf<Parameters<ReturnType<typeof mixed>['responses']['create']>[0]['model']>().toEqualTypeOf<string | null | undefined>()
})
