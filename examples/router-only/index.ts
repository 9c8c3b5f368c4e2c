// Routing without HTTP: the gateway called as a function, with its routing decision and a fallback.
import { createGateway, type InferenceRequest, memoryStorage, toUsd, usd } from 'signalbox'
import { openai, simulated } from 'signalbox/providers'

const gateway = createGateway({
  // Without a key OpenAI is off. The first simulated provider always fails, to show a fallback.
  providers: [
    openai({ apiKey: process.env.OPENAI_API_KEY, baseURL: process.env.OPENAI_BASE_URL }),
    simulated({ id: 'sim-down', failEvery: 1 }),
    simulated({ id: 'sim' }),
  ],
  models: [
    {
      id: 'assistant',
      // Prices are microdollars per million tokens. The cheapest is tried first while none is known to be slow or failing.
      offers: [
        { provider: 'openai', model: 'gpt-6.1-terra', api: 'responses', price: { input: 1_000_000, output: 5_000_000 } },
        { provider: 'sim-down', model: 'story', api: 'chat', price: { input: 100_000, output: 200_000 } },
        { provider: 'sim', model: 'story', api: 'chat', price: { input: 200_000, output: 400_000 } },
      ],
    },
  ],
  storage: memoryStorage(),
})

// Every caller has a key and a workspace, also in process: limits, usage and credit belong to them.
const { id } = await gateway.workspaces.create({ name: 'My app' })
const app = gateway.workspaces(id)
await app.billing.credit({ reference: 'first deposit', amount: usd(5) })
const { secret } = await app.apiKeys.create({ name: 'backend' })
const caller = await gateway.authenticate(secret)

const request: InferenceRequest = {
  prompt: { input: [{ type: 'message', role: 'user', content: [{ type: 'text', text: 'a ticket to the sea' }] }] },
  routing: { models: ['assistant'], allow_fallbacks: true },
  delivery: 'stream',
}

// Routing alone: the candidates in order, and the excluded offers with reasons.
const plan = await gateway.plan(request, caller)
console.log('Would ask:', plan.candidates.map(({ provider }) => provider.id).join(', then '))
for (const { provider, reason } of plan.excluded) console.log(`Left out: ${provider}: ${reason}`)

// The same request, streamed. The events are the same for every provider API.
const streamed = gateway.infer(request, { caller })
for await (const event of streamed) {
  if (event.type === 'delta' && event.delta.kind === 'text') process.stdout.write(event.delta.text)
}
console.log(`\nAnswered by ${streamed.metadata().routing?.provider}.`)

// And whole.
const reply = gateway.infer({ ...request, delivery: 'whole' }, { caller })
const { outcome, usage } = await reply.whole()
console.log(`Whole: ${outcome.status}, ${usage?.output_tokens} tokens, $${reply.metadata().routing?.cost?.usd}.`)

const { balance } = await app.billing.balance()
console.log(`Left of $5: $${toUsd(balance)}`)
await gateway.close()
