// The gateway that all customers share. What is a customer's own is in its workspace: see customers.ts.
import { createGateway, memoryStorage } from 'signalbox'
import { openai, simulated } from 'signalbox/providers'
import { sqliteStorage } from 'signalbox/sqlite'

const { DATABASE, SEALING_KEY, OPENAI_API_KEY, OPENAI_BASE_URL } = process.env

export const gateway = createGateway({
  // Without a key OpenAI serves only customers who bring their own, and the simulated provider answers the others.
  providers: [openai({ apiKey: OPENAI_API_KEY, baseURL: OPENAI_BASE_URL }), simulated({ id: 'sim' })],
  models: [
    {
      id: 'assistant',
      // Prices are microdollars per million tokens.
      offers: [
        { provider: 'openai', model: 'gpt-6.1-terra', api: 'responses', price: { input: 1_000_000, output: 5_000_000 } },
        { provider: 'sim', model: 'story', api: 'chat', price: { input: 1_000_000, output: 5_000_000 } },
      ],
    },
  ],
  // Offers are tried in the order above. Without this the one with the best expected cost, latency and reliability is first.
  strategy: 'order',
  // Without DATABASE all is gone when the process ends.
  storage: DATABASE ? sqliteStorage(DATABASE) : memoryStorage(),
  // Seals the provider keys of customers: 64 hex digits, from `openssl rand -hex 32`. Keep it as long as the database.
  sealingKey: SEALING_KEY ? Buffer.from(SEALING_KEY, 'hex') : crypto.getRandomValues(new Uint8Array(32)),
})
