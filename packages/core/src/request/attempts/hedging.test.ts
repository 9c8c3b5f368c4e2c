import type { InferenceRequest } from '@signalbox/dialects/protocol'
import { expect, test } from 'vitest'
import type { SelectedOffer } from '../../upstream/call.ts'
import { affordsBeside, hedges } from './hedging.ts'

const request = ({ delivery = 'stream', routing = {}, tools }: { delivery?: string; routing?: object; tools?: readonly object[] } = {}) =>
  ({
    prompt: { input: [], ...(tools && { tools }) },
    routing: { models: ['m'], allow_fallbacks: true, ...routing },
    delivery,
  }) as unknown as InferenceRequest

test('a stream with fallbacks is hedged if the gateway or the request enables it', () => {
  const decided = [
    [true, {}],
    [false, {}],
    [false, { hedge: true }],
    [true, { hedge: false }],
    [true, { allow_fallbacks: false }],
  ] as const
  expect(decided.map(([hedge, routing]) => hedges({ hedge }, request({ routing })))).toEqual([true, false, true, false, false])
  expect(hedges({ hedge: true }, request({ delivery: 'whole' }))).toBe(false)
})

test('a request with a hosted tool is not hedged, since the tool must not run twice', () => {
  const [hosted, own] = [
    { type: 'native', body: { type: 'web_search' } },
    { type: 'function', name: 'f' },
  ]
  expect([[], [own], [own, hosted]].map(tools => hedges({ hedge: true }, request({ tools })))).toEqual([true, true, false])
  const found = {
    type: 'native',
    dialect: 'responses',
    body: {},
    tools: [{ type: 'native', dialect: 'responses', body: { type: 'web_search' } }],
  }
  const plain = request()
  const added = { ...plain, prompt: { ...plain.prompt, input: [found] } } as unknown as InferenceRequest
  expect(hedges({ hedge: true }, added)).toBe(false)
})

test('a second call uses an offer that is free at once and costs no more than the limit', () => {
  const offer = (cost: number, waitMs: number) => ({ choice: { estimate: { cost }, waitMs } }) as SelectedOffer
  const affords = (cost: number, waitMs: number) => affordsBeside({ maxHedgeCost: 0.5 }, offer(cost, waitMs))
  expect([affords(0.5, 0), affords(0.51, 0), affords(0.1, 1), affords(0, 0)]).toEqual([true, false, false, true])
})
