import { expect, test } from 'vitest'
import { createUsageNotices } from './usage-notices.ts'

test('the operator is told which offers reported impossible usage, and how often', () => {
  const counts = createUsageNotices()
  expect(counts.notices()).toEqual([])
  counts.addClamped('openai/gpt-4o')
  for (let times = 0; times < 3; times += 1) counts.addClamped('groq/compound-beta')
  expect(counts.notices()).toEqual([
    expect.stringContaining('groq/compound-beta reported more usage than possible 3 times'),
    expect.stringContaining('openai/gpt-4o reported more usage than possible once,'),
  ])
})

test('a field with a count that no reader knows is new once for each provider', () => {
  const { newFields } = createUsageNotices()
  expect(newFields('acme', ['warp_tokens'])).toEqual(['warp_tokens'])
  expect(newFields('acme', ['warp_tokens', 'other_tokens'])).toEqual(['other_tokens'])
  expect(newFields('beta', ['warp_tokens'])).toEqual(['warp_tokens'])
})
