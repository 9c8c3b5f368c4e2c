import { expect, test } from 'vitest'
import { estimateOutput, thinkingOf } from './hidden-tokens.ts'

const left = { characters: 400, tokens: 100, reasoningCharacters: 0, reasoningMs: 10_000, thinking: 'known', pace: 50 } as const

test.each([
  ['its visible tokens, and reasoning for the time without text', {}, 600],
  ['visible reasoning counted only once', { reasoningCharacters: 400 }, 500],
  ['reasoning at a default rate if the model reasons and no rate is known', { pace: undefined }, 700],
  ['only its visible tokens if it is unknown whether it reasons', { pace: undefined, thinking: 'unknown' }, 100],
  ['only its visible tokens if it never reasons', { thinking: 'never' }, 100],
  ['only its visible tokens if the first text came at once', { reasoningMs: 999 }, 100],
] as const)('an abandoned response has %s', (_, facts, tokens) => {
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
  [{ offer: { abilities: ['reasoning'] }, quirks: { thinksUnasked: false } }, {}, 'never'],
  [{ offer: { abilities: ['reasoning'] }, quirks: { thinksUnasked: false } }, { reasoning: { budget_tokens: 9 } }, 'known'],
  [{ offer: { abilities: ['reasoning'] }, quirks: { thinkingOff: 'never' } }, { reasoning: { effort: 'none' } }, 'known'],
  [{ offer: { abilities: ['reasoning'] }, quirks: { efforts: ['low', 'high'] } }, { reasoning: { effort: 'none' } }, 'known'],
] as const)('of %j, for the request %j, hidden reasoning is: %s', (facts, prompt, thinking) => {
  expect(thinkingOf({ offer: {}, model: {}, quirks: {}, ...facts }, prompt)).toBe(thinking)
})
