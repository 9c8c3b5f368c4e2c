import type { BuiltInDialect } from '@signalbox/dialects'
import type { Model, Offer, Provider } from '@signalbox/dialects/protocol'
import { type Caller, createGateway, type Gateway, type GatewayOptions } from '@signalbox/gateway'
import { compatible } from '@signalbox/providers'
import type { Storage } from '@signalbox/storage'
import { memoryStorage } from '@signalbox/storage-memory'
import { cannedAnswers, isBuiltInDialect } from './answers/writers.ts'
import { faults } from './chaos/faults.ts'

/** The location of a provider: a {@link chaosProvider}, the base URL of an address fault, or anything else with a URL. */
export type Reachable = { readonly url: string } | { readonly baseURL: string }

export interface TestGatewayOptions extends Omit<Partial<GatewayOptions>, 'providers' | 'models'> {
  /** Tried in this order, as `server-1`, `server-2`, …: the strategy is `order` unless the options say otherwise. */
  readonly servers?: readonly Reachable[]
  /** Tried after the servers. */
  readonly providers?: readonly Provider[]
  /** Default: {@link testModels} over all servers and providers. */
  readonly models?: readonly Model[]
  /** The dialect between gateway and servers. Default: `responses`. */
  readonly dialect?: BuiltInDialect
  /** Microdollars. Default: a thousand dollars. */
  readonly credit?: number
}

export interface TestGateway {
  readonly gateway: Gateway
  /** The secret of a key with every scope. */
  readonly secret: string
  readonly caller: Caller
  readonly storage: Storage
  close(): Promise<void>
}

/** Price of every test model in microdollars per token: one for input, two for output. */
export const testPrice = { input: 1_000_000, output: 2_000_000 } as const

const offer = (provider: string, api: string, model: string): Offer => ({
  provider,
  model,
  api,
  price: testPrice,
})

/**
 * `test-model`, `say:<script>` for every script, and `fault:<name>` for every fault: the first provider plays the fault, and each further
 * one responds correctly.
 */
export function testModels(providers: readonly { readonly id: string; readonly dialect: string }[]): readonly Model[] {
  const model = (id: string, wired: (at: number) => string): Model => ({
    id,
    offers: providers.map((provider, index) => offer(provider.id, provider.dialect, wired(index))),
  })
  return [
    model('test-model', () => 'test-model'),
    ...Object.keys(cannedAnswers).map(name => model(`say:${name}`, () => `say:${name}`)),
    ...faults.map(({ name }) => model(`fault:${name}`, at => (at === 0 ? `fault:${name}` : 'test-model'))),
  ]
}

/**
 * A real gateway over memory storage, with one workspace, plenty of credit, and one key.
 *
 * @example
 * const server = await chaosProvider()
 * const { gateway, caller } = await testGateway({ servers: [server] })
 * const response = await gateway.infer(request('test-model'), { caller }).whole()
 */
export async function testGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const {
    servers = [],
    providers = [],
    models,
    dialect = 'responses',
    credit = 1_000_000_000,
    storage = memoryStorage(),
    ...rest
  } = options
  const reached = servers.map((server, index) =>
    compatible({
      id: `server-${index + 1}`,
      baseURL: 'url' in server ? server.url : server.baseURL,
      apiKey: `sk-server-${index + 1}`,
      apis: [dialect],
    }),
  )
  const all = [...reached, ...providers]
  const spoken = all.map(({ id, dialects }) => ({ id, dialect: dialects.map(({ name }) => name).find(isBuiltInDialect) ?? dialect }))
  const gateway = createGateway({
    logger: quiet,
    strategy: 'order',
    ...rest,
    storage,
    providers: all,
    models: models ?? testModels(spoken),
  })
  const workspace = await gateway.workspaces.create({ name: 'Test' })
  if (credit > 0) await gateway.workspaces(workspace.id).billing.credit({ reference: 'test', amount: credit })
  const { secret } = await gateway.workspaces(workspace.id).apiKeys.create({ name: 'test', scopes: '*' })
  return { gateway, secret, caller: await gateway.authenticate(secret), storage, close: () => gateway.close() }
}

/** Tests check responses, not logs. */
const quiet = { info: () => {}, warn: () => {}, error: () => {} }
