import type { Credential, Provider } from '@signalbox/dialects/protocol'
import { describe, expect, test } from 'vitest'
import { asking, inOrder, offerOf, orderOf, planOf, providerOf } from '../../test/routing/routing-fixture.ts'
import { candidatesOf } from './candidates.ts'
import type { Candidate } from './plan.ts'

const model = { id: 'm', offers: [offerOf('a'), offerOf('b', { api: 'responses' }), offerOf('away')] }
const mapOf = (...providers: readonly Provider[]) => new Map(providers.map(each => [each.id, each]))

const own: Credential = { id: 'own-b', owner: 'workspace', secret: 'w' }
const ofB = ({ id }: Provider): readonly Credential[] => (id === 'b' ? [own] : [])

test('an offer is a candidate with each of its credentials, and offers without one are listed as missing', () => {
  const { credential, ...poor } = providerOf('b')
  const { all, missing } = candidatesOf(model, { providers: mapOf(providerOf('a'), poor) })
  expect(all.map(each => each.credential.id)).toEqual(['a-ours'])
  expect(missing.map(({ provider, provider_model_id, reason }) => [provider, provider_model_id, reason])).toEqual([
    ['b', 'b-m', 'this gateway has no credential for it'],
    ['away', 'away-m', 'this gateway is not configured with this provider'],
  ])
  const withOwn = candidatesOf(model, { providers: mapOf(providerOf('a'), poor), credentials: ofB })
  expect(withOwn.all.map(each => each.credential.id)).toEqual(['a-ours', 'own-b'])
  expect(withOwn.missing.map(({ provider }) => provider)).toEqual(['away'])
})

describe('from one request to the next', () => {
  test('candidates are identical objects', () => {
    const providers = mapOf(providerOf('a'), providerOf('b'))
    expect(candidatesOf(model, { providers })).toBe(candidatesOf(model, { providers }))
    expect(candidatesOf(model, { providers, credentials: () => [] })).toBe(candidatesOf(model, { providers }))
    const [first, second] = [1, 2].map(() => candidatesOf(model, { providers, credentials: ofB }).all)
    for (const [at, candidate] of (first ?? []).entries()) expect(candidate).toBe(second?.[at])
  })

  test('a replaced credential is the one that is used', () => {
    const provider: { -readonly [Field in keyof Provider]: Provider[Field] } = providerOf('a')
    const providers = mapOf(provider)
    const secretOf = () => candidatesOf(model, { providers }).all[0]?.credential.secret
    expect(secretOf()).toBe('s')
    provider.credential = { id: 'a-ours', owner: 'platform', secret: 'rotated' }
    expect(secretOf()).toBe('rotated')
    provider.moreCredentials = [{ id: 'a-second', owner: 'platform', secret: 'second' }]
    expect(candidatesOf(model, { providers }).all.map(({ credential }) => credential.secret)).toEqual(['rotated', 'second'])
    providers.set('a', providerOf('a'))
    expect(secretOf()).toBe('s')
  })

  test('two gateways with the same model share nothing', () => {
    const ofOne = candidatesOf(model, { providers: mapOf(providerOf('a')) })
    const ofOther = candidatesOf(model, { providers: mapOf(providerOf('b')) })
    expect([ofOne, ofOther].map(({ all }) => all.map(({ provider }) => provider.id))).toEqual([['a'], ['b']])
    expect([ofOne, ofOther].map(({ responsesOnly }) => responsesOnly)).toEqual([false, true])
  })
})

describe('the caller’s own credentials', () => {
  const selling = { providers: [providerOf('a'), providerOf('b')], models: [model] }
  const credentialsIn = (byok_first: boolean | null, more: Parameters<typeof planOf>[2] = {}) =>
    inOrder(planOf(asking({ gateway: { routing: { byok_first } } }), selling, { credentials: ofB, ...more })).map(
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
    expect(planOf(asking({}), selling, { credentials: ofB, lastMade }).pinned?.map(({ credential }) => credential.id)).toEqual(['a-ours'])
  })

  test('go after the caller’s own order of providers', () => {
    const plan = planOf(asking({ gateway: { routing: { order: ['a'] } } }), selling, { credentials: ofB })
    expect(orderOf(plan)).toEqual(['a for m', 'b for m', 'b for m'])
  })
})
