import { responsesProvider } from '@signalbox/dialects'
import type { Frame, JsonObject } from '@signalbox/dialects/protocol'
import { memoryStorage } from '@signalbox/storage-memory'
import { afterEach, expect, test } from 'vitest'
import { ask, type Fixture, openFixture, scripted } from '../../../test/state/fixture.ts'

// The steps of a response between provider and client, settlement included.

const closing: Fixture[] = []
afterEach(async () => {
  for (const fixture of closing.splice(0)) await fixture.close()
})

const frame = (body: JsonObject): Frame => ({ data: JSON.stringify(body) })
const item = { id: 'msg', type: 'message', role: 'assistant', status: 'in_progress', content: [] }

/** Streams without end, until the client disconnects. */
async function* endless(left: () => void): AsyncGenerator<readonly Frame[], void> {
  try {
    yield [
      frame({ type: 'response.created', response: { id: 'r', model: 'm', created_at: 1 } }),
      frame({ type: 'response.output_item.added', output_index: 0, item }),
    ]
    for (;;) yield [frame({ type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'word '.repeat(100) })]
  } finally {
    left()
  }
}

async function open(provider: ReturnType<typeof scripted>) {
  const storage = memoryStorage()
  const warned: string[] = []
  const logger = { info: () => {}, error: () => {}, warn: (_: unknown, message: string) => void warned.push(message) }
  const fixture = await openFixture([provider], { storage, logger })
  closing.push(fixture)
  const rows = () => storage.usage.list({ workspaceId: fixture.caller.workspaceId, from: 0, to: Number.MAX_SAFE_INTEGER, limit: 10 })
  return { fixture, rows, warned }
}

test('a stream that exceeds the output cap is cut, its provider call is aborted, and the delivered part is billed', async () => {
  let left = 0
  let signal: AbortSignal | undefined
  const hangUp = (): void => {
    left += 1
  }
  const provider = scripted('p', responsesProvider, {
    answer: async call => {
      signal = call.signal
      return { status: 200, frames: endless(hangUp) }
    },
  })
  const { fixture, rows, warned } = await open(provider)
  const { frames } = await ask(fixture, 'responses', { input: 'Go.', stream: true, max_output_tokens: 1 })
  const last = JSON.parse(frames.at(-1)?.data ?? '') as JsonObject
  const outputText = (last.response as { readonly output_text: string }).output_text
  expect(last).toMatchObject({ type: 'response.incomplete', response: { incomplete_details: { reason: 'max_output_tokens' } } })
  expect(outputText.length).toBe(17 + 1_024)
  expect([left, signal?.aborted]).toEqual([1, true])
  expect(await rows()).toMatchObject([{ result: 'incomplete', estimated: true, outputTokens: Math.ceil(outputText.length / 4) }])
  expect(warned).toEqual(['The provider ignored the output limit; its response was cut.'])
})

test('a whole response that exceeds the output cap is shortened in the same way', async () => {
  const provider = scripted('p', responsesProvider)
  const content = [{ type: 'output_text', text: 'x'.repeat(9_000), annotations: [] }]
  const whole = {
    id: 'r',
    status: 'completed',
    output: [{ ...item, status: 'completed', content }],
    usage: { input_tokens: 1, output_tokens: 2_000 },
  }
  provider.play({ whole, frames: [] })
  const { fixture, rows } = await open(provider)
  const { body } = await ask(fixture, 'responses', { input: 'Go.', max_output_tokens: 1 })
  expect(body).toMatchObject({ status: 'incomplete', output_text: 'x'.repeat(17 + 1_024), output: [{ status: 'incomplete' }] })
  expect(await rows()).toMatchObject([{ result: 'incomplete', estimated: true }])
})

test.each([true, false])('a call of a tool that was not offered is passed on with a warning (stream: %s)', async stream => {
  const provider = scripted('p', responsesProvider)
  const called = { id: 'fc', type: 'function_call', call_id: 'c', name: 'invented', arguments: '{}', status: 'completed' }
  const whole = { id: 'r', status: 'completed', output: [called], usage: { input_tokens: 1, output_tokens: 1 } }
  provider.play({ whole, frames: [frame({ type: 'response.completed', response: whole })] })
  const { fixture, rows } = await open(provider)
  const { bytes, metadata } = await ask(fixture, 'responses', { input: 'Go.', stream, tools: [{ type: 'function', name: 'look' }] })
  expect(bytes).toContain('"name":"invented"')
  expect(bytes).toContain('"code":"tool_not_offered"')
  expect(metadata.warnings).toMatchObject([{ code: 'tool_not_offered', param: 'tools' }])
  expect(await rows()).toMatchObject([{ warnings: ['tool_not_offered'], result: 'ok' }])
})
