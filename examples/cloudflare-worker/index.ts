// A gateway as a Cloudflare Worker: a Durable Object keeps keys, credit and limits for all Workers of the account.
import { createGateway, usd } from '@signalbox/core'
import { openai, simulated } from '@signalbox/core/providers'
import { createFetchHandler } from '@signalbox/fetch-handler'
import { type ObjectNamespace, workersStorage } from '@signalbox/storage-sql/workers'

export { StorageObject } from '@signalbox/storage-sql/workers'

interface Env {
  readonly STORAGE: ObjectNamespace<never>
  readonly GATEWAY_KEY: string
  readonly CREDIT_USD: string
  readonly OPENAI_API_KEY?: string
}

const handlerFor = (env: Env) =>
  createFetchHandler(
    createGateway({
      // Without a key OpenAI is off, and the simulated provider answers offline.
      providers: [openai({ apiKey: env.OPENAI_API_KEY }), simulated({ id: 'sim' })],
      models: [
        {
          id: 'assistant',
          // Tried in this order. Prices are microdollars per million tokens.
          offers: [
            {
              provider: 'openai',
              provider_model_id: 'gpt-6.1-terra',
              dialect: 'responses',
              price: { input: 1_000_000, output: 5_000_000 },
            },
            { provider: 'sim', provider_model_id: 'story', dialect: 'chat', price: { input: 0, output: 1_000_000 } },
          ],
        },
      ],
      storage: workersStorage({ objects: env.STORAGE }),
      limits: { inferenceRpm: 5_000, concurrentRequests: 2_000 },
      async setup({ workspaces }) {
        await workspaces.create({ id: 'app', name: 'App' })
        await workspaces('app').billing.credit({ reference: 'start', amount: usd(Number(env.CREDIT_USD)) })
        await workspaces('app').apiKeys.create({ name: 'backend', secret: env.GATEWAY_KEY })
      },
    }),
  )

let handler: ReturnType<typeof handlerFor> | undefined

export default {
  fetch(request: Request, env: Env, context: { waitUntil(work: Promise<unknown>): void }): Promise<Response> {
    handler ??= handlerFor(env)
    return handler(request, env, context)
  },
}
