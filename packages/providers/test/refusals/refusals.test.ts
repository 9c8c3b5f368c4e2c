import { encodeForOffer } from '@signalbox/dialects/clients'
import { isContentLost } from '@signalbox/dialects/common'
import type { InferenceRequest, JsonObject } from '@signalbox/dialects/protocol'
import { dialectFor, originalOf } from '@signalbox/dialects/protocol'
import fc from 'fast-check'
import { describe, expect, inject, test } from 'vitest'
import { candidateOf, filtered, questionOf } from '../../../core/test/routing/routing-fixture.ts'
import { offers, type SoldOffer } from './offers.ts'
import { agentRequests, bodiesOf, clientNames, decoded, missingRecordings, recordedRequests } from './requests.ts'
import { type RefusalRow, refusals } from './table.ts'

// The law: whatever a client asks, nothing that the vendor refuses is sent. A request is repaired with a warning, or the offer is excluded.

/** The body as it is sent to an offer; undefined if the offer is excluded. */
function sentTo(request: InferenceRequest, { provider, offer, quirks }: SoldOffer): JsonObject | undefined {
  const { eligible } = filtered([candidateOf(offer, provider)], questionOf(request))
  const dialect = dialectFor(provider, offer)
  if (eligible.length === 0 || !dialect) return undefined
  const { body, warnings } = encodeForOffer(dialect, request, { offer, quirks })
  return warnings.some(isContentLost) ? undefined : (JSON.parse(JSON.stringify(body)) as JsonObject)
}

const counts = { requests: 0, sent: 0, excluded: 0, checks: 0 }
const rowsOf = new Map<SoldOffer, readonly RefusalRow[]>(
  offers.map(sold => [sold, refusals.filter(({ dialect, models = /./ }) => dialect === sold.offer.api && models.test(sold.offer.model))]),
)

/** What is sent although it is refused: of each row, one offer. */
function refusedIn(request: InferenceRequest): readonly string[] {
  counts.requests += 1
  const written = originalOf(request)?.dialect
  const found = offers.flatMap(sold => {
    const body = sentTo(request, sold)
    counts[body ? 'sent' : 'excluded'] += 1
    if (!body) return []
    const rows = (rowsOf.get(sold) ?? []).filter(({ dialect, translated }) => !translated || dialect !== written)
    counts.checks += rows.length
    return rows.flatMap(({ id, find }) => {
      const wrong = find(body)
      return wrong.length === 0 ? [] : [{ id, text: `${id} at ${sold.name}: ${JSON.stringify(wrong[0]).slice(0, 200)}` }]
    })
  })
  return [...new Map(found.map(({ id, text }) => [id, text])).values()]
}

test.each(agentRequests)('$name', ({ client, body }) => {
  const request = decoded(client, body)
  expect(request && refusedIn(request)).toEqual([])
})

if (!missingRecordings)
  test('no next turn of a recorded response is refused', () => {
    const requests = recordedRequests.flatMap(({ name, client, body }) => {
      const request = decoded(client, body)
      return request ? [{ name, request }] : []
    })
    expect(requests.length).toBeGreaterThan(50)
    expect(requests.flatMap(({ name, request }) => refusedIn(request).map(found => `${name}: ${found}`))).toEqual([])
  })

const longRunMs = 1_800_000

describe.each(clientNames)('no request of a client of %s', client => {
  test('is refused by a row of the table', { timeout: longRunMs }, () => {
    fc.assert(
      fc.property(bodiesOf(client), body => {
        const request = decoded(client, body)
        expect(request, 'a generated request is allowed').toBeDefined()
        expect(request && refusedIn(request)).toEqual([])
      }),
      { numRuns: inject('isLongRun') ? 1_000 : 12, seed: 20_261_128 },
    )
  })
})

test('every row of the table has an offer that it is checked at, and requests are sent', () => {
  const checked = new Set([...rowsOf.values()].flat())
  expect(refusals.filter(row => !checked.has(row))).toEqual([])
  expect(counts.sent).toBeGreaterThan(counts.excluded)
  if (inject('isLongRun')) process.stdout.write(`refusals: ${refusals.length} rows, ${offers.length} offers, ${JSON.stringify(counts)}\n`)
})
