import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { serving } from './in-process.ts'
import { type Asking, ask } from './launch.ts'

const chunk = (choice: object, more: object = {}): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, ...choice }], ...more })}\n\n`

const usage = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 }

/** A provider that answers streams at once, except for the next call after `isSilent` is set, which it never answers. */
async function silentOnce(mood: { isSilent: boolean }): Promise<string> {
  const answer = (response: ServerResponse): void => {
    response.setHeader('content-type', 'text/event-stream')
    response.write(chunk({ delta: { role: 'assistant', content: 'the answer' }, finish_reason: null }))
    response.end(`${chunk({ delta: {}, finish_reason: 'stop' }, { usage })}data: [DONE]\n\n`)
  }
  const server = createServer((request, response) => {
    request.resume()
    if (!mood.isSilent) return answer(response)
    mood.isSilent = false
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

/** The warnings of a streamed response, at its end. */
async function warningsOf(server: Asking): Promise<readonly string[]> {
  const text = await (await ask(server, { model: 'small', input: 'Hi', stream: true, max_output_tokens: 20 })).text()
  const end = text.split('\n').find(line => line.startsWith('data: {"type":"response.completed"'))
  const { response } = JSON.parse(end?.slice('data: '.length) ?? '{"response":{}}')
  return (response.warnings ?? []).map(({ code }: { readonly code: string }) => code)
}

test('`hedge` of the config sends a second call while the first is silent, and the answer says so', async () => {
  const mood = { isSilent: false }
  const price = { input: 1, output: 1 }
  const offers = ['one', 'two'].map(provider => ({ provider, provider_model_id: 'm', dialect: 'chat', price }))
  const providers = await Promise.all(['one', 'two'].map(async id => ({ id, base_url: await silentOnce(mood), api_key: `sk-of-${id}` })))
  const server = await serving({
    variables: { SIGNALBOX_STORAGE: 'memory:' },
    config: { providers, models: [{ id: 'small', offers }], strategy: 'latency', hedge: true },
  })
  // What a call usually takes has to be known, and a share of the requests may be hedged.
  for (let calls = 0; calls < 60; calls += 1) await warningsOf(server)
  mood.isSilent = true
  expect(await warningsOf(server)).toContain('hedged')
  expect(mood.isSilent).toBe(false)
})
