import type { Model, Transport } from '@signalbox/dialects/protocol'
import { createGateway, type Gateway } from '@signalbox/gateway'
import { compatible } from '@signalbox/providers'
import type { Storage } from '@signalbox/storage'
import { type Dialect, dialects } from './dialects.ts'

export interface BenchGatewayOptions {
  /** The provider's URL. */
  readonly upstream: string
  readonly storage: Storage
  readonly transport: Transport
  /** Makes counts repeatable: no request stores more routing data in its usage row than others. Default: false. */
  readonly isRepeatable?: boolean
}

export interface BenchGateway {
  readonly gateway: Gateway
  /** The authorization header with a key of a workspace with credit. */
  readonly authorization: string
}

const price = { input: 250_000, output: 2_000_000 }
const model = (dialect: Dialect, model: string): Model => ({
  id: `${dialect}/${model}`,
  offers: [{ provider: 'bench', model, api: dialect, price }],
})

/** The measured gateway: every step of a request is enabled, and no limit is reached. */
export async function openBenchGateway({ upstream, storage, transport, isRepeatable = false }: BenchGatewayOptions): Promise<BenchGateway> {
  const gateway = createGateway({
    providers: [compatible({ id: 'bench', baseURL: `${upstream}/v1`, apiKey: 'sk-bench', apis: dialects })],
    models: dialects.flatMap(dialect => ['bench', 'bench-burst', 'bench-slow'].map(id => model(dialect, id))),
    storage,
    transport,
    ...(isRepeatable && { seed: 1, decisionLog: { store: 0 } }),
    limits: { inferenceRpm: 1_000_000_000, concurrentRequests: 100_000 },
  })
  const workspace = await gateway.workspaces.create({ name: 'Bench' })
  await gateway.workspaces(workspace.id).billing.credit({ reference: 'bench', amount: 1_000_000_000_000 })
  const { secret } = await gateway.workspaces(workspace.id).apiKeys.create({ name: 'bench' })
  return { gateway, authorization: `Bearer ${secret}` }
}
