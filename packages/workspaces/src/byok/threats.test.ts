import { inspect } from 'node:util'
import type { RecordStore, Storage, StoredRecord } from '@signalbox/storage'
import { memoryStorage } from '@signalbox/storage-memory'
import { describe, expect, test } from 'vitest'
import { waitFor } from '../../../testing/test/waits.ts'
import { type ByokFixture, createByokFixture, openaiKey, refused, sealingKey, served, settled } from '../../test/byok-fixture.ts'
import { codeOf } from '../../test/fixture.ts'

/** Writes to the store without the gateway, as an attacker with database access would. */
async function tamper(
  { storage }: Pick<ByokFixture, 'storage'>,
  id: string,
  change: (body: Record<string, unknown>) => object,
): Promise<void> {
  const { usedAt: _, ...row } = (await storage.records.find('credential', 'w', id)) as StoredRecord
  await storage.records.commit({ puts: [{ ...row, body: JSON.stringify({ ...JSON.parse(row.body), ...change(JSON.parse(row.body)) }) }] })
}
const sealedOf = async ({ storage }: Pick<ByokFixture, 'storage'>, workspaceId: string, id: string): Promise<string> =>
  JSON.parse((await storage.records.find('credential', workspaceId, id))?.body ?? '{}').sealed

const afterAWhile = (now: { ms: number }): void => {
  now.ms += 30_001
}

describe('B1: a sealed secret opens only in its own place', () => {
  test.each([
    ['another record', 'w', { ...openaiKey, apiKey: 'sk-two-0123456789' }],
    ['another workspace', 'other', openaiKey],
    ['another provider', 'w', { ...openaiKey, provider: 'other' }],
  ])('copied into the row of a key from %s it is not used', async (_, workspaceId, from) => {
    const testbed = await createByokFixture()
    const { id } = await testbed.keys.create(openaiKey)
    const source = await testbed.gateway.workspaces(workspaceId).byokKeys.create(from)
    await settled(testbed.keys, id)
    await settled(testbed.gateway.workspaces(workspaceId).byokKeys, source.id)
    if (workspaceId === 'w') await testbed.keys.update(source.id, { disabled: true })
    const foreign = await sealedOf(testbed, workspaceId, source.id)
    await tamper(testbed, id, () => ({ sealed: foreign }))
    afterAWhile(testbed.now)
    expect(await codeOf(testbed.ask())).toBe('routing_failed')
    expect(testbed.asked()).toEqual([])
    expect(testbed.logged.filter(line => line.includes(id))).toHaveLength(1)
  })

  test('an attacker with write access cannot redirect it to their own address', async () => {
    const testbed = await createByokFixture()
    const { id } = await testbed.keys.create({ ...openaiKey, provider: 'azure', extra: { resource: 'ours' } })
    await settled(testbed.keys, id)
    await tamper(testbed, id, () => ({ extra: { resource: 'theirs' } }))
    expect(await testbed.keys.validate(id)).toMatchObject({ validationStatus: 'error' })
    expect(testbed.seen.map(({ url }) => new URL(url).host)).toEqual(['ours.openai.azure.com'])
  })
})

/** A store that fails at the n-th commit from now on, and at all later ones. */
function failing(storage: Storage): { readonly storage: Storage; readonly after: (commits: number) => void } {
  let left = Number.POSITIVE_INFINITY
  const commit: RecordStore['commit'] = change => {
    left -= 1
    return left < 0 ? Promise.reject(new Error('The disk is full.')) : storage.records.commit(change)
  }
  return {
    storage: { ...storage, records: { ...storage.records, commit } },
    after: commits => {
      left = commits
    },
  }
}

describe('B2: sealing keys are rotated', () => {
  const [old, fresh] = [sealingKey(1), sealingKey(2)]

  test('while requests run: each of them has its key, and the old sealing key can be removed afterwards', async () => {
    const storage = memoryStorage()
    const before = await createByokFixture({ storage, sealingKey: old })
    const workspaces = ['w', 'other']
    for (const id of workspaces) {
      const { byokKeys } = before.gateway.workspaces(id)
      for (const at of [1, 2, 3]) await settled(byokKeys, (await byokKeys.create({ ...openaiKey, apiKey: `sk-${id}-01234567-${at}` })).id)
    }
    const during = await createByokFixture({ storage, now: before.now, sealingKey: fresh, previousSealingKeys: [old] })
    let over = false
    const traffic = (async () => {
      for (let at = 0; !over || at < 4; at++) {
        await during.ask(workspaces[at % 2])
        during.now.ms += 10_000
        // Requests that never wait would block the event loop.
        await new Promise(resolve => setImmediate(resolve))
      }
    })()
    const [done] = await Promise.all([during.gateway.resealCredentials(), during.ask('w'), during.ask('other')])
    over = true
    await traffic
    expect(done).toEqual({ resealed: 6, failed: 0 })
    expect(await during.gateway.resealCredentials()).toEqual({ resealed: 0, failed: 0 })
    expect(new Set(during.asked())).toEqual(new Set(['sk-w-01234567-1', 'sk-other-01234567-1']))
    const after = await createByokFixture({ storage, now: before.now, sealingKey: fresh })
    await after.ask('w')
    expect(after.asked()).toEqual(['sk-w-01234567-1'])
    expect((await during.gateway.workspaces('w').auditEvents.verify()).valid).toBe(true)
  })

  test('and a rotation may stop in the middle: finished keys stay resealed, the rest follow', async () => {
    const { storage, after } = failing(memoryStorage())
    const before = await createByokFixture({ storage, sealingKey: old })
    for (const id of ['w', 'other']) {
      const { byokKeys } = before.gateway.workspaces(id)
      await settled(byokKeys, (await byokKeys.create(openaiKey)).id)
    }
    const rotated = await createByokFixture({ storage, now: before.now, sealingKey: fresh, previousSealingKeys: [old] })
    after(1)
    expect(await codeOf(rotated.gateway.resealCredentials())).toBe('service_unavailable')
    after(Number.POSITIVE_INFINITY)
    for (const id of ['w', 'other']) await rotated.ask(id)
    expect(rotated.asked()).toEqual([openaiKey.apiKey, openaiKey.apiKey])
    expect(await rotated.gateway.resealCredentials()).toEqual({ resealed: 1, failed: 0 })
  })

  test('a gateway without provider keys has nothing to reseal, and finishes at once', async () => {
    const empty = await createByokFixture({ sealingKey: fresh, previousSealingKeys: [old] })
    expect(await empty.gateway.resealCredentials()).toEqual({ resealed: 0, failed: 0 })
  })

  test('when the only row is deleted during the pass, it starts again and finds nothing', async () => {
    const storage = memoryStorage()
    const { list } = storage.records
    let pages = 0
    const testbed = await createByokFixture({
      storage: {
        ...storage,
        records: {
          ...storage.records,
          async list(query) {
            const found = await list(query)
            if (query.kind !== 'credential' || query.workspaceId !== undefined) return found
            pages += 1
            if (pages > 10) throw new Error('It does not end.')
            if (pages === 1) await testbed.keys.delete(id)
            return found
          },
        },
      },
      sealingKey: old,
    })
    const { id } = await testbed.keys.create(openaiKey)
    await settled(testbed.keys, id)
    expect(await testbed.gateway.resealCredentials()).toEqual({ resealed: 0, failed: 0 })
    expect(pages).toBe(3)
  })

  test('a key that was sealed before keys were derived works, and is resealed', async () => {
    const testbed = await createByokFixture({ sealingKey: new Uint8Array(32).fill(7) })
    const { id } = await testbed.keys.create(openaiKey)
    await settled(testbed.keys, id)
    const bound = JSON.stringify(['provider key', 'v1', 'w', id, 'openai', []])
    const raw = new Uint8Array(32).fill(7)
    const key = await crypto.subtle.importKey('raw', raw, 'AES-GCM', false, ['encrypt'])
    const keyId = Buffer.from(await crypto.subtle.digest('SHA-256', raw))
      .subarray(0, 6)
      .toString('base64url')
    const iv = new Uint8Array(12).fill(3)
    const additionalData = Buffer.from(`${bound}\n${keyId}`)
    const text = await crypto.subtle.encrypt({ name: 'AES-GCM', iv, additionalData }, key, Buffer.from(openaiKey.apiKey))
    const sealed = ['v1', keyId, Buffer.from(iv).toString('base64url'), Buffer.from(text).toString('base64url')].join('.')
    await tamper(testbed, id, () => ({ sealed }))
    afterAWhile(testbed.now)
    await testbed.ask()
    expect(testbed.asked()).toEqual([openaiKey.apiKey])
    expect(await testbed.gateway.resealCredentials()).toEqual({ resealed: 1, failed: 0 })
    expect(await sealedOf(testbed, 'w', id)).toMatch(/^v1\.2\./)
    expect(await testbed.gateway.resealCredentials()).toEqual({ resealed: 0, failed: 0 })
    afterAWhile(testbed.now)
    await testbed.ask()
    expect(testbed.asked()).toEqual([openaiKey.apiKey, openaiKey.apiKey])
  })

  test('a key that is changed meanwhile is sealed with its new secret', async () => {
    const storage = memoryStorage()
    const before = await createByokFixture({ storage, sealingKey: old })
    const { id } = await before.keys.create(openaiKey)
    await settled(before.keys, id)
    let changing: Promise<unknown> | undefined
    const meanwhile: RecordStore['commit'] = async change => {
      changing ??= before.keys.update(id, { apiKey: 'sk-new-0123456789' })
      await changing
      return storage.records.commit(change)
    }
    const raced = { ...storage, records: { ...storage.records, commit: meanwhile } }
    const rotated = await createByokFixture({ storage, now: before.now, sealingKey: fresh, previousSealingKeys: [old] })
    const racing = await createByokFixture({ storage: raced, now: before.now, sealingKey: fresh, previousSealingKeys: [old] })
    expect(await racing.gateway.resealCredentials()).toMatchObject({ failed: 0 })
    await rotated.ask()
    expect(rotated.asked()).toEqual(['sk-new-0123456789'])
  })

  test('keys that are deleted meanwhile hide none of the others', async () => {
    const storage = memoryStorage()
    const before = await createByokFixture({ storage, sealingKey: old })
    const made: string[] = []
    for (let at = 0; at < 120; at++) {
      const { id } = await before.keys.create({ ...openaiKey, apiKey: `sk-many-0123456-${at}` })
      made.push(id)
    }
    await before.gateway.close()
    const [lastOfPage = ''] = made.slice(99)
    let deleted = false
    const list: RecordStore['list'] = async query => {
      const page = await storage.records.list(query)
      if (query.kind !== 'credential' || query.workspaceId !== undefined || deleted) return page
      deleted = true
      await before.keys.delete(lastOfPage)
      return page
    }
    const rotated = await createByokFixture({
      storage: { ...storage, records: { ...storage.records, list } },
      now: before.now,
      sealingKey: fresh,
      previousSealingKeys: [old],
    })
    expect(await rotated.gateway.resealCredentials()).toEqual({ resealed: 119, failed: 0 })
  })

  test('a lost sealing key takes its provider keys out of routing, without failing requests', async () => {
    const storage = memoryStorage()
    const before = await createByokFixture({ storage, sealingKey: old })
    await settled(before.keys, (await before.keys.create(openaiKey)).id)
    const lost = await createByokFixture({ storage, now: before.now, sealingKey: fresh })
    expect(await codeOf(lost.ask())).toBe('routing_failed')
    expect(await codeOf(lost.ask())).toBe('routing_failed')
    expect(lost.logged.filter(line => line.includes('cannot be opened'))).toHaveLength(1)
    expect(await lost.gateway.resealCredentials()).toEqual({ resealed: 0, failed: 1 })
    const second = await lost.keys.create({ ...openaiKey, apiKey: 'sk-two-0123456789', isDefault: true })
    await settled(lost.keys, second.id)
    await lost.ask()
    expect(lost.asked()).toEqual(['sk-two-0123456789'])
  })
})

describe('B3 and B4: a secret is never disclosed', () => {
  // It does not have the form of any known kind of secret.
  const canary = 'canary5d0c7e1f9bdeadbeef'

  test.each([401, 403, 400, 404, 429, 500])('when its provider repeats it in a refusal with %i', async status => {
    const testbed = await createByokFixture()
    testbed.vendor(served)
    const made = await testbed.keys.create({ ...openaiKey, apiKey: canary })
    await settled(testbed.keys, made.id)
    testbed.vendor(request => refused(request, status))
    const error = await testbed.ask().catch((reason: unknown) => reason)
    const looked = await testbed.keys.validate(made.id)
    await testbed.gateway.close()
    const { storage, logged, gateway } = testbed
    const range = { workspaceId: 'w', from: 0, to: Number.MAX_SAFE_INTEGER, limit: 100 }
    const everywhere = inspect(
      {
        made,
        looked,
        error,
        cause: error instanceof Error ? error.cause : undefined,
        json: JSON.stringify(error),
        logged,
        audit: await storage.audit.list({ workspaceId: 'w', limit: 100 }),
        usage: await storage.usage.list(range),
        records: await storage.records.list({ kind: 'credential', limit: 100 }),
        gateway,
      },
      { depth: 12, showHidden: true, maxStringLength: null, maxArrayLength: null },
    )
    expect(error).toBeInstanceOf(Error)
    expect(testbed.asked()).toContain(canary)
    expect(everywhere).not.toContain(canary.slice(8))
  })

  test('when an error text is cut in the middle of it', async () => {
    const testbed = await createByokFixture()
    testbed.vendor(served)
    await settled(testbed.keys, (await testbed.keys.create({ ...openaiKey, apiKey: canary })).id)
    testbed.vendor(() => ({ status: 500, body: { error: { message: `${'Sorry. '.repeat(70)}${canary}${' and so on'.repeat(20)}` } } }))
    const error = await testbed.ask().catch((reason: unknown) => reason)
    expect(inspect(error, { depth: 12 })).toContain('Sorry.')
    expect(inspect([error, testbed.logged], { depth: 12, showHidden: true })).not.toContain(canary.slice(0, 6))
  })

  test.each([
    ['before any content', ''],
    ['in the middle', 'data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Hello"}}]}\n\n'],
  ])('when a stream ends with it %s', async (_, begun) => {
    const testbed = await createByokFixture()
    testbed.vendor(served)
    await settled(testbed.keys, (await testbed.keys.create({ ...openaiKey, apiKey: canary })).id)
    testbed.vendor(() => ({
      status: 200,
      text: `${begun}data: {"error":{"message":"Overloaded for ${canary}.","type":"server_error"}}\n\n`,
    }))
    const { secret } = await testbed.gateway.workspaces('w').apiKeys.create({ name: 'streaming' })
    const said: unknown[] = []
    try {
      const input = { model: 'm', messages: [{ role: 'user' as const, content: 'Hi' }], stream: true as const }
      for await (const event of await testbed.gateway.chat.completions.create(input, { apiKey: secret })) said.push(event)
    } catch (error) {
      said.push(error)
    }
    const printed = inspect([said, testbed.logged], { depth: 12, showHidden: true })
    expect(printed).toContain('Overloaded for [redacted].')
    expect(printed).not.toContain(canary.slice(8))
  })
})

describe('B5: a key is used only for its workspace and its provider', () => {
  test('whatever other providers are called and whatever keys they have', async () => {
    const testbed = await createByokFixture()
    const own = { w: 'sk-of-w-0123456789', other: 'sk-of-other-012345' } as const
    for (const [id, apiKey] of Object.entries(own)) {
      const { byokKeys } = testbed.gateway.workspaces(id)
      for (const provider of ['openai', 'anthropic', 'google', 'other'])
        await settled(byokKeys, (await byokKeys.create({ provider, apiKey: `${apiKey}-${provider}`, name: 'n' })).id)
    }
    for (const id of ['w', 'other', 'w']) await testbed.ask(id)
    expect(testbed.asked()).toEqual([`${own.w}-openai`, `${own.other}-openai`, `${own.w}-openai`])
    const hosts: Readonly<Record<string, string>> = {
      openai: 'api.openai.com',
      anthropic: 'api.anthropic.com',
      google: 'generativelanguage.googleapis.com',
      other: 'other.example',
    }
    for (const { url, secret } of testbed.seen) expect(new URL(url).host).toBe(hosts[secret.split('-').at(-1) ?? ''])
  })

  test.each([
    ['disabled', (keys: ByokFixture['keys'], id: string) => keys.update(id, { disabled: true })],
    ['deleted', (keys: ByokFixture['keys'], id: string) => keys.delete(id)],
  ])('%s, the default stops being used at once here, and within 30 s in another process', async (_, stop) => {
    const here = await createByokFixture()
    const there = await createByokFixture({ storage: here.storage, now: here.now })
    const { id } = await here.keys.create(openaiKey)
    await settled(here.keys, id)
    await Promise.all([here.ask(), there.ask()])
    await stop(here.keys, id)
    expect(await codeOf(here.ask())).toBe('routing_failed')
    expect(await codeOf(there.ask())).toBe('nothing went wrong')
    afterAWhile(here.now)
    expect(await codeOf(there.ask())).toBe('routing_failed')
    expect([here.asked().length, there.asked().length]).toEqual([1, 2])
  })

  test('a key that its provider refuses during a call is marked, and unused until it is checked again', async () => {
    const here = await createByokFixture()
    const there = await createByokFixture({ storage: here.storage, now: here.now })
    const { id } = await here.keys.create(openaiKey)
    await settled(here.keys, id)
    await there.ask()
    here.vendor(request => (request.method === 'GET' ? served(request) : refused(request)))
    await here.ask().catch(() => {})
    await waitFor(async () => expect(await here.keys.get(id)).toMatchObject({ validationStatus: 'invalid' }))
    const before = here.asked().length
    expect(await codeOf(here.ask())).toBe('routing_failed')
    expect(here.asked()).toHaveLength(before)
    afterAWhile(here.now)
    expect(await codeOf(there.ask())).toBe('routing_failed')
    const [row] = await here.gateway.workspaces('w').auditEvents.list()
    expect(row).toMatchObject({ event: 'byok_key.validated', subjectId: id })
    expect(row).not.toHaveProperty('actorKeyId')
    here.vendor(served)
    expect(await here.keys.validate(id)).toMatchObject({ validationStatus: 'valid' })
    expect(await codeOf(here.ask())).toBe('nothing went wrong')
  })

  test.each([
    [400, { code: 'invalid_api_key', message: 'x' }],
    [403, { message: 'Invalid API key.' }],
  ])(
    'a call of an end user that fails with status %i marks a key only if its provider refuses the list of models too',
    async (status, error) => {
      const { keys, seen, vendor, ask, now, gateway } = await createByokFixture()
      const { id } = await keys.create(openaiKey)
      await settled(keys, id)
      const lists = (): number => seen.filter(({ method }) => method === 'GET').length
      const before = lists()
      vendor(request => (request.method === 'GET' ? served(request) : { status, body: { error } }))
      await ask().catch(() => {})
      await waitFor(() => expect(lists()).toBe(before + 1))
      expect(await keys.get(id)).toMatchObject({ validationStatus: 'valid' })
      afterAWhile(now)
      afterAWhile(now)
      vendor(request => (request.method === 'GET' ? refused(request) : { status, body: { error } }))
      await ask().catch(() => {})
      await waitFor(async () => expect(await keys.get(id)).toMatchObject({ validationStatus: 'invalid' }))
      await gateway.close()
    },
  )

  test('a replacement secret is not marked for a refusal of the old one in another process', async () => {
    const here = await createByokFixture()
    const there = await createByokFixture({ storage: here.storage, now: here.now })
    const { id } = await here.keys.create(openaiKey)
    await settled(here.keys, id)
    await there.ask()
    await here.keys.update(id, { apiKey: 'sk-two-0123456789' })
    await settled(here.keys, id)
    // The provider has revoked the old secret, and this process has not read the new one yet.
    there.vendor(refused)
    await there.ask().catch(() => {})
    await there.gateway.close()
    expect(there.asked().at(-1)).toBe('sk-one-0123456789')
    expect(await here.keys.get(id)).toMatchObject({ validationStatus: 'valid' })
    expect(await codeOf(here.ask())).toBe('nothing went wrong')
  })
})

describe('what responses reveal of an account', () => {
  const limits = (tokens: number) => (request: Parameters<typeof served>[0]) => ({
    ...served(request),
    headers: { 'x-ratelimit-limit-tokens': String(tokens), 'x-ratelimit-remaining-tokens': '1000' },
  })
  const tierOf = async ({ keys }: ByokFixture, id: string) => {
    const { accountTier, accountTierSource } = await keys.get(id)
    return [accountTier, accountTierSource]
  }

  test('is its tier, stored once and again only when it changes, at most once an hour', async () => {
    const testbed = await createByokFixture()
    const { id } = await testbed.keys.create(openaiKey)
    await settled(testbed.keys, id)
    testbed.vendor(limits(500_000))
    for (let at = 0; at < 3; at++) await testbed.ask()
    await waitFor(async () => expect(await tierOf(testbed, id)).toEqual(['tier_1', 'auto_detected']))
    testbed.vendor(limits(1_000_000))
    for (let at = 0; at < 3; at++) await testbed.ask()
    expect(await tierOf(testbed, id)).toEqual(['tier_1', 'auto_detected'])
    testbed.now.ms += 3_600_000
    for (let at = 0; at < 3; at++) await testbed.ask()
    await waitFor(async () => expect(await tierOf(testbed, id)).toEqual(['tier_2', 'auto_detected']))
    expect(await testbed.gateway.workspaces('w').auditEvents.list({ event: 'byok_key.updated' })).toHaveLength(2)
  })

  test.each([
    ['set from a limit that is in no table', { said: {}, tokens: 123, expected: ['free', 'fallback'] }],
    ['set to a tier that is unknown for the provider', { said: {}, tokens: 2_000_000, expected: ['free', 'fallback'] }],
    ['changed if the user has set it', { said: { accountTier: 'zdr' }, tokens: 500_000, expected: ['zdr', 'user_specified'] }],
  ])('is not %s', async (_, { said, tokens, expected }) => {
    const testbed = await createByokFixture()
    const { id } = await testbed.keys.create({ ...openaiKey, ...said })
    await settled(testbed.keys, id)
    testbed.vendor(limits(tokens))
    await testbed.ask()
    await testbed.gateway.close()
    expect(await tierOf(testbed, id)).toEqual(expected)
  })

  test('is the data policy that applies to its calls', async () => {
    const testbed = await createByokFixture()
    const { id } = await testbed.keys.create(openaiKey)
    await settled(testbed.keys, id)
    await testbed.gateway.workspaces('w').settings.update({ dataPolicyRequired: 'no_training' })
    expect(await codeOf(testbed.ask())).toBe('routing_constraint_unsatisfiable')
    await testbed.keys.update(id, { accountTier: 'zdr' })
    expect(await codeOf(testbed.ask())).toBe('nothing went wrong')
  })
})
