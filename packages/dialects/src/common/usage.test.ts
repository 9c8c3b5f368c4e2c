import { expect, test } from 'vitest'
import { providerDialects } from '../providers.ts'

test('cache writes that are kept for an hour are counted separately, since they cost more', () => {
  const usage = {
    input_tokens: 10,
    cache_creation_input_tokens: 30,
    cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
    output_tokens: 5,
  }
  const response = providerDialects.messages?.decodeResponse({
    id: 'm',
    type: 'message',
    role: 'assistant',
    content: [],
    stop_reason: 'end_turn',
    usage,
  })
  expect(response?.usage).toMatchObject({ input_tokens: 40, cache_write_tokens: 30, cache_write_1h_tokens: 20 })
})

test.each([
  [{ promptTokenCount: 12, totalTokenCount: 40 }, 12, 28],
  [{ promptTokenCount: 12, thoughtsTokenCount: 20, totalTokenCount: 40 }, 12, 28],
  [{ promptTokenCount: 12, thoughtsTokenCount: 20 }, 12, 20],
  [{ candidatesTokenCount: 28, totalTokenCount: 40 }, 12, 28],
])('a count that Gemini leaves out is the rest of the total: %j', (usageMetadata, input_tokens, output_tokens) => {
  const candidates = [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }]
  expect(providerDialects.gemini?.decodeResponse({ candidates, usageMetadata }).usage).toMatchObject({ input_tokens, output_tokens })
})

test('cache writes are counted under the names of each vendor', () => {
  const choices = [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hi' } }]
  const alibaba = { prompt_tokens: 90, completion_tokens: 5, total_tokens: 95, prompt_tokens_details: { cache_creation_input_tokens: 80 } }
  expect(providerDialects.chat?.decodeResponse({ choices, usage: alibaba }).usage).toMatchObject({
    input_tokens: 90,
    cache_write_tokens: 80,
  })

  const message = { role: 'assistant', content: [{ text: 'Hi' }] }
  const cacheDetails = [
    { ttl: '5m', inputTokens: 10 },
    { ttl: '1h', inputTokens: 20 },
  ]
  const bedrock = { inputTokens: 5, cacheWriteInputTokens: 30, outputTokens: 5, totalTokens: 40, cacheDetails }
  expect(providerDialects.bedrock?.decodeResponse({ output: { message }, stopReason: 'end_turn', usage: bedrock }).usage).toMatchObject({
    ...{ input_tokens: 35, cache_write_tokens: 30, cache_write_1h_tokens: 20 },
  })

  const details = { cached_tokens: 0, cache_write_tokens: 30, cache_write_tokens_details: { ttl_30m_tokens: 10, ttl_12h_tokens: 20 } }
  const openai = { input_tokens: 35, output_tokens: 5, total_tokens: 40, input_tokens_details: details }
  expect(providerDialects.responses?.decodeResponse({ status: 'completed', output: [], usage: openai }).usage).toMatchObject({
    ...{ input_tokens: 35, cache_write_tokens: 30, cache_write_1h_tokens: 20 },
  })
})
