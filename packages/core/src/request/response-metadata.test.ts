import { expect, test } from 'vitest'
import type { Candidate } from '../routing/plan.ts'
import type { KeptAnswer } from './item-references/kept-items.ts'
import { createResponseMetadata, type MetadataFacts } from './response-metadata.ts'

const candidate = {
  model: { id: 'm-1', offers: [] },
  offer: { provider: 'p', model: 'p/m-1', api: 'chat' },
  provider: { id: 'p' },
} as unknown as Candidate
const usage = { input_tokens: 1, output_tokens: 500, cached_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 }
const metadata = (facts: Partial<MetadataFacts> = {}) =>
  createResponseMetadata({ requestId: 'a-b-c', modelAsked: 'asked', at: 5_999, startedAt: 7 })({ warnings: [], ...facts })
const routing = (facts: Partial<MetadataFacts>) => metadata({ candidate, ...facts }).routing

test('before a provider has responded the metadata names the requested model, and omits unknown values', () => {
  const { itemId, ...known } = metadata()
  expect(known).toEqual({ id: 'resp_abc', model: 'asked', created_at: 5, warnings: [] })
  expect(itemId('msg')).toBe('msg_abc0001')
})

test('item ids count up in hexadecimal over all metadata of a response', () => {
  const metadataOf = createResponseMetadata({ requestId: 'a-b', modelAsked: 'm', at: 0, startedAt: 0 })
  const ids = Array.from({ length: 17 }, (_, at) => metadataOf({ warnings: [] }).itemId(at % 2 ? 'msg' : 'fc'))
  expect([ids[0], ids[1], ids[9], ids[16]]).toEqual(['fc_ab0001', 'msg_ab0002', 'msg_ab000a', 'fc_ab0011'])
})

test('the known facts of a call are in its metadata', () => {
  expect(metadata({ candidate, endedAt: 7_999, estimatedInput: 0, used: { temperature: 1 } as never })).toMatchObject({
    model: 'm-1',
    completed_at: 7,
    estimated_input_tokens: 0,
    used: { temperature: 1 },
    routing: { provider: 'p', provider_model_id: 'p/m-1', model_canonical: 'm-1', routing_strategy: '' },
  })
  expect(routing({ strategy: 'price' })).toMatchObject({ routing_strategy: 'price' })
})

test('a speed needs both the usage and the time, and is tokens per second with two digits', () => {
  expect(routing({ usage, outputMs: 3_000 })).toMatchObject({ throughput_tps: 166.67 })
  expect(routing({ usage })).not.toHaveProperty('throughput_tps')
  expect(routing({ outputMs: 3_000 })).not.toHaveProperty('throughput_tps')
})

test('a cost is included once it is known, also if it is zero, along with the BYOK cost', () => {
  expect(routing({})).not.toHaveProperty('cost')
  expect(routing({ cost: 0 })).toMatchObject({ cost: { usd: 0 } })
  expect(routing({ cost: 1_500_000, byokCost: 250_000 })).toMatchObject({ cost: { usd: 1.5, byok_usd: 0.25 } })
  expect(routing({ byokCost: 250_000 })).not.toHaveProperty('cost')
})

test('items are kept for their owner from the settlement on, and claimed under its name', async () => {
  const log: unknown[] = []
  const items = {
    claim: (...given: unknown[]) => void log.push(['claim', ...given]),
    keep(...given: unknown[]) {
      log.push(['keep', ...given])
      return 'kept'
    },
  }
  const kept = { items, owner: 'owner', waiting: undefined } as unknown as KeptAnswer
  const { claimId, keepItems } = metadata({ kept, settledAt: 9 })
  claimId?.('msg_1', 'message')
  keepItems?.([{ id: 'msg_1' }])
  expect(log).toEqual([
    ['claim', 'owner', { id: 'msg_1', type: 'message', at: 7 }],
    ['keep', 'owner', [{ id: 'msg_1' }], 9],
  ])
  expect(kept.waiting).toBe('kept')
  expect(metadata()).not.toHaveProperty('claimId')
})
