import { expect, test } from 'vitest'
import type { WorkspacePolicy } from '../../access/workspace-policy.ts'
import type { Failure } from '../../protocol/failure.ts'
import type { Candidate } from '../../routing/plan.ts'
import { type Refusal, type RefusedKeysContext, refusalOf, refusedKeyWarnings } from './refused-keys.ts'

const candidate = (provider: string, owner = 'platform') => ({ provider: { id: provider }, credential: { owner } }) as unknown as Candidate
const refusedKeys = new Map([['a', { id: 'key_a', name: 'Mine' }]]) as unknown as NonNullable<WorkspacePolicy['refusedKeys']>

function warned({
  now = [],
  owner = 'platform',
  byok_first,
  isKnown = true,
}: {
  now?: readonly Refusal[]
  owner?: string
  byok_first?: boolean
  isKnown?: boolean
} = {}) {
  const context = {
    ...(isKnown && { refusedKeys }),
    plan: { candidates: [candidate('a'), candidate('b')] },
    request: { routing: { ...(byok_first !== undefined && { byok_first }) } },
  } as unknown as RefusedKeysContext
  const warnings = refusedKeyWarnings(candidate('a', owner), now, context)
  expect(warnings.every(({ code }) => code === 'byok_key_refused')).toBe(true)
  return warnings.map(({ message }) => message.split(',')[0])
}

const ofA = `a rejected the workspace's BYOK key "Mine" (key_a)`

test('a response by a platform credential warns of a BYOK key that its candidates would have used', () => {
  expect(warned()).toEqual([ofA])
  expect(warned({ byok_first: true })).toEqual([ofA])
})

test('there is no warning if BYOK was used, if platform credentials come first, or if no key was refused', () => {
  expect(warned({ owner: 'workspace', now: [{ provider: 'b', keyId: 'key_b' }] })).toEqual([])
  expect(warned({ byok_first: false })).toEqual([])
  expect(warned({ isKnown: false })).toEqual([])
})

test('a key that was refused within the request gives a warning as well, one for each provider', () => {
  const now = [
    { provider: 'b', keyId: 'key_b' },
    { provider: 'a', keyId: 'key_a' },
  ]
  expect(warned({ now, isKnown: false })).toEqual([
    `b rejected the workspace's BYOK key "key_b"`,
    `a rejected the workspace's BYOK key "key_a"`,
  ])
  expect(warned({ now })).toEqual([`a rejected the workspace's BYOK key "key_a"`, `b rejected the workspace's BYOK key "key_b"`])
  expect(warned({ now, byok_first: false })).toHaveLength(2)
})

test('a failure counts as a refused key only for a BYOK credential', () => {
  const failure = (more: Partial<Failure>): Failure => ({ kind: 'bad_credential', message: '', ...more })
  expect(refusalOf(failure({ credential: 'key_a', provider: 'a' }))).toEqual({ provider: 'a', keyId: 'key_a' })
  expect(refusalOf(failure({ provider: 'a' }))).toBeUndefined()
  expect(refusalOf(failure({ kind: 'rejected', credential: 'key_a', provider: 'a' }))).toBeUndefined()
})
