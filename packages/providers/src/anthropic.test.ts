import type { FailedAnswer, JsonObject, Quirks } from '@signalbox/dialects/protocol'
import { quirksFor } from '@signalbox/dialects/protocol'
import { describe, expect, test } from 'vitest'
import { decodeFailedAnswer } from '../../dialects/src/common/failure.ts'
import { addressing, authorizing } from '../test/calling.ts'
import { anthropic } from './anthropic.ts'
import { claudeQuirks } from './claude-models.ts'

describe('Anthropic', () => {
  const provider = anthropic({ apiKey: 'sk-ant-1' })

  test('is called in the Messages dialect, at its own URL, with the key in x-api-key', async () => {
    const headers: Record<string, string> = {}
    await provider.authorize(headers, addressing(provider, 'messages').credential, authorizing('messages'))
    expect(headers).toEqual({ 'x-api-key': 'sk-ant-1' })
    expect(provider.dialects.map(({ name }) => name)).toEqual(['messages'])
    expect(provider.endpoint(addressing(provider, 'messages', { stream: true }))).toBe('https://api.anthropic.com/v1/messages')
    expect(provider.countEndpoint?.(addressing(provider, 'messages'))).toBe('https://api.anthropic.com/v1/messages/count_tokens')
    expect(anthropic({ apiKey: 'k', baseURL: 'http://127.0.0.1:9/v1/' }).endpoint(addressing(provider, 'messages'))).toBe(
      'http://127.0.0.1:9/v1/messages',
    )
  })

  test('is registered and off without a key', () => {
    expect(anthropic()).not.toHaveProperty('credential')
    expect(anthropic()).toMatchObject({ id: 'anthropic', displayName: 'Anthropic', dataPolicy: 'no_training' })
  })

  test('has facts about its models, which an offer overrides', () => {
    const offer = { provider: 'anthropic', model: 'claude-sonnet-4-5-20250929', api: 'messages' }
    expect(quirksFor(provider, offer)).toMatchObject({ rateLimits: expect.anything(), priorityTier: 'auto', thinking: ['budget'] })
    expect(quirksFor(provider, { ...offer, quirks: { thinking: [] } })).toMatchObject({ thinking: [] })
  })
})

describe('the known facts of Claude models', () => {
  test.each<[string, Quirks]>([
    ['claude-3-haiku-20240307', { thinking: [], defaultMaxTokens: 4096, jsonSchema: 'tool', refuses: ['strict'] }],
    ['claude-3-5-sonnet-20241022', { thinking: [], defaultMaxTokens: 4096 }],
    ['claude-3-7-sonnet-20250219', { thinking: ['budget'], jsonSchema: 'tool' }],
    ['claude-instant-1.2', { thinking: [], jsonSchema: 'words' }],
    ['claude-sonnet-4-20250514', { thinking: ['budget'], thinkingBudget: { min: 1024, max: 64_000 }, jsonSchema: 'tool' }],
    ['claude-opus-4-0', { thinking: ['budget'], thinkingBudget: { min: 1024, max: 32_000 }, jsonSchema: 'tool' }],
    ['claude-opus-4-1-20250805', { thinking: ['budget'], thinkingBudget: { min: 1024, max: 32_000 } }],
    ['claude-haiku-4-5', { thinking: ['budget'], thinkingBudget: { min: 1024, max: 64_000 } }],
    ['claude-opus-4-6', { thinking: ['adaptive', 'budget'], efforts: ['low', 'medium', 'high', 'max'] }],
    ['claude-opus-4-7', { thinking: ['adaptive'], sampling: 'none', noPrefill: true }],
    ['claude-opus-4-8', { thinking: ['adaptive'], sampling: 'none' }],
    ['claude-sonnet-5', { thinking: ['adaptive'], sampling: 'none' }],
    ['claude-opus-5', { thinking: ['adaptive'], thinkingOff: 'up_to_high', sampling: 'none' }],
    ['claude-haiku-5-5', { thinking: ['adaptive'], thinkingOff: 'up_to_high', sampling: 'none' }],
    ['claude-fable-5', { thinking: ['adaptive'], thinkingOff: 'never', sampling: 'none' }],
    ['claude-fable-5-2', { thinkingOff: 'never', noForcedTools: true }],
    ['claude-opus-5-5', { thinkingOff: 'never', noForcedTools: true }],
    ['claude-sonnet-5-5', { thinkingOff: 'never', noForcedTools: true }],
    ['claude-saga-7', { thinking: ['adaptive'], noPrefill: true, thinkingOff: 'up_to_high', sampling: 'none' }],
    ['claude-opus-4-9', { thinkingOff: 'up_to_high', sampling: 'none' }],
  ])('include %s', (model, facts) => {
    expect(claudeQuirks(model)).toMatchObject(facts)
  })

  test('support schemas and forced calls by default', () => {
    for (const model of ['claude-opus-4-1', 'claude-haiku-4-5', 'claude-fable-5', 'claude-saga-7']) {
      expect(claudeQuirks(model)).not.toHaveProperty('jsonSchema')
      expect(claudeQuirks(model)).not.toHaveProperty('noForcedTools')
    }
  })

  test.each([
    'claude-sonnet-4-5-20250929',
    'claude-sonnet-4-5@20250929',
    'claude-sonnet-4-5@default',
    'anthropic.claude-sonnet-4-5-20250929-v1:0',
    'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    'arn:aws:bedrock:us-east-1:1:inference-profile/global.anthropic.claude-sonnet-4-5-20250929-v1:0',
    'anthropic/claude-sonnet-4.5',
    'Claude-Sonnet-4-5',
  ])('are the same under every id under which the model is sold: %s', id => {
    expect(claudeQuirks(id)).toBe(claudeQuirks('claude-sonnet-4-5'))
  })

  test('do not exist for other models', () => {
    expect(claudeQuirks('gpt-5')).toBeUndefined()
    expect(claudeQuirks('claude')).toBeUndefined()
  })
})

describe('Anthropic’s errors', () => {
  const failure = (status: number, error: JsonObject): FailedAnswer => ({
    status,
    body: JSON.stringify({ type: 'error', error, request_id: 'req_1' }),
    header: () => undefined,
    now: 0,
  })
  const invalid = (message: string): JsonObject => ({ type: 'invalid_request_error', message })
  test.each<[number, JsonObject, string]>([
    [400, invalid('Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.'), 'out_of_quota'],
    [402, { type: 'billing_error', message: 'x' }, 'out_of_quota'],
    [429, { type: 'rate_limit_error', message: 'x', details: { error_code: 'enforced_spend_limit_reached' } }, 'out_of_quota'],
    [429, { type: 'rate_limit_error', message: 'This request would exceed your rate limit.' }, 'rate_limited'],
    [529, { type: 'overloaded_error', message: 'Overloaded' }, 'overloaded'],
    [401, { type: 'authentication_error', message: 'invalid x-api-key' }, 'bad_credential'],
    [403, { type: 'permission_error', message: 'x' }, 'forbidden'],
    [404, { type: 'not_found_error', message: 'model: claude-x' }, 'unknown_model'],
    [413, { type: 'request_too_large', message: 'x' }, 'too_long'],
    [400, invalid('prompt is too long: 210000 tokens > 200000 maximum'), 'too_long'],
    [400, invalid('input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000'), 'too_long'],
    [400, invalid('messages.1.content.0: Invalid `signature` in `thinking` block'), 'stale_state'],
    [
      400,
      invalid('messages.3: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.'),
      'stale_state',
    ],
    [400, invalid('thinking block signature prefix mismatch'), 'stale_state'],
    [400, invalid('messages: at least one message is required'), 'rejected'],
    [500, { type: 'api_error', message: 'Internal server error' }, 'server_error'],
    [504, { type: 'timeout_error', message: 'x' }, 'timed_out'],
  ])('of status %i with %j are %s', (status, error, kind) => {
    expect(decodeFailedAnswer(failure(status, error)).kind).toBe(kind)
  })
})

test('the tier of an account follows from its requests per minute', () => {
  const tiersOf = (model: string) => anthropic().account?.tierHeaders?.flatMap(row => (row.model.test(model) ? [row.tiers] : []))
  expect(tiersOf('claude-opus-5-5')).toEqual([{ 1000: 'start', 5000: 'build', 10000: 'scale' }])
  expect(tiersOf('claude-fable-5-2')).toEqual([{ 1000: 'start', 4000: 'scale' }])
  expect(tiersOf('claude-opus-5')).toEqual([])
})
