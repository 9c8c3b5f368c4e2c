import { createGateway } from '@signalbox/gateway'
import type { RecordStore } from '@signalbox/storage'
import { memoryStorage } from '@signalbox/storage-memory'
import { expect, test } from 'vitest'
import { profileOf } from '../resources/scopes.ts'
import { sha256, webClock, webIds } from '../runtime/web.ts'
import { isSecret, makeSecret, prefixOf } from './secret.ts'

const ids = webIds()
const logger = { info: () => {}, warn: () => {}, error: () => {} }

/** With the same storage and clock as another gateway, it stands for another process. */
const testbed = async (now = { ms: 1_000_000 }, storage = memoryStorage()) => {
  const gateway = createGateway({
    providers: [],
    models: [],
    storage,
    logger,
    clock: { ...webClock(), now: () => now.ms, monotonic: () => now.ms },
  })
  const { authenticate, workspaces } = gateway
  await workspaces.create({ id: 'w', name: 'W' })
  return { storage, authenticator: { authenticate }, keys: workspaces('w').apiKeys, workspaces, now }
}

test('a secret has the form of a key, and its checksum detects one wrong character', () => {
  const secret = makeSecret(ids)
  expect(secret).toMatch(/^ak_[0-9A-Za-z]{49}$/)
  expect(isSecret(secret)).toBe(true)
  const at = 10
  const other = secret[at] === 'x' ? 'y' : 'x'
  expect(isSecret(secret.slice(0, at) + other + secret.slice(at + 1))).toBe(false)
  expect(makeSecret(ids)).not.toBe(secret)
})

test('two keys with the same prefix never share an identity', async () => {
  const { keys, authenticator } = await testbed()
  const [a, b] = ['ak_same-prefix-one', 'ak_same-prefix-two']
  const first = await keys.create({ name: 'a', secret: a })
  const second = await keys.create({ name: 'b', secret: b })
  expect(prefixOf(a)).toBe(prefixOf(b))
  expect((await authenticator.authenticate(a)).keyId).toBe(first.id)
  expect((await authenticator.authenticate(b)).keyId).toBe(second.id)
})

test('a revoked key stops working at once in the process that revoked it, an expired one at its expiry', async () => {
  const { keys, authenticator, now } = await testbed()
  const { id, secret } = await keys.create({ name: 'a', expiresAt: new Date(now.ms + 5_000) })
  await expect(authenticator.authenticate(secret)).resolves.toMatchObject({ keyId: id })
  now.ms += 5_000
  await expect(authenticator.authenticate(secret)).rejects.toMatchObject({ code: 'invalid_api_key' })
  const other = await keys.create({ name: 'b' })
  await authenticator.authenticate(other.secret)
  await keys.revoke(other.id)
  await expect(authenticator.authenticate(other.secret)).rejects.toMatchObject({ code: 'invalid_api_key' })
})

test('a key revoked by another process stops working within 30 s', async () => {
  const { keys, authenticator, storage, now } = await testbed()
  const { id, secret } = await keys.create({ name: 'a' })
  await authenticator.authenticate(secret)
  await (await testbed(now, storage)).keys.revoke(id)
  await expect(authenticator.authenticate(secret)).resolves.toMatchObject({ keyId: id })
  now.ms += 30_001
  await expect(authenticator.authenticate(secret)).rejects.toMatchObject({ code: 'invalid_api_key' })
})

test('a key that is no longer cached costs one read, and does not reload the policy of its workspace', async () => {
  const storage = memoryStorage()
  const reads: string[] = []
  const counted = new Proxy(storage.records, {
    get: (records, name: keyof RecordStore) => {
      reads.push(name)
      return records[name]
    },
  })
  const { keys, authenticator } = await testbed(undefined, { ...storage, records: counted })
  const { id, secret } = await keys.create({ name: 'a' })
  const { version: _, usedAt: __, ...fields } = (await storage.records.find('key', 'w', id)) ?? expect.fail('The key is not there.')
  // More keys than the cache holds.
  const others = Array.from({ length: 30_001 }, (_, n) => `ak_another-key-${n}`)
  const names = await Promise.all(others.map(sha256))
  await storage.records.commit({ puts: names.map((name, n) => ({ ...fields, id: `other-${n}`, name, version: 0 })) })
  await authenticator.authenticate(secret)
  await Promise.all(others.map(async other => authenticator.authenticate(other)))
  reads.length = 0
  expect((await authenticator.authenticate(secret)).keyId).toBe(id)
  expect(reads).toEqual(['findByName'])
  await authenticator.authenticate(secret)
  expect(reads).toEqual(['findByName'])
})

test('an unknown secret is looked up once a second, and again at once if a key was revoked meanwhile', async () => {
  const storage = memoryStorage()
  let lookUps = 0
  const during: (() => Promise<unknown>)[] = []
  const records: RecordStore = {
    ...storage.records,
    async findByName(...asked) {
      if (asked[0] === 'key') lookUps += 1
      const found = await storage.records.findByName(...asked)
      await during.pop()?.()
      return found
    },
  }
  const { keys, authenticator, now } = await testbed(undefined, { ...storage, records })
  const { id } = await keys.create({ name: 'a' })
  const secret = makeSecret(ids)
  lookUps = 0
  const ask = () => authenticator.authenticate(secret).catch((error: { code: string }) => error.code)
  for (let times = 0; times < 3; times += 1) expect(await ask()).toBe('invalid_api_key')
  expect(lookUps).toBe(1)
  now.ms += 999
  await ask()
  expect(lookUps).toBe(1)
  now.ms += 1
  during.push(() => keys.revoke(id))
  await ask()
  lookUps = 0
  await ask()
  expect(lookUps).toBe(1)
})

test('missing, malformed, unknown and revoked keys are refused with the same message', async () => {
  const { keys, authenticator } = await testbed()
  const { id, secret } = await keys.create({ name: 'a' })
  await keys.revoke(id)
  const messages = await Promise.all(
    [undefined, 'ak_', 'nonsense', makeSecret(ids), secret].map(key =>
      authenticator.authenticate(key).catch((error: Error) => error.message),
    ),
  )
  expect(new Set(messages).size).toBe(1)
})

test('the displayed prefix of a secret is never most of it', () => {
  expect(prefixOf(makeSecret(ids))).toHaveLength(11)
  for (const length of [8, 9, 20, 24, 49, 200]) {
    const shown = prefixOf(`ak_${'x'.repeat(length)}`)
    expect([length, (shown.length - 3) * 3 <= length, shown.length <= 11]).toEqual([length, true, true])
  }
})

test('no secret is ever passed to a store', async () => {
  const { keys, storage } = await testbed()
  const { secret } = await keys.create({ name: 'a' })
  expect(JSON.stringify(await storage.records.list({ kind: 'key', limit: 10 }))).not.toContain(secret.slice(12))
  expect(JSON.stringify(await storage.audit.list({ workspaceId: 'w', limit: 10 }))).not.toContain(secret.slice(12))
})

test.each([
  [['inference:invoke'], 'inference'],
  [['keys:read'], 'management'],
  [['inference:invoke', 'keys:read'], 'mixed'],
])('the profile of %j is %s', (scopes, profile) => {
  expect(profileOf(scopes)).toBe(profile)
})

test('a secret chosen by the operator works in every process, including one that has not seen it before', async () => {
  const { keys, storage, now } = await testbed()
  const secret = 'ak_chosen-by-hand'
  const { id } = await keys.create({ name: 'a', secret })
  const { authenticator: elsewhere } = await testbed(now, storage)
  await expect(elsewhere.authenticate(secret)).resolves.toMatchObject({ keyId: id })
})

test.each([
  [{ name: '' }, /name/],
  [{ name: 'a', rateLimitRpm: 0 }, /rateLimitRpm/],
  [{ name: 'a', scopes: ['everything' as 'keys:read'] }, /scopes\[0\]/],
  [{ name: 'a', secret: 'sk_other' }, /secret/],
  [{ name: 'a', secret: `ak_${'0'.repeat(49)}` }, /secret.*checksum/],
  [{ name: 'a', expiresAt: new Date('never') }, /expiresAt/],
])('a key of %j is refused, naming the field', async (input, words) => {
  const { keys, workspaces } = await testbed()
  await expect(keys.create(input)).rejects.toThrow(words)
  await expect(workspaces('nowhere').apiKeys.create({ name: 'a' })).rejects.toThrow(/nowhere/)
})
