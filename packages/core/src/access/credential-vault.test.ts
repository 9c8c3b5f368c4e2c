import { inspect } from 'node:util'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { makeKeyRing } from '../runtime/seal.ts'
import { type CredentialBinding, createVault } from './credential-vault.ts'
import type { CredentialBody } from './kinds.ts'
import type { TypedRecord } from './records.ts'

const keyOf = (fill: number): Uint8Array => new Uint8Array(32).fill(fill)

const testbed = (...keys: readonly [Uint8Array, ...Uint8Array[]]) => {
  const logged: object[] = []
  const logger = { info: () => {}, error: () => {}, warn: (facts: object) => void logged.push(facts) }
  const policyOf = (_: string, tier: string | undefined) => (tier === 'free' ? 'may_train' : undefined)
  return { vault: createVault({ ring: makeKeyRing(() => keys), policyOf, logger }), logged }
}
const { vault } = testbed(keyOf(1))

const record = (
  sealed: string,
  { workspaceId = 'w', id = 'k', ...body }: Partial<CredentialBody & CredentialBinding> = {},
): TypedRecord<'credential'> => ({
  kind: 'credential',
  workspaceId,
  id,
  version: 1,
  createdAt: 0,
  body: {
    provider: 'acme',
    name: 'n',
    prefix: 'p',
    isDefault: true,
    disabled: false,
    validationStatus: 'valid',
    updatedAt: 0,
    ...body,
    sealed,
  },
})
const secret = 'sk-canary-7f3a9c'
const sealedFor = (place: TypedRecord<'credential'>): Promise<string> => vault.seal(secret, place)

test('B1: an envelope names its version and its key, and sealing a secret twice gives different envelopes', async () => {
  const [one, other] = await Promise.all([sealedFor(record('')), sealedFor(record(''))])
  expect(one).toMatch(/^v1\.2\.[\w-]{8}\.[\w-]{16}\.[\w-]+$/)
  expect(other.split('.')[2]).toBe(one.split('.')[2])
  expect(other).not.toBe(one)
  expect(await vault.unseal(record(one))).toBe(secret)
})

test('B1: a sealed secret does not open for another workspace, record, provider or address', async () => {
  const name = fc.string({ maxLength: 8 })
  const place = fc.record({ workspaceId: name, id: name, provider: name, extra: fc.dictionary(name, name, { maxKeys: 2 }) })
  await fc.assert(
    fc.asyncProperty(place, place, async (one, other) => {
      const same = JSON.stringify(sorted(one)) === JSON.stringify(sorted(other))
      const sealed = await sealedFor(record('', one))
      expect(await vault.unseal(record(sealed, other))).toBe(same ? secret : undefined)
      expect(await vault.unseal(record(sealed, one))).toBe(secret)
    }),
  )
})

const sorted = ({ extra, ...place }: { readonly extra: Readonly<Record<string, string>> }) => [place, Object.entries(extra).sort()]

test('B1: changing any character of an envelope makes it fail to open', async () => {
  const sealed = await sealedFor(record(''))
  const letter = fc.constantFrom(...'ABCDEFabcdef0123456789-_.')
  await fc.assert(
    fc.asyncProperty(fc.nat(sealed.length - 1), letter, async (at, put) => {
      fc.pre(sealed[at] !== put)
      expect(await vault.unseal(record(sealed.slice(0, at) + put + sealed.slice(at + 1)))).toBeUndefined()
    }),
  )
})

test('B1: changing any bit of the bytes makes it fail to open', async () => {
  const sealed = await sealedFor(record(''))
  const [version, key, iv, text] = sealed.split('.')
  const bytes = Buffer.from(text ?? '', 'base64url')
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const flipped = Buffer.from(bytes)
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    expect(await vault.unseal(record([version, key, iv, flipped.toString('base64url')].join('.')))).toBeUndefined()
  }
})

test('B2: a credential that does not open is left out and logged once, without its content', async () => {
  const sealed = await sealedFor(record(''))
  const other = testbed(keyOf(2))
  const rows = [record(sealed), record('v2.nonsense', { id: 'k2' }), record('', { id: 'k3' })]
  expect((await other.vault.open(rows)).size).toBe(0)
  await other.vault.open(rows)
  expect(new Set(other.logged)).toEqual(new Set(['k', 'k2', 'k3'].map(id => ({ byok_key_id: id, workspace_id: 'w', provider: 'acme' }))))
  expect(other.logged).toHaveLength(3)
})

test('B2: a secret sealed with an older key opens, and is not the newest', async () => {
  const sealed = record(await sealedFor(record('')))
  const { vault: rotated } = testbed(keyOf(2), keyOf(1))
  expect(await rotated.unseal(sealed)).toBe(secret)
  expect(await rotated.isNewest(sealed)).toBe(false)
  expect(await vault.isNewest(sealed)).toBe(true)
})

test('credentials are opened with the default first, then in order of creation, without those that are disabled or refused', async () => {
  const make = async (id: string, body: Partial<CredentialBody> = {}) =>
    record(await sealedFor(record('', { id, ...body })), { id, ...body })
  const rows = await Promise.all([
    make('first', { isDefault: false }),
    make('usual', { validationStatus: 'error' }),
    make('elsewhere', { provider: 'other', accountTier: 'free' }),
    make('off', { provider: 'a', disabled: true }),
    make('spare of off', { provider: 'a', isDefault: false }),
    make('refused', { provider: 'b', validationStatus: 'invalid' }),
    make('spare of refused', { provider: 'b', isDefault: false }),
  ])
  const opened = await vault.open(rows)
  expect([...opened].map(([provider, all]) => [provider, all.map(({ id }) => id)])).toEqual([
    ['acme', ['usual', 'first']],
    ['other', ['elsewhere']],
    ['a', ['spare of off']],
    ['b', ['spare of refused']],
  ])
  expect(opened.get('other')?.[0]?.dataPolicy).toBe('may_train')
  expect(opened.get('acme')?.[0]).not.toHaveProperty('dataPolicy')
})

test('an unchanged record gives the same object, a changed record a new one', async () => {
  const row = record(await sealedFor(record('')))
  const one = async (each: TypedRecord<'credential'>) => (await vault.open([each])).get('acme')?.[0]
  const [first, second] = await Promise.all([one(row), one(row)])
  expect(second).toBe(first)
  expect(await one({ ...row, version: 2 })).not.toBe(first)
})

test('B3: a credential reveals its secret only by its property, never when it is printed or copied', async () => {
  const credential = (await vault.open([record(await sealedFor(record('', { id: 'b3' })), { id: 'b3' })])).get('acme')?.[0]
  expect(credential?.secret).toBe(secret)
  const error = new Error('It failed.', { cause: { credential } })
  const printed = [
    inspect(error, { depth: 9, showHidden: true }),
    JSON.stringify({ credential, cause: error.cause }),
    JSON.stringify({ ...credential }),
    inspect(structuredClone(error), { depth: 9 }),
    String(credential),
    Object.values(credential ?? {}).join(),
  ]
  expect(printed.join('\n')).not.toContain('canary')
})
