// Three SDKs (OpenAI, Anthropic, AI SDK) call one gateway in the same process through its `fetch`, without a server.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import Anthropic from '@anthropic-ai/sdk'
import { generateText } from 'ai'
import OpenAI from 'openai'
import { createGateway, memoryStorage } from 'signalbox'
import { signalbox } from 'signalbox/ai-sdk'
import { gatewayFetch } from 'signalbox/fetch'
import { simulated } from 'signalbox/providers'

// The provider speaks Chat Completions; each SDK speaks its own API.
const gateway = createGateway({
  providers: [simulated({ id: 'sim' })],
  models: [{ id: 'echo', offers: [{ provider: 'sim', model: 'echo', api: 'chat', price: { input: 50_000, output: 100_000 } }] }],
  storage: memoryStorage(),
})
await gateway.workspaces.create({ id: 'my-app', name: 'My app', billing: 'postpaid' })
const { secret: apiKey } = await gateway.workspaces('my-app').apiKeys.create({ name: 'backend' })

// The host is never looked up: `fetch` is the gateway itself. Keys, limits and money are those of the HTTP API.
const fetch = gatewayFetch(gateway)
const baseURL = 'http://signalbox.local/v1'

const openai = new OpenAI({ apiKey, baseURL, fetch })
const response = await openai.responses.create({ model: 'echo', input: 'Hello from Responses' })
console.log('openai, responses:', response.output_text)

const completion = await openai.chat.completions.create({
  model: 'echo',
  messages: [{ role: 'user', content: 'Hello from Chat Completions' }],
})
console.log('openai, chat:', completion.choices[0]?.message.content)

const anthropic = new Anthropic({ apiKey, baseURL: 'http://signalbox.local', fetch })
const stream = anthropic.messages.stream({ model: 'echo', max_tokens: 100, messages: [{ role: 'user', content: 'Hello from Messages' }] })
process.stdout.write('anthropic: ')
stream.on('text', text => process.stdout.write(text))
const { usage } = await stream.finalMessage()
console.log(` (${usage.input_tokens} tokens in, ${usage.output_tokens} out)`)

const compatible = createOpenAICompatible({ name: 'signalbox', apiKey, baseURL, fetch })
const over = await generateText({ model: compatible('echo'), prompt: 'Hello from the AI SDK' })
console.log('ai, by fetch:', over.text)

// The AI SDK has a shorter way: the gateway is one of its providers.
const models = signalbox(gateway, { apiKey })
const direct = await generateText({ model: models('echo'), prompt: 'Hello from the AI SDK' })
console.log('ai, as a provider:', direct.text)

await gateway.close()
