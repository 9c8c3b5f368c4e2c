import type { Credential, Provider } from '@signalbox/dialects/protocol'
import { describe, expect, test } from 'vitest'
import { asking, inOrder, offerOf, orderOf, planOf, providerOf } from '../../test/routing/routing-fixture.ts'
import { type LanePolicy, Lanes } from './lanes.ts'
import type { Candidate } from './plan.ts'

const model = { id: 'm', offers: [offerOf('a'), offerOf('b', { api: 'responses' }), offerOf('away')] }
const mapOf = (...providers: readonly Provider[]) => new Map(providers.map(each => [each.id, each]))

const own: Credential = { id: 'own-b', owner: 'workspace', secret: 'w' }
const policyWith = (credentials: Readonly<Record<string, readonly Credential[]>>): LanePolicy => ({
  workspace: { id: 'w', body: {} },
  credentials: new Map(Object.entries(credentials)),
})
const ofB = policyWith({ b: [own] })

test('an offer is a candidate with each of its credentials, and offers without one are listed as missing', () => {
  const { credential, ...poor } = providerOf('b')
  const lanes = new Lanes(mapOf(providerOf('a'), poor))
  const { candidates, missing } = lanes.under(undefined).of(model)
  expect(candidates.map(each => each.credential.id)).toEqual(['a-ours'])
  expect(missing.map(({ provider, provider_model_id, reason }) => [provider, provider_model_id, reason])).toEqual([
    ['b', 'b-m', 'this gateway has no credential for it'],
    ['away', 'away-m', 'this gateway is not configured with this provider'],
  ])
  const withOwn = lanes.under(ofB).of(model)
  expect(withOwn.candidates.map(each => each.credential.id)).toEqual(['a-ours', 'own-b'])
  expect(withOwn.missing.map(({ provider }) => provider)).toEqual(['away'])
})

describe('from one request to the next', () => {
  test('a lane is the same object', () => {
    const lanes = new Lanes(mapOf(providerOf('a'), providerOf('b')))
    const common = lanes.under(undefined).of(model)
    expect(lanes.under(undefined).of(model)).toBe(common)
    expect(lanes.under(policyWith({})).of(model)).toBe(common)
    expect(lanes.under(ofB).of(model)).toBe(lanes.under(ofB).of(model))
    // Candidates of the operator are shared by all workspaces.
    expect(lanes.under(ofB).of(model).candidates[0]).toBe(common.candidates[0])
  })

  test('a replaced credential is the one that is used', () => {
    const provider: { -readonly [Field in keyof Provider]: Provider[Field] } = providerOf('a')
    const providers = mapOf(provider)
    const lanes = new Lanes(providers)
    const secretsOf = (policy?: LanePolicy) =>
      lanes
        .under(policy)
        .of(model)
        .candidates.map(({ credential }) => credential.secret)
    expect(secretsOf()).toEqual(['s'])
    provider.credential = { id: 'a-ours', owner: 'platform', secret: 'rotated' }
    expect(secretsOf()).toEqual(['rotated'])
    const ofA = policyWith({ a: [own] })
    expect(secretsOf(ofA)).toEqual(['w', 'rotated'])
    provider.moreCredentials = [{ id: 'a-second', owner: 'platform', secret: 'second' }]
    expect(secretsOf()).toEqual(['rotated', 'second'])
    expect(secretsOf(ofA)).toEqual(['w', 'rotated', 'second'])
    providers.set('a', providerOf('a'))
    expect(secretsOf()).toEqual(['s'])
  })

  test('another policy or model makes another lane, also with the same ids', () => {
    const lanes = new Lanes(mapOf(providerOf('a'), providerOf('b')))
    expect(
      lanes
        .under(policyWith({ b: [{ ...own, secret: 'next' }] }))
        .of(model)
        .candidates.at(-2)?.credential.secret,
    ).toBe('next')
    expect(lanes.under(ofB).of(model).candidates.at(-2)?.credential.secret).toBe('w')
    const dearer = { ...model, offers: [offerOf('a', { price: { input: 9, output: 9 } })] }
    for (const policy of [undefined, ofB])
      expect(
        lanes
          .under(policy)
          .of(dearer)
          .candidates.map(({ offer }) => offer.price?.input),
      ).toEqual([9])
  })

  test('of many workspaces with many keys, those used last are kept', () => {
    const lanes = new Lanes(mapOf(providerOf('a'), providerOf('b')))
    const keys = Array.from({ length: 500 }, () => own)
    const policies = Array.from({ length: 220 }, (_, n) => ({ ...policyWith({ b: keys }), workspace: { id: `w${n}`, body: {} } }))
    const [first, ...others] = policies.map(policy => ({ policy, lane: lanes.under(policy).of(model) }))
    const last = others.at(-1)
    expect(lanes.under(last?.policy).of(model)).toBe(last?.lane)
    expect(lanes.under(first?.policy).of(model)).not.toBe(first?.lane)
  })

  test('two gateways with the same model share nothing', () => {
    const [ofOne, ofOther] = ['a', 'b'].map(id => new Lanes(mapOf(providerOf(id))).under(undefined).of(model))
    expect([ofOne, ofOther].map(lane => lane?.candidates.map(({ provider }) => provider.id))).toEqual([['a'], ['b']])
    expect([ofOne, ofOther].map(lane => lane?.responsesOnly)).toEqual([false, true])
  })
})

describe('the caller’s own credentials', () => {
  const selling = { providers: [providerOf('a'), providerOf('b')], models: [model] }
  const credentialsIn = (byok_first: boolean | null, more: Parameters<typeof planOf>[2] = {}) =>
    inOrder(planOf(asking({ gateway: { routing: { byok_first } } }), selling, { policy: ofB, ...more })).map(
      ({ credential }) => credential.id,
    )

  test('go before those of the operator, unless the caller wants them last', () => {
    expect(credentialsIn(null)).toEqual(['own-b', 'a-ours', 'b-ours'])
    expect(credentialsIn(true)).toEqual(['own-b', 'a-ours', 'b-ours'])
    expect(credentialsIn(false)).toEqual(['a-ours', 'b-ours', 'own-b'])
  })

  test('go before those of the operator even if these created reasoning state of the conversation', () => {
    const lastMade = ({ credential }: Candidate): number | undefined => (credential.id === 'a-ours' ? 3 : undefined)
    expect(credentialsIn(null, { lastMade })).toEqual(['own-b', 'a-ours', 'b-ours'])
    expect(planOf(asking({}), selling, { policy: ofB, lastMade }).pinned?.map(({ credential }) => credential.id)).toEqual(['a-ours'])
  })

  test('go after the caller’s own order of providers', () => {
    const plan = planOf(asking({ gateway: { routing: { order: ['a'] } } }), selling, { policy: ofB })
    expect(orderOf(plan)).toEqual(['a for m', 'b for m', 'b for m'])
  })
})
