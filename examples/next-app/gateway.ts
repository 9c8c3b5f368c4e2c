// The gateway of this app, and what a user of the app may spend.
import { createGateway, type EndUser, usd } from 'signalbox'
import { openai, simulated } from 'signalbox/providers'
import { sqliteStorage } from 'signalbox/sqlite'

const { DATABASE, OPENAI_API_KEY, OPENAI_BASE_URL } = process.env

/** What each user may spend in a day (UTC), in microdollars. */
const dailyBudget = usd(0.01)

/** A user of this app, as the gateway knows it. */
export const gatewayUser = (user: string): EndUser => ({
  user,
  budgets: [{ limit: dailyBudget, period: 'day' }],
  limits: { requestsPerMinute: 20 },
})

const makeGateway = () =>
  createGateway({
    // Without a key OpenAI is off, and the simulated provider answers offline.
    providers: [
      openai({ apiKey: OPENAI_API_KEY, baseURL: OPENAI_BASE_URL }),
      simulated({ id: 'sim' }),
    ],
    models: [
      {
        id: 'assistant',
        // Prices are microdollars per million tokens.
        offers: [
          {
            provider: 'openai',
            model: 'gpt-6.1-terra',
            api: 'responses',
            price: { input: 1_000_000, output: 5_000_000 },
          },
          {
            provider: 'sim',
            model: 'story',
            api: 'chat',
            price: { input: 1_000_000, output: 5_000_000 },
          },
        ],
      },
    ],
    // Offers are tried in the order above. Without this, the best one is first, by
    // expected cost, latency and reliability.
    strategy: 'order',
    // A budget must have room for the longest answer: 500 tokens, unless a request says
    // otherwise.
    limits: { maxOutputTokens: 500 },
    storage: sqliteStorage(DATABASE || 'signalbox.db'),
    async setup({ workspaces }) {
      // Runs before the first request. An existing workspace is left as it is.
      await workspaces.create({ id: 'my-app', name: 'My app', billing: 'postpaid' })
    },
  })

// Next.js loads this module once for pages, once for routes, and in development again
// after each change: one gateway serves them all.
const kept = globalThis as typeof globalThis & {
  gateway?: ReturnType<typeof makeGateway>
}
kept.gateway ??= makeGateway()
export const { gateway } = kept
