import { expect, test } from 'vitest'
import { createClampCounts } from './clamp-counts.ts'

test('the operator is told which offers reported impossible usage, and how often', () => {
  const counts = createClampCounts()
  expect(counts.notices()).toEqual([])
  counts.add('openai/gpt-4o')
  for (let times = 0; times < 3; times += 1) counts.add('groq/compound-beta')
  expect(counts.notices()).toEqual([
    expect.stringContaining('groq/compound-beta reported more usage than possible in 3 responses'),
    expect.stringContaining('openai/gpt-4o reported more usage than possible in 1 response,'),
  ])
})
