import type { Quirks } from '@signalbox/dialects/protocol'
import { describe, expect, test } from 'vitest'
import { addressing, authorizing } from '../test/calling.ts'
import { google } from './google.ts'

const provider = google({ apiKey: 'AIza-key' })
const at = (model: string, stream = false) => provider.endpoint(addressing(provider, 'gemini', { model, stream }))
const root = 'https://generativelanguage.googleapis.com/v1beta'

describe('the Gemini API', () => {
  test('has the model and the delivery in its URL', () => {
    expect(at('gemini-3.8-flash')).toBe(`${root}/models/gemini-3.8-flash:generateContent`)
    expect(at('gemini-3.8-flash', true)).toBe(`${root}/models/gemini-3.8-flash:streamGenerateContent?alt=sse`)
    expect(at('tunedModels/my model')).toBe(`${root}/tunedModels/my%20model:generateContent`)
    expect(provider.countEndpoint?.(addressing(provider, 'gemini', { model: 'm' }))).toBe(`${root}/models/m:countTokens`)
  })
  test('may have another base URL', () => {
    const elsewhere = google({ apiKey: 'k', baseURL: 'http://127.0.0.1:1/v1/' })
    const call = addressing(elsewhere, 'gemini', { model: 'm' })
    expect([elsewhere.endpoint(call), elsewhere.countEndpoint?.(call)]).toEqual([
      'http://127.0.0.1:1/v1/models/m:generateContent',
      'http://127.0.0.1:1/v1/models/m:countTokens',
    ])
  })
  test('receives its key in x-goog-api-key', async () => {
    const headers = {}
    await provider.authorize(headers, addressing(provider, 'gemini').credential, authorizing('gemini'))
    expect(headers).toEqual({ 'x-goog-api-key': 'AIza-key' })
  })
  test('is off without a key', () => {
    expect(google().credential).toBeUndefined()
  })
})

test.each<[string, Quirks]>([
  ['gemini-4-argon', { thinking: ['level'], efforts: ['low', 'medium', 'high'], sampling: 'none' }],
  ['gemini-3.8-flash', { thinking: ['level'], efforts: ['low', 'medium', 'high'], noPrefill: true }],
  ['gemini-3.6-flash', { thinking: ['level'], efforts: ['minimal', 'low', 'medium', 'high'], noPrefill: true }],
  ['gemini-3.5-flash-lite', { efforts: ['minimal', 'low', 'medium', 'high'], noPrefill: true }],
  ['gemini-3.1-flash-lite', { efforts: ['minimal', 'low', 'medium', 'high'] }],
  ['gemini-3-flash-preview', { efforts: ['minimal', 'low', 'medium', 'high'] }],
  ['gemini-3.1-pro-preview', { efforts: ['low', 'medium', 'high'] }],
  ['gemini-3-pro-preview', { efforts: ['low', 'high'] }],
  [
    'gemini-2.5-pro',
    { thinking: ['budget'], thinkingBudget: { min: 128, max: 32_768 }, thinkingOff: 'never', jsonSchemaWithoutTools: true },
  ],
  ['gemini-2.5-flash-preview-09-2025', { thinking: ['budget'], thinkingBudget: { min: 1, max: 24_576 } }],
  ['gemini-2.5-flash-lite', { thinking: ['budget'], thinkingBudget: { min: 512, max: 24_576 } }],
  ['gemini-2.0-flash', { thinking: [], jsonSchemaWithoutTools: true }],
  ['gemma-3-27b-it', { thinking: [], noSystem: true, jsonSchema: 'words' }],
  ['gemma-4-31b-it', { thinking: [], noSystem: true }],
  ['gemini-4-argon', { efforts: ['low', 'medium', 'high'], sampling: 'none' }],
  ['gemini-4-hydrogen', { efforts: ['low', 'medium', 'high', 'xhigh'], sampling: 'none' }],
  ['something-of-tomorrow', { thinking: ['level'], efforts: ['low', 'medium', 'high'] }],
])('the known facts of %s', (model, known) => {
  expect(provider.quirksOf?.(model)).toMatchObject(known)
})

test('penalties are not supported by any model that thinks', () => {
  for (const model of ['gemini-2.5-pro', 'gemini-3-flash-preview', 'gemini-4-argon', 'tomorrow'])
    expect(provider.quirksOf?.(model)?.refuses).toEqual(['frequency_penalty', 'presence_penalty', 'top_logprobs'])
  expect(provider.quirksOf?.('gemini-2.0-flash')?.refuses).toEqual(['top_logprobs'])
})
