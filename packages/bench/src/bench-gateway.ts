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
  /** What a request is checked for. Default: `credit`, with counters that no request reaches. */
  readonly duties?: Duties
}

/**
 * What the gateway does for a request beside forwarding it. Each has what the one before it has.
 *
 * - `key`: checks the key, and counts its requests per minute and at a time, which it always does; offers are free;
 * - `limits`: tokens per minute, and limits of the workspace;
 * - `credit`: offers have a price, so that each request holds and settles credit and a budget.
 */
export type Duties = 'key' | 'limits' | 'credit'

export interface BenchGateway {
  readonly gateway: Gateway
  /** The authorization header with a key of a workspace with credit. */
  readonly authorization: string
}

const price = { input: 250_000, output: 2_000_000 }
const models = ['bench', 'bench-burst', 'bench-slow', 'bench-board']
const model = (dialect: Dialect, model: string, isFree: boolean): Model => ({
  id: `${dialect}/${model}`,
  offers: [{ provider: 'bench', model, api: dialect, price: isFree ? { input: 0, output: 0 } : price }],
})
const plenty = 1_000_000_000

/** The measured gateway: every step of a request is enabled, and no limit is reached. */
export async function openBenchGateway(options: BenchGatewayOptions): Promise<BenchGateway> {
  const { upstream, storage, transport, isRepeatable = false, duties } = options
  const gateway = createGateway({
    providers: [compatible({ id: 'bench', baseURL: `${upstream}/v1`, apiKey: 'sk-bench', apis: dialects })],
    models: dialects.flatMap(dialect => models.map(id => model(dialect, id, duties === 'key' || duties === 'limits'))),
    storage,
    transport,
    ...(isRepeatable && { seed: 1, decisionLog: { store: 0 } }),
    limits: {
      inferenceRpm: plenty,
      concurrentRequests: 100_000,
      ...(duties !== undefined &&
        duties !== 'key' && {
          tokensPerMinute: plenty,
          workspace: { requestsPerMinute: plenty, tokensPerMinute: plenty, concurrentRequests: 100_000 },
        }),
    },
  })
  const workspace = await gateway.workspaces.create({ name: 'Bench' })
  await gateway.workspaces(workspace.id).billing.credit({ reference: 'bench', amount: 1_000_000_000_000 })
  if (duties === 'credit')
    await gateway.workspaces(workspace.id).budgets.create({ name: 'bench', limit: 1_000_000_000_000, period: 'month' })
  const { secret } = await gateway.workspaces(workspace.id).apiKeys.create({ name: 'bench' })
  return { gateway, authorization: `Bearer ${secret}` }
}
