// A gateway with two providers and a model of one's own. If the server of Acme is away, the phrasebook answers.
import { createGateway, type Model, memoryStorage } from 'signalbox'
import { acme } from './acme.ts'
import { phrasebook } from './phrasebook.ts'

const { ACME_API_KEY, ACME_BASE_URL } = process.env

/** What the gateway knows of the model: routing, `GET /v1/models`, limits and bills come from it. Absent facts exclude no offer. */
const support = {
  id: 'acme/support',
  aliases: ['support'],
  displayName: 'Acme Support',
  knowledgeCutoff: '2026-06',
  inputModalities: ['text'],
  outputModalities: ['text'],
  offers: [
    {
      provider: 'acme',
      model: 'support-large-3',
      api: 'chat',
      contextWindow: 32_000,
      maxOutputTokens: 4_000,
      abilities: ['tools', 'structured_output'],
      // Microdollars per million tokens. An offer without a price serves no paid request.
      price: { input: 200_000, output: 800_000, request: 50 },
    },
    { provider: 'phrasebook', model: 'phrases', api: 'chat', price: { input: 0, output: 0 } },
  ],
} as const satisfies Model

const gateway = createGateway({
  providers: [
    acme({ apiKey: ACME_API_KEY, baseURL: ACME_BASE_URL }),
    phrasebook({ hours: 'We are here from 8 to 18 o’clock.' }, 'Please write to support@acme.example.'),
  ],
  models: [support],
  strategy: 'order',
  storage: memoryStorage(),
})
await gateway.workspaces.create({ id: 'my-app', name: 'My app', billing: 'postpaid' })
const caller = await gateway.workspaces('my-app').asUser({ user: 'u_42' })

// `model` completes to 'acme/support' and 'support'. Another id does not compile, nor does an offer of a provider that is not there.
const answer = await gateway.responses.create({ model: 'support', input: 'What are your hours?' }, { caller })
const { provider, cost } = answer.routing_metadata ?? {}
console.log(`${provider}, for $${cost?.usd}: ${answer.output_text}`)

const stream = await gateway.responses.create({ model: 'support', input: 'My train is late.', stream: true }, { caller })
process.stdout.write('streamed: ')
for await (const event of stream) if (event.type === 'response.output_text.delta') process.stdout.write(event.delta)
console.log()

await gateway.close()
