import { expect, test } from 'vitest'
import type { Candidate } from '../../routing/plan.ts'
import { type ByokFailure, type ByokWarningContext, byokWarnings } from './byok-warnings.ts'

const candidate = (provider: string, credential = 'platform') =>
  ({
    model: { id: 'm' },
    provider: { id: provider },
    offer: { provider, model: 'm' },
    credential: { id: credential, owner: credential === 'platform' ? 'platform' : 'workspace' },
  }) as unknown as Candidate
const [ofA, ofB, second] = [candidate('a', 'key_a'), candidate('b', 'key_b'), candidate('a', 'key_2')]
const [a, b] = [candidate('a'), candidate('b')]
const mine = { id: 'key_a', name: 'Mine', isRefused: true }

interface Situation {
  readonly used?: Candidate
  readonly failures?: readonly ByokFailure[]
  readonly candidates?: readonly Candidate[]
  readonly ranks?: readonly number[]
  readonly unusable?: readonly (typeof mine)[]
  readonly excluded?: readonly object[]
  readonly byok_first?: boolean
  readonly ruling?: string
  readonly routing?: object
}

function warned({ used = a, failures = [], candidates = [a, b], ranks, unusable, excluded = [], byok_first, ruling, routing }: Situation) {
  const context = {
    policy: {
      credentials: new Map([['a', [ofA.credential]]]),
      ...(unusable && { unusableKeys: new Map([['a', unusable]]) }),
    },
    plan: { candidates, excluded, ruling, ...(ranks && { ranks }) },
    request: { routing: { models: ['m'], ...routing, ...(byok_first !== undefined && { byok_first }) } },
  } as unknown as ByokWarningContext
  return byokWarnings(used, failures, context).map(({ code, message }) => {
    expect(message).toContain('a credential of the operator was used and the workspace is charged')
    return `${code}: ${message.split(', so ')[0]}`
  })
}

const refused = `byok_key_refused: a rejected the workspace's BYOK key "Mine" (key_a)`
const unavailable = (reason: string) => `byok_key_unavailable: a could not be called with the workspace's BYOK key ${reason}`

test('a response by a credential of the operator warns of a refused BYOK key that would have been used before it', () => {
  expect(warned({ unusable: [mine] })).toEqual([refused])
  expect(warned({ unusable: [mine], byok_first: true, used: b })).toEqual([refused])
})

test('there is no warning if a BYOK key was used, if credentials of the operator come first, or if there is no BYOK key', () => {
  expect(warned({ unusable: [mine], used: ofB, failures: [{ candidate: ofA, kind: 'rate_limited' }] })).toEqual([])
  expect(warned({ unusable: [mine], byok_first: false, candidates: [ofA, a], ranks: [1, 0] })).toEqual([])
  expect(warned({ candidates: [b], used: b })).toEqual([])
})

test.each([
  ['bad_credential', `byok_key_refused: a rejected the workspace's BYOK key "key_a"`],
  ['rate_limited', unavailable('"key_a" (rate limited)')],
  ['out_of_quota', unavailable('"key_a" (out of quota)')],
  ['timed_out', unavailable('"key_a" (timed out)')],
  ['server_error', unavailable('"key_a" (its call failed)')],
] as const)('a call with a BYOK key that failed within the request (%s) gives a warning', (kind, warning) => {
  const failed = { failures: [{ candidate: ofA, kind }], candidates: [ofA, a, b], ranks: [0, 1, 1] }
  expect(warned(failed)).toEqual([warning])
  expect(warned({ ...failed, byok_first: false })).toEqual([warning])
})

test('a BYOK key that ranks first and was not called, as after a rate limit or with an open circuit, gives a warning', () => {
  const passedOver = { candidates: [ofA, second, a, b], ranks: [0, 1, 2, 2] }
  expect(warned(passedOver)).toEqual([
    `byok_key_unavailable: a could not be called with the workspace's BYOK keys "key_a" (rate limited, failing or slower), "key_2" (rate limited, failing or slower)`,
  ])
  expect(warned({ ...passedOver, used: b, ranks: [1, 2, 3, 0] })).toEqual([])
})

test('a BYOK key that cannot be unsealed gives a warning', () => {
  expect(warned({ unusable: [{ ...mine, isRefused: false }] })).toEqual([unavailable('"Mine" (key_a: it cannot be unsealed)')])
})

test('a BYOK key because of which an offer was excluded gives a warning with the reason, whichever provider was used', () => {
  const excluded = [{ model: 'm', provider: 'a', provider_model_id: 'm', byok_key_id: 'key_a', reason: 'the monthly limit is reached' }]
  const warning = unavailable('"key_a" (the monthly limit is reached)')
  for (const situation of [{}, { used: b }, { used: b, candidates: [b] }]) expect(warned({ excluded, ...situation })).toEqual([warning])
  expect(warned({ excluded: [{ provider: 'a', reason: 'it has no tools' }], used: b })).toEqual([])
})

test('an unusable BYOK key gives a warning if it is all that an offer of another provider lacks', () => {
  const lacking = { used: b, candidates: [b], unusable: [mine] }
  expect(warned({ ...lacking, excluded: [{ provider: 'a', byok_key_id: null }] })).toEqual([refused])
  expect(warned({ ...lacking, excluded: [{ provider: 'a' }] })).toEqual([])
})

test('an offer that comes after the one that was used, by the order of the request, gives no warning about its keys', () => {
  const lacking = { used: b, candidates: [b] as const, unusable: [mine], excluded: [{ model: 'm2', provider: 'a', byok_key_id: null }] }
  expect(warned({ ...lacking, routing: { order: ['b', 'a'] } })).toEqual([])
  expect(warned({ ...lacking, routing: { order: ['a', 'b'] } })).toEqual([refused])
  expect(warned({ ...lacking, ruling: 'order', routing: { models: ['m', 'm2'] } })).toEqual([])
  expect(warned({ ...lacking, ruling: 'order', routing: { models: ['m2', 'm'] } })).toEqual([refused])
})
