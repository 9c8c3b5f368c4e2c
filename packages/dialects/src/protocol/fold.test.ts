import { expect, test } from 'vitest'
import { fold, unfold } from './fold.ts'
import { originalOf, remember } from './original.ts'
import type { InferenceResponse } from './response.ts'

const response: InferenceResponse = {
  id: 'r',
  model: 'm',
  created_at: 1,
  output: [
    { type: 'reasoning', id: 'rs', summary: ['thought', 'again'], content: ['raw'], encrypted_content: 'sealed' },
    {
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [
        { type: 'text', text: 'hello', annotations: [{ type: 'note' }] },
        { type: 'refusal', refusal: 'no' },
      ],
    },
    { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
    { type: 'native', dialect: 'responses', body: { type: 'web_search_call' } },
  ],
  outcome: { status: 'completed' },
  usage: { input_tokens: 1, output_tokens: 2, cached_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 1 },
}

test('fold undoes unfold', () => {
  expect(fold(unfold(response))).toEqual(response)
})

test('a stream that never finished folds to a failure', () => {
  expect(fold(unfold(response).slice(0, -1)).outcome).toMatchObject({ status: 'failed', error: { kind: 'unreadable' } })
})

test('the original of a whole response is kept by unfold and fold', () => {
  const body = { id: 'upstream', tool_usage: { web_search: 1 } }
  const told = remember({ ...response }, { dialect: 'responses', body })
  expect(originalOf(fold(unfold(told)))?.body).toBe(body)
})

test('a changed response has no original', () => {
  const told = remember({ ...response }, { dialect: 'responses', body: {} })
  expect(originalOf(told)).toBeDefined()
  expect(originalOf({ ...told, model: 'other' })).toBeUndefined()
})
