// A gateway as a Cloudflare Worker: a Durable Object keeps keys, credit and limits for all Workers of the account.
import { createGateway, usd } from 'signalbox'
import { openai, simulated } from 'signalbox/providers'
import { type ObjectNamespace, toWorkersHandler, workersStorage } from 'signalbox/workers'

export { StorageObject } from 'signalbox/workers'

interface Env {
  readonly STORAGE: ObjectNamespace
  readonly GATEWAY_KEY: string
  readonly SEALING_KEY: string
  readonly CREDIT_USD: string
  readonly OPENAI_API_KEY?: string
  readonly OPENAI_BASE_URL?: string
}

export default toWorkersHandler((env: Env) =>
  createGateway({
    // Without a key OpenAI is off, and the simulated provider answers offline.
    providers: [openai({ apiKey: env.OPENAI_API_KEY, baseURL: env.OPENAI_BASE_URL }), simulated({ id: 'sim' })],
    models: [
      {
        id: 'assistant',
        // Prices are microdollars per million tokens.
        offers: [
          { provider: 'openai', model: 'gpt-6.1-terra', api: 'responses', price: { input: 1_000_000, output: 5_000_000 } },
          { provider: 'sim', model: 'story', api: 'chat', price: { input: 0, output: 1_000_000 } },
        ],
      },
    ],
    // Offers are tried in the order above. Without this the one with the best expected cost, latency and reliability is first.
    strategy: 'order',
    storage: workersStorage({ objects: env.STORAGE }),
    sealingKey: env.SEALING_KEY,
    limits: { inferenceRpm: 5_000, concurrentRequests: 2_000 },
    async setup({ workspaces }) {
      // Runs before the first request. Existing records are left as they are, and credit is given once per reference.
      await workspaces.create({ id: 'app', name: 'App' })
      await workspaces('app').billing.credit({ reference: 'start', amount: usd(Number(env.CREDIT_USD)) })
      await workspaces('app').apiKeys.create({ name: 'backend', secret: env.GATEWAY_KEY })
    },
  }),
)
