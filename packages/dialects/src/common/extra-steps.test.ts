import { describe, expect, test } from 'vitest'
import { clampUsage } from '../../../core/src/metering/clamp-usage.ts'
import { costOf } from '../../../core/src/metering/money.ts'
import { chatClient } from '../chat/client.ts'
import { messagesClient } from '../messages/client.ts'
import { messagesProvider } from '../messages/provider.ts'
import type { Usage } from '../protocol/response.ts'
import type { JsonObject } from '../protocol/wire.ts'

const step = (type: string, input_tokens: number, output_tokens: number): JsonObject => ({ type, input_tokens, output_tokens })

const messageWith = (usage: JsonObject): JsonObject => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-opus-4-6',
  content: [{ type: 'text', text: 'Hi' }],
  stop_reason: 'end_turn',
  usage,
})
const usageOf = (usage: JsonObject): Usage | undefined => messagesProvider.decodeResponse(messageWith(usage)).usage

const compacted = {
  input_tokens: 682,
  output_tokens: 1_320,
  iterations: [
    { ...step('compaction', 60_385, 592), cache_read_input_tokens: 100, cache_creation_input_tokens: 50 },
    step('message', 682, 1_320),
  ],
}

describe('a response for which the model was called several times', () => {
  test('is billed with its compaction, which the totals leave out', () => {
    expect(usageOf(compacted)).toMatchObject({
      input_tokens: 682 + 60_385 + 150,
      output_tokens: 1_912,
      cached_tokens: 100,
      cache_write_tokens: 50,
    })
  })

  test('that paused after its compaction is billed, though its totals are zero', () => {
    const usage = usageOf({ input_tokens: 0, output_tokens: 0, iterations: [step('compaction', 60_000, 500)] })
    expect(usage).toMatchObject({ input_tokens: 60_000, output_tokens: 500 })
  })

  test('is not billed twice where the totals contain every step', () => {
    const usage = usageOf({ input_tokens: 900, output_tokens: 70, iterations: [step('message', 400, 30), step('message', 500, 40)] })
    expect(usage).toMatchObject({ input_tokens: 900, output_tokens: 70 })
    expect(usage?.extra_steps).toBeUndefined()
  })

  test('is not billed for an attempt that declined', () => {
    const iterations = [step('message', 408, 0), step('fallback_message', 412, 264)]
    expect(usageOf({ input_tokens: 412, output_tokens: 264, iterations })).toMatchObject({ input_tokens: 412, output_tokens: 264 })
  })

  test('is billed with the calls of another model, with a warning of their unknown price', () => {
    const iterations = [step('message', 400, 30), step('advisor_message', 823, 60), step('message', 500, 40)]
    expect(usageOf({ input_tokens: 900, output_tokens: 70, iterations })).toMatchObject({
      input_tokens: 1_723,
      output_tokens: 130,
      other_calls: ['advisor'],
    })
  })

  test('tells a Messages client the totals of its provider, by which it sees how full the context is', () => {
    const response = messagesProvider.decodeResponse(messageWith(compacted))
    const metadata = { id: 'resp_1', model: 'm', created_at: 1, itemId: (prefix: string) => `${prefix}_1`, warnings: [] }
    const hi = { role: 'user', content: 'Hi' }
    const message = messagesClient.encodeResponse(
      response,
      messagesClient.decodeRequest({ model: 'm', max_tokens: 9, messages: [hi] }),
      metadata,
    )
    expect(message.usage).toMatchObject({
      input_tokens: 682,
      cache_read_input_tokens: 0,
      output_tokens: 1_320,
      iterations: compacted.iterations,
    })
    const completion = chatClient.encodeResponse(response, chatClient.decodeRequest({ model: 'm', messages: [hi] }), metadata)
    expect(completion.usage).toMatchObject({ prompt_tokens: 61_217, completion_tokens: 1_912 })
  })

  test('may fill the context window once for each step, and its answer alone is held to the output limit', () => {
    const usage = usageOf(compacted) as Usage
    const bounds = {
      ...{ contextWindow: 61_000, maxInput: () => 70_000, likelyInput: 60_000, maxOutput: 1_320, reasoningCharacters: 0 },
      maxCalls: () => ({}),
      maxSteps: () => ({ compactions: 1, advice: 0 }),
    }
    expect(clampUsage(usage, bounds)).toEqual({ usage, isClamped: false })
    const lie = usageOf({ input_tokens: 10, output_tokens: 1, iterations: [step('compaction', 9_000_000, 9_000_000)] }) as Usage
    const { usage: billed, isClamped } = clampUsage(lie, bounds)
    expect(isClamped).toBe(true)
    expect(billed).toMatchObject({ input_tokens: 61_010, output_tokens: 20_001 })
  })
})

test('each step pays the rates for a prompt of its length', () => {
  const price = { input: 1_000_000, output: 2_000_000, tiers: [{ over: 100_000, input: 10_000_000, output: 20_000_000 }] }
  const usage = usageOf({
    input_tokens: 90_000,
    output_tokens: 10,
    iterations: [step('compaction', 95_000, 5), step('message', 90_000, 10)],
  })
  expect(costOf(price, usage as Usage)).toBe(185_000 + 30)
  const long = usageOf({
    input_tokens: 90_000,
    output_tokens: 10,
    iterations: [step('compaction', 120_000, 5), step('message', 90_000, 10)],
  })
  expect(costOf(price, long as Usage)).toBe(90_000 + 20 + 1_200_000 + 100)
})
