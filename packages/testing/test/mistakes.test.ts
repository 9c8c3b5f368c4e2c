import { createApi } from '@signalbox/api'
import { gatewayFetch, toFetchHandler } from '@signalbox/fetch-handler'
import { createGateway } from '@signalbox/gateway'
import { serve, toNodeHandler } from '@signalbox/node-http'
import { memoryStorage } from '@signalbox/storage-memory'
import { expect, test } from 'vitest'
import * as providers from '../../providers/src/index.ts'

// What a program in plain JavaScript may get wrong where no compiler helps. Each mistake gets one line that names the function, the
// option and the way out.

// biome-ignore lint/suspicious/noExplicitAny: mistakes do not compile
type Any = any

const { openai, azure, amazonBedrock, googleVertex, compatible, groq, simulated, cloudflare, anthropic, google } = providers as Any

const offer = { provider: 'sim', model: 'echo', api: 'chat', price: { input: 1_000_000, output: 2_000_000 } }
const model = { id: 'small', offers: [offer] }
const logged: { readonly facts: unknown; readonly message: string }[] = []
const logger = { info() {}, error() {}, warn: (facts: unknown, message: string) => void logged.push({ facts, message }) }
const good = { providers: [simulated({ id: 'sim' })], models: [model], storage: memoryStorage(), logger }
const make = (options: Any): unknown => createGateway({ ...good, ...options } as Any)
const withOffer = (change: Any): unknown => make({ models: [{ ...model, offers: [{ ...offer, ...change }] }] })
const gateway = createGateway(good as Any)
const { clock } = gateway

const mistakes: readonly (readonly [name: string, run: () => unknown, message: string])[] = [
  ['no options', () => (createGateway as Any)(), 'createGateway: `providers` is missing; it takes a list of providers'],
  ['no storage', () => make({ storage: undefined }), 'createGateway: `storage` is missing; it takes a storage, such as memoryStorage().'],
  ['storage uncalled', () => make({ storage: memoryStorage }), 'createGateway: `storage` is a function; it takes an object.'],
  ['storage as an empty object', () => make({ storage: {} }), 'createGateway: `storage` is an object without stores'],
  ['no providers', () => make({ providers: undefined }), 'createGateway: `providers` is missing'],
  ['providers as an object', () => make({ providers: { openai: openai() } }), 'createGateway: `providers` is an object; it takes a list.'],
  ['a provider uncalled', () => make({ providers: [openai] }), '`providers[0]` is a function; call it, as in openai({ apiKey })'],
  ['a provider by name', () => make({ providers: ['openai'] }), '`providers[0]` is a string; it takes a provider'],
  ['no models', () => make({ models: undefined }), 'createGateway: `models` is missing; it takes a list of models'],
  ['models as an object', () => make({ models: { small: model } }), 'createGateway: `models` is an object; it takes a list.'],
  ['a model without offers', () => make({ models: [{ id: 'small' }] }), 'createGateway: `models[0].offers` is missing.'],
  ['a model by name', () => make({ models: ['small'] }), 'createGateway: `models[0]` is a string; it takes an object of options.'],
  ['model_id in an offer', () => withOffer({ model_id: 'x' }), 'there is no option `models[0].offers[0].model_id`.'],
  ['an offer without an API', () => withOffer({ api: undefined }), '`models[0].offers[0].api` is missing.'],
  [
    'a rate as a text',
    () => withOffer({ price: { input: '250000', output: 1 } }),
    'has "250000" as its `price.input`; it takes whole microdollars per million tokens',
  ],
  [
    'an hour as a number',
    () => withOffer({ price: { ...offer.price, windows: [{ from: 1, to: '02:00', input: 1, output: 1 }] } }),
    'has 1 in `price.windows.0`; it takes a time in UTC',
  ],
  [
    'a sealing key in quotes',
    () => make({ sealingKey: `"${'a'.repeat(64)}"` }),
    'createGateway: `sealingKey` begins and ends with a quotation mark',
  ],
  [
    'a base path with /v1',
    () => toFetchHandler(gateway, { basePath: '/api/ai/v1' }),
    'every path of the gateway begins with "/v1" itself; leave that out: "/api/ai".',
  ],
  ['a price as a number', () => withOffer({ price: 2 }), '`models[0].offers[0].price` is 2; it takes an object.'],
  ['strategey', () => make({ strategey: 'cost' }), 'createGateway: there is no option `strategey`. Did you mean `strategy`?'],
  ['basePath on the gateway', () => make({ basePath: '/api' }), 'createGateway: there is no option `basePath`.'],
  ['limits.inferenceRPM', () => make({ limits: { inferenceRPM: 1 } }), 'no option `limits.inferenceRPM`. Did you mean `inferenceRpm`?'],
  ['timeouts.firstByte', () => make({ timeouts: { firstByte: 1 } }), 'Did you mean `firstByteMs`?'],
  ['a limit as a text', () => make({ limits: { attempts: '3' } }), '`limits.attempts` is a string; it takes a number.'],
  ['hooks.onFinished', () => make({ hooks: { onFinished() {} } }), 'Did you mean `onFinish`?'],
  ['a hook that is no function', () => make({ hooks: { onFinish: true } }), '`hooks.onFinish` is true; it takes a function.'],
  ['storedItems: true', () => make({ storedItems: true }), 'createGateway: `storedItems` is true; it takes an object, or false.'],
  ['storedItems.maxbytes', () => make({ storedItems: { maxbytes: 1 } }), 'Did you mean `maxBytes`?'],
  ['decisionLog.kept', () => make({ decisionLog: { kept: 1 } }), 'Did you mean `keep`?'],
  [
    'a clock with fractions',
    () => make({ clock: { ...clock, now: () => 1.5 } }),
    '`clock.now()` returned 1.5; it returns whole Unix milliseconds',
  ],
  [
    'a cost in dollars',
    () => make({ maxHedgeCost: 0.5 }),
    'createGateway: `maxHedgeCost` is 0.5; it takes whole microdollars, 0 or more, as in usd(0.5).',
  ],
  ['hedge as a text', () => make({ hedge: 'yes' }), '`hedge` is a string; it takes true or false.'],
  ['openai({ baseUrl })', () => openai({ baseUrl: 'http://x' }), 'openai: there is no option `baseUrl`. Did you mean `baseURL`?'],
  ['anthropic({ api_key })', () => anthropic({ api_key: 'k' }), 'anthropic: there is no option `api_key`. Did you mean `apiKey`?'],
  ['google("key")', () => google('key'), 'google: the argument is a string; it takes an object of options.'],
  ['groq({ apikey })', () => groq({ apikey: 'k' }), 'groq: there is no option `apikey`. Did you mean `apiKey`?'],
  ['openai({ apiKey: 1 })', () => openai({ apiKey: 1 }), 'openai: `apiKey` is 1; it takes a string or a list of strings.'],
  ['compatible({ baseUrl })', () => compatible({ id: 'a', baseUrl: 'http://x' }), 'Did you mean `baseURL`?'],
  ['compatible without an id', () => compatible({ baseURL: 'http://x' }), 'compatible: `id` is missing'],
  ['azure without a resource', () => azure({ apiKey: 'k' }), 'azure: `resource` is missing; it takes the name of the resource'],
  ['vertex without a project', () => googleVertex({ accessToken: 't' }), 'googleVertex: `project` is missing'],
  ['bedrock({ aws_region })', () => amazonBedrock({ aws_region: 'x' }), 'amazonBedrock: there is no option `aws_region`.'],
  ['cloudflare({ account })', () => cloudflare({ account: 'x' }), 'Did you mean `accountId`?'],
  ['a handler of options', () => toFetchHandler(good as Any), 'toFetchHandler: the first argument is not a gateway'],
  ['a handler of nothing', () => (toFetchHandler as Any)(), 'toFetchHandler: the first argument is not a gateway'],
  ['basepath', () => toFetchHandler(gateway, { basepath: '/x' } as Any), 'Did you mean `basePath`?'],
  ['basePath without a slash', () => createApi(gateway, { basePath: 'api' }), '`basePath` must look like "/api", got "api".'],
  ['a listener of options', () => toNodeHandler(good as Any), 'toNodeHandler: the first argument is not a gateway'],
  ['bodyLimit', () => toNodeHandler(gateway, { bodyLimit: 1 } as Any), 'toNodeHandler: there is no option `bodyLimit`.'],
  ['a fetch of options', () => gatewayFetch(good as Any), 'gatewayFetch: the first argument is not a gateway'],
  ['webSockets.maxConections', () => toNodeHandler(gateway, { webSockets: { maxConections: 1 } } as Any), 'Did you mean `maxConnections`?'],
]

test.each(mistakes)('%s gets a helpful message', (_, run, message) => {
  expect(run).toThrow(TypeError)
  expect(run).toThrow(message)
})

const oldNames: readonly (readonly [old: string, run: () => unknown, now: string])[] = [
  ['models[0].offers[0].provider_model_id', () => withOffer({ provider_model_id: 'x' }), 'model'],
  ['models[0].offers[0].dialect', () => withOffer({ dialect: 'chat' }), 'api'],
  ['prepare', () => make({ prepare() {} }), 'transformRequest'],
  ['operator', () => make({ operator: 'me' }), 'ownedBy'],
  ['record', () => make({ record: {} }), 'decisionLog'],
  ['items', () => make({ items: {} }), 'storedItems'],
  ['holdMs', () => toFetchHandler(gateway, { holdMs: 1 } as Any), 'firstContentWaitMs'],
  ['bodyBytes', () => toNodeHandler(gateway, { bodyBytes: 1 } as Any), 'maxBodyBytes'],
  ['uploadBytesPerUser', () => toNodeHandler(gateway, { uploadBytesPerUser: 1 } as Any), 'maxUploadBytesPerUser'],
  ['exportRows', () => toFetchHandler(gateway, { exportRows: 1 } as Any), 'maxExportRows'],
  ['webSockets.connections', () => toNodeHandler(gateway, { webSockets: { connections: 1 } } as Any), 'maxConnections'],
  ['webSockets.keptBytes', () => toNodeHandler(gateway, { webSockets: { keptBytes: 1 } } as Any), 'maxHistoryBytes'],
  ['hedgeMaxCost', () => make({ hedgeMaxCost: 0.5 }), 'maxHedgeCost'],
  ['hooks.onPlan', () => make({ hooks: { onPlan() {} } }), 'onRoute'],
  ['hooks.onCommit', () => make({ hooks: { onCommit() {} } }), 'onFirstContent'],
  ['hooks.onSettle', () => make({ hooks: { onSettle() {} } }), 'onFinish'],
]

test.each(oldNames)('the old name `%s` is refused with the new one', (old, run, now) => {
  expect(run).toThrow(`there is no option \`${old}\`. It is \`${now}\` now.`)
})

test('a port given as a string is refused with its name, and the server does not start', async () => {
  await expect(serve(gateway, { port: '80' } as Any)).rejects.toThrow('serve: `port` is a string; it takes a number.')
})

test('no message contains a key', () => {
  for (const wrong of [{ apiKey: { key: 'sk-secret' } }, { apikey: 'sk-secret' }, 'sk-secret']) {
    expect(() => openai(wrong)).toThrow(expect.objectContaining({ message: expect.not.stringContaining('sk-secret') }))
  }
})

test('a provider without a key is off; the log says so at the start, and `problems` too if no provider has a key', async () => {
  const models = [{ id: 'm', offers: [{ ...offer, provider: 'openai', api: 'responses' }] }]
  for (const apiKey of [undefined, '']) {
    logged.length = 0
    const off = createGateway({ ...good, models, providers: [openai({ apiKey })] } as Any)
    expect(logged).toEqual([{ facts: { providers: ['openai'] }, message: expect.stringContaining('they have no key') }])
    expect((await off.health()).problems).toEqual(['No provider has a key.'])
  }
  logged.length = 0
  const on = createGateway({ ...good, models, providers: [openai({ apiKey: '', baseURL: 'http://127.0.0.1:1/v1' })] } as Any)
  expect([logged, (await on.health()).problems]).toEqual([[], []])
})

test('providers without a credential are told with the options that each of them takes', () => {
  const told = logged.length
  const list = [googleVertex(), amazonBedrock(), azure(), cloudflare(), openai()]
  make({
    providers: [...good.providers, ...list],
    models: [{ ...model, offers: [offer, ...list.map(({ id, dialects }) => ({ ...offer, provider: id, api: dialects[0].name }))] }],
  })
  const { message = '' } = logged.slice(told).find(line => line.message.includes('they have no key')) ?? {}
  expect(message).toContain('`serviceAccount`, or `accessToken` and `project`, or `apiKey` of "google-vertex"')
  expect(message).toContain('`accessKeyId` and `secretAccessKey` of "amazon-bedrock"')
  expect(message).toContain('`resource` and `apiKey`')
  expect(message).toContain('`apiKey` and `accountId` of "cloudflare-workers-ai"; `apiKey` of "openai"')
})

test('a price that looks like dollars causes a warning, free and cheap ones do not', () => {
  const told = (price: object): number => {
    logged.length = 0
    withOffer({ price })
    return logged.length
  }
  expect([told({ input: 2, output: 10 }), told({ input: 0, output: 0 }), told({ input: 20_000, output: 30_000 })]).toEqual([1, 0, 0])
})
