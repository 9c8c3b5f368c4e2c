import fc from 'fast-check'
import { expect, test } from 'vitest'
import { rateLimits } from '../../../providers/src/rate-limit-headers.ts'
import { readHeadroom } from './read-rate-limit-headers.ts'

type Style = keyof typeof rateLimits

const now = Date.parse('2026-11-21T10:00:00Z')
const read = (style: Style, headers: Readonly<Record<string, string>>) => readHeadroom(name => headers[name], rateLimits[style], now)

test.each<[Style, Readonly<Record<string, string>>, unknown]>([
  [
    'openai',
    {
      'x-ratelimit-limit-requests': '500',
      'x-ratelimit-remaining-requests': '250',
      'x-ratelimit-reset-requests': '6m0s',
      'x-ratelimit-limit-tokens': '30000',
      'x-ratelimit-remaining-tokens': '3000',
      'x-ratelimit-reset-tokens': '2m59.56s',
    },
    { share: 0.1, resetsInMs: 179_560 },
  ],
  [
    'anthropic',
    {
      'anthropic-ratelimit-requests-limit': '50',
      'anthropic-ratelimit-requests-remaining': '0',
      'anthropic-ratelimit-requests-reset': '2026-11-21T10:00:30Z',
      'anthropic-ratelimit-tokens-limit': '1000',
      'anthropic-ratelimit-tokens-remaining': '1000',
    },
    { share: 0, resetsInMs: 30_000 },
  ],
  [
    'mistral',
    { 'x-ratelimitbysize-limit-minute': '500000', 'x-ratelimitbysize-remaining-minute': '125000', 'ratelimitbysize-reset': '21' },
    { share: 0.25, resetsInMs: 21_000 },
  ],
  ['together', { 'x-ratelimit-limit': '10', 'x-ratelimit-remaining': '4', 'x-ratelimit-reset': '1' }, { share: 0.4, resetsInMs: 1_000 }],
  ['fireworks', { 'x-ratelimit-limit-requests': '600', 'x-ratelimit-remaining-requests': '300' }, { share: 0.5, resetsInMs: 60_000 }],
  [
    'cerebras',
    {
      'x-ratelimit-limit-tokens-minute': '60000',
      'x-ratelimit-remaining-tokens-minute': '30000',
      'x-ratelimit-reset-tokens-minute': '12.5',
    },
    { share: 0.5, resetsInMs: 12_500 },
  ],
  ['openai', { 'x-ratelimit-limit-requests': '10', 'x-ratelimit-remaining-requests': '-1' }, undefined],
  ['openai', { 'x-ratelimit-limit-requests': '0', 'x-ratelimit-remaining-requests': '0' }, undefined],
  ['openai', {}, undefined],
])('%s: %j', (style, headers, expected) => {
  expect(read(style, headers)).toEqual(expected)
})

test('the share is between 0 and 1 and the reset is a time, whatever the headers contain', () => {
  const names = Object.values(rateLimits).flatMap(families => families.flatMap(({ limit, remaining, reset }) => [limit, remaining, reset]))
  const value = fc.oneof(fc.string(), fc.integer().map(String), fc.double().map(String))
  fc.assert(
    fc.property(
      fc.constantFrom(...(Object.keys(rateLimits) as Style[])),
      fc.dictionary(fc.constantFrom(...names), value),
      (style, headers) => {
        const room = read(style, headers)
        if (room === undefined) return
        expect(room.share).toBeGreaterThanOrEqual(0)
        expect(room.share).toBeLessThanOrEqual(1)
        expect(room.resetsInMs).toBeGreaterThan(0)
      },
    ),
  )
})
