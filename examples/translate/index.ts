// Translation without a gateway: a request of Chat Completions to a provider that speaks Messages, and its stream back.
import { chatClient, messagesProvider, translateRequest, translateStream } from 'signalbox/dialects'

const request = translateRequest(
  {
    model: 'claude-haiku-4-5',
    stream: true,
    seed: 7,
    messages: [
      { role: 'system', content: 'You answer in one sentence.' },
      { role: 'user', content: 'Where does the night train go?' },
    ],
  },
  { from: chatClient, to: messagesProvider },
)
console.log('To', request.path, JSON.stringify(request.body))
for (const { param, message } of request.losses) console.log(`Lost: ${param}: ${message}`)

const apiKey = process.env.ANTHROPIC_API_KEY
const baseURL = process.env.ANTHROPIC_BASE_URL ?? 'https://api.anthropic.com/v1'
const answer = apiKey
  ? await fetch(`${baseURL}${request.path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' },
      body: JSON.stringify(request.body),
    })
  : canned()
if (!answer.ok || !answer.body) throw new Error(`The provider answered ${answer.status}: ${await answer.text()}`)

const chunks = translateStream(answer.body, { from: messagesProvider, to: chatClient, request })
for await (const bytes of chunks.body) process.stdout.write(bytes)

/** In place of the provider, if there is no key. */
function canned(): Response {
  const events = [
    {
      type: 'message_start',
      message: { id: 'msg_1', role: 'assistant', model: 'claude-haiku-4-5', content: [], usage: { input_tokens: 21, output_tokens: 1 } },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'It goes ' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'to the sea.' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } },
    { type: 'message_stop' },
  ]
  return new Response(events.map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''))
}
