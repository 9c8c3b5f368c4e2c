import { createGateway } from '@signalbox/core'
import type { Model } from '@signalbox/core/protocol'
import { compatible } from '@signalbox/core/providers'
import { nodeTransport, serve as serveGateway } from '@signalbox/node-http'
import type { Storage } from '@signalbox/storage'
import { memoryStorage } from '@signalbox/storage-memory'
import { sqliteStorage } from '@signalbox/storage-sql/sqlite'
import { serve } from '../ipc.ts'
import { type Language, languages } from '../languages.ts'
import { measured } from './measured.ts'

/** The gateway as a user runs it on Node. Its only argument: a SQLite file; without, the books are kept in memory. */
const [, , file] = process.argv
const storage: Storage = await (file === undefined ? memoryStorage() : sqliteStorage(file))

const price = { input: 250_000, output: 2_000_000 }
const model = (dialect: Language, provider_model_id: string): Model => ({
  id: `${dialect}/${provider_model_id}`,
  offers: [{ provider: 'bench', provider_model_id, dialect, price }],
})

serve(
  measured(async ({ upstream }) => {
    const gateway = createGateway({
      providers: [compatible({ id: 'bench', baseUrl: `${upstream}/v1`, apiKey: 'sk-bench', speaks: languages })],
      models: languages.flatMap(dialect => ['bench', 'bench-burst', 'bench-slow'].map(wired => model(dialect, wired))),
      storage,
      transport: nodeTransport(),
      // Counted as ever, and never reached.
      limits: { inferenceRpm: 1_000_000_000, concurrentRequests: 100_000 },
    })
    const workspace = await gateway.workspaces.create({ name: 'Bench' })
    await gateway.workspaces(workspace.id).billing.credit({ reference: 'bench', amount: 1_000_000_000_000 })
    const { secret } = await gateway.workspaces(workspace.id).apiKeys.create({ name: 'bench' })
    const { port } = await serveGateway(gateway, { port: 0 })
    return { port, authorization: `Bearer ${secret}`, speaks: Object.keys(gateway.dialects) }
  }),
)
