import { expect, test } from 'vitest'
import { estimateOutput, thinkingOf } from './hidden-tokens.ts'

const left = { characters: 400, tokens: 100, thoughtCharacters: 0, thoughtMs: 10_000, thinking: 'known', pace: 50 } as const

test.each([
  ['what was seen, and the thoughts of the time without text', {}, 600],
  ['thoughts that were seen only once', { thoughtCharacters: 400 }, 500],
  ['at a usual pace, where it is known to think and no answer is known', { pace: undefined }, 700],
  ['what was seen, where nothing is known of it', { pace: undefined, thinking: 'unknown' }, 100],
  ['what was seen, where it never thinks', { thinking: 'never' }, 100],
  ['what was seen, where the first text came at once', { thoughtMs: 999 }, 100],
] as const)('an answer that was left has %s', (_, facts, tokens) => {
  expect(estimateOutput({ ...left, ...facts })).toBe(tokens)
})

test.each([
  [{}, {}, 'unknown'],
  [{ offer: { abilities: ['reasoning'] } }, {}, 'known'],
  [{ offer: { abilities: ['tools'] } }, { reasoning: { effort: 'high' } }, 'never'],
  [{ model: { capabilities: ['reasoning'] } }, {}, 'known'],
  [{}, { reasoning: { effort: 'low' } }, 'known'],
  [{}, { reasoning: { effort: 'none' } }, 'never'],
  [{}, { reasoning: { effort: 'none' }, extensions: { think: true } }, 'unknown'],
  [{ offer: { abilities: ['reasoning'] }, quirks: { thinks_unasked: false } }, {}, 'never'],
  [{ offer: { abilities: ['reasoning'] }, quirks: { thinks_unasked: false } }, { reasoning: { budget_tokens: 9 } }, 'known'],
  [{ offer: { abilities: ['reasoning'] }, quirks: { thinking_off: 'never' } }, { reasoning: { effort: 'none' } }, 'known'],
  [{ offer: { abilities: ['reasoning'] }, quirks: { efforts: ['low', 'high'] } }, { reasoning: { effort: 'none' } }, 'known'],
] as const)('of %j, asked %j, it is %s that it thinks', (facts, prompt, thinking) => {
  expect(thinkingOf({ offer: {}, model: {}, quirks: {}, ...facts }, prompt)).toBe(thinking)
})
