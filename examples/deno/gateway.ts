// The gateway of this app: its providers, its models, and the API key of its clients.
import { createGateway, memoryStorage } from 'signalbox'
import { openai, simulated } from 'signalbox/providers'

const { OPENAI_API_KEY, OPENAI_BASE_URL, GATEWAY_KEY } = process.env

/** The API key that clients send: `ak_` and 8 or more random characters. Without GATEWAY_KEY it is a new one at each start. */
export const secret = GATEWAY_KEY || `ak_${crypto.randomUUID()}`

export const gateway = createGateway({
  // Without a key OpenAI is off, and the simulated provider answers offline.
  providers: [openai({ apiKey: OPENAI_API_KEY, baseURL: OPENAI_BASE_URL }), simulated({ id: 'sim' })],
  models: [
    {
      id: 'assistant',
      // Prices are microdollars per million tokens.
      offers: [
        { provider: 'openai', model: 'gpt-6.1-terra', api: 'responses', price: { input: 1_000_000, output: 5_000_000 } },
        { provider: 'sim', model: 'story', api: 'chat', price: { input: 0, output: 0 } },
      ],
    },
  ],
  // Offers are tried in the order above. Without this the one with the best expected cost, latency and reliability is first.
  strategy: 'order',
  storage: memoryStorage(),
  async setup({ workspaces }) {
    // Runs before the first request. Existing records are left as they are, so a restart creates nothing twice.
    await workspaces.create({ id: 'my-app', name: 'My app', billing: 'postpaid' })
    await workspaces('my-app').apiKeys.create({ name: 'backend', secret })
  },
})
