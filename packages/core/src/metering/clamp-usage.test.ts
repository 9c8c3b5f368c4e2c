import { withSteps } from '@signalbox/dialects/common'
import type { Usage } from '@signalbox/dialects/protocol'
import { expect, test } from 'vitest'
import { clampUsage, type UsageBounds } from './clamp-usage.ts'

const used = (input_tokens: number, output_tokens: number, more: Partial<Usage> = {}): Usage => ({
  input_tokens,
  output_tokens,
  cached_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
  ...more,
})
const bounds: UsageBounds = {
  ...{ contextWindow: 200_000, likelyInput: 100, maxInput: () => 2_000, maxOutput: 1_000, reasoningCharacters: 0 },
  maxCalls: () => ({}),
  maxSteps: () => ({ compactions: 0, advice: 0 }),
}

test('possible usage stays as the provider reported it', () => {
  for (const usage of [used(0, 0), used(100, 1_000), used(2_000, 1_050, { cached_tokens: 1_900, reasoning_tokens: 900 })])
    expect(clampUsage(usage, bounds)).toEqual({ usage, isClamped: false })
})

test('the bytes of a prompt are counted only if more tokens are reported than expected', () => {
  const counted = { times: 0 }
  const maxInput = () => {
    counted.times += 1
    return 2_000
  }
  clampUsage(used(100, 5), { ...bounds, maxInput })
  expect(counted.times).toBe(0)
  clampUsage(used(101, 5), { ...bounds, maxInput })
  expect(counted.times).toBe(1)
})

interface ImpossibleUsage {
  readonly what: string
  readonly claimed: Usage
  readonly more?: Partial<UsageBounds>
  readonly usage: Usage
}

const impossible: readonly ImpossibleUsage[] = [
  { what: 'more input tokens than the prompt has bytes', claimed: used(2_001, 5), usage: used(2_000, 5) },
  {
    what: 'more input tokens than the context window',
    claimed: used(9_000, 5),
    more: { maxInput: () => Number.POSITIVE_INFINITY, contextWindow: 8_000 },
    usage: used(8_000, 5),
  },
  { what: 'more output tokens than the cap and its margin', claimed: used(10, 1_051), usage: used(10, 1_050) },
  {
    what: 'more output tokens than the context window without a known cap',
    claimed: used(10, 300_000),
    more: { maxOutput: undefined },
    usage: used(10, 200_000),
  },
  {
    what: 'more reasoning tokens than the clamped output',
    claimed: used(10, 5_000, { reasoning_tokens: 4_999 }),
    usage: used(10, 1_050, { reasoning_tokens: 1_050 }),
  },
  {
    what: 'more cached tokens than the clamped input',
    claimed: used(9_000, 5, { cached_tokens: 9_000 }),
    usage: used(2_000, 5, { cached_tokens: 2_000 }),
  },
]

test.each(impossible)('usage with $what is clamped and marked as an estimate', ({ claimed, more, usage }) => {
  expect(clampUsage(claimed, { ...bounds, ...more })).toEqual({ usage: { ...usage, estimated: true }, isClamped: true })
})

test('visible reasoning may exceed the cap, since not every provider counts it', () => {
  expect(clampUsage(used(10, 2_000), { ...bounds, reasoningCharacters: 4_000 })).toEqual({ usage: used(10, 2_000), isClamped: false })
})

test.each([Number.NaN, Number.POSITIVE_INFINITY, -5, 1e300])('%d tokens become a possible count', claimed => {
  const { usage } = clampUsage(used(claimed, claimed), bounds)
  expect(usage.input_tokens).toBeGreaterThanOrEqual(0)
  expect(usage.input_tokens).toBeLessThanOrEqual(2_000)
  expect(usage.output_tokens).toBeLessThanOrEqual(1_050)
  expect(usage.estimated).toBe(true)
})

const steps = (count: number, input_tokens: number, output_tokens: number) => ({
  ...{ count, input_tokens, output_tokens, cached_tokens: 0, cache_write_tokens: 0, cache_write_1h_tokens: 0 },
})

test('model calls that the request does not ask for are not billed', () => {
  const claimed = withSteps(used(10, 5), steps(10, 1_000_000, 1_000_000))
  expect(clampUsage(claimed, bounds)).toEqual({ usage: used(10, 5, { estimated: true }), isClamped: true })
})

test('a compaction is billed up to one more prompt and one summary, each advice likewise', () => {
  const claimed = withSteps(used(10, 5), steps(10, 1_000_000, 1_000_000))
  const window = { ...bounds, maxInput: () => Number.POSITIVE_INFINITY }
  const once = clampUsage(claimed, { ...window, maxSteps: () => ({ compactions: 1, advice: 0 }) }).usage
  expect(once).toMatchObject({ input_tokens: 200_010, output_tokens: 20_005, extra_steps: { count: 1 } })
  const thrice = clampUsage(claimed, { ...window, maxSteps: () => ({ compactions: 1, advice: 2 }) }).usage
  expect(thrice).toMatchObject({ input_tokens: 600_010, output_tokens: 60_005, extra_steps: { count: 3 } })
})

test('calls of hosted tools that the request does not ask for are not billed', () => {
  const claimed = used(10, 5, { hosted_calls: { web_search: 900, file_search: 3 } })
  const { usage, isClamped } = clampUsage(claimed, { ...bounds, maxCalls: () => ({ file_search: 5 }) })
  expect([usage.hosted_calls, isClamped]).toEqual([{ file_search: 3 }, true])
  expect(clampUsage(claimed, { ...bounds, maxCalls: () => ({ web_search: 1_000, file_search: 3 }) })).toEqual({
    usage: claimed,
    isClamped: false,
  })
})
