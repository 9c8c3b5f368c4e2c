import type { Usage } from '@signalbox/dialects/protocol'
import { expect, test } from 'vitest'
import { billUsage } from './bill-usage.ts'

const price = { input: 1_000_000, output: 2_000_000 }
const used = (input_tokens: number, output_tokens: number): Usage => ({
  input_tokens,
  output_tokens,
  cached_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
})
const completed = { status: 'completed' } as const

test('a response without content is free, and its prompt is recorded', () => {
  const usage = used(12, 0)
  expect(billUsage({ usage, characters: 0, outcome: completed }, price, { input: 99 })).toEqual({ usage, cost: 0 })
})

test('a response with content or output tokens, or one that did not end, is paid for', () => {
  expect(billUsage({ usage: used(12, 0), characters: 1, outcome: completed }, price, { input: 99 }).cost).toBe(12)
  expect(billUsage({ usage: used(12, 0), characters: 0, hasNative: true, outcome: completed }, price, { input: 99 }).cost).toBe(12)
  expect(billUsage({ usage: used(12, 3), characters: 0, outcome: completed }, price, { input: 99 }).cost).toBe(18)
  expect(billUsage({ usage: used(12, 0), characters: 0 }, price, { input: 99 }).cost).toBe(12)
  expect(
    billUsage({ usage: used(12, 0), characters: 0, outcome: { status: 'incomplete', reason: 'content_filter' } }, price, { input: 99 })
      .cost,
  ).toBe(12)
})

test('usage that the provider did not report is estimated and marked so', () => {
  expect(billUsage({ characters: 8, outcome: completed }, price, { input: 99 })).toMatchObject({
    usage: { ...used(99, 2), estimated: true },
    cost: 103,
  })
  expect(billUsage({ characters: 8, outcome: completed }, undefined, { input: 99 }).cost).toBe(0)
})
