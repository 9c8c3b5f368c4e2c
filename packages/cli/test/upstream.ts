import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface Upstream {
  readonly baseURL: string
  readonly calls: { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: Readonly<Record<string, unknown>> }[]
}

const usage = { prompt_tokens: 1_000, completion_tokens: 2_000, total_tokens: 3_000 }
const facts = { id: 'chatcmpl-1', created: 1, model: 'm' }

const whole = (response: ServerResponse): void => {
  response.setHeader('content-type', 'application/json')
  const choices = [{ index: 0, message: { role: 'assistant', content: 'the answer' }, finish_reason: 'stop' }]
  response.end(JSON.stringify({ ...facts, object: 'chat.completion', choices, usage }))
}

/** One word, and then nothing more, for ever. */
const stalling = (response: ServerResponse): void => {
  response.setHeader('content-type', 'text/event-stream')
  const choices = [{ index: 0, delta: { role: 'assistant', content: 'the' }, finish_reason: null }]
  response.write(`data: ${JSON.stringify({ ...facts, object: 'chat.completion.chunk', choices })}\n\n`)
}

/** A provider of the chat dialect: a whole answer at once, and a stream that never ends. */
export async function upstream(): Promise<Upstream> {
  const calls: Upstream['calls'] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const body = JSON.parse(text)
    calls.push({ path: request.url ?? '', headers: request.headers, body })
    if (body.stream) stalling(response)
    else whole(response)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, calls }
}
