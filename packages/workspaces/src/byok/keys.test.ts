import { webClock } from '@signalbox/core/runtime'
import { openai } from '@signalbox/providers'
import { defineProvider } from '@signalbox/providers/define-provider'
import { describe, expect, test } from 'vitest'
import { waitFor } from '../../../testing/test/waits.ts'
import { createByokFixture, openaiKey, refused, secretIn, served, settled } from '../../test/byok-fixture.ts'
import { codeOf, createFixture } from '../../test/fixture.ts'

describe('a provider key of a workspace', () => {
  test('is shown without its secret, is pending at first, and valid once its provider accepts it', async () => {
    const { keys, seen } = await createByokFixture()
    const made = await keys.create(openaiKey)
    expect(made).toMatchObject({
      workspaceId: 'w',
      provider: 'openai',
      name: 'one',
      keyPrefix: 'sk-o…',
      isDefault: true,
      disabled: false,
      validationStatus: 'pending',
      accountTier: 'free',
      accountTierSource: 'fallback',
    })
    expect(made).not.toHaveProperty('lastValidatedAt')
    expect(await settled(keys, made.id)).toMatchObject({ validationStatus: 'valid', lastValidatedAt: expect.any(Number) })
    expect(seen).toEqual([{ url: 'https://api.openai.com/v1/models', method: 'GET', secret: openaiKey.apiKey }])
  })

  test.each([
    [401, 'invalid'],
    [403, 'invalid'],
    [404, 'error'],
    [429, 'error'],
    [500, 'error'],
    [302, 'error'],
    [204, 'valid'],
  ])('that its provider answers with %i is %s', async (status, expected) => {
    const { keys, vendor } = await createByokFixture()
    vendor(() => ({ status }))
    expect(await settled(keys, (await keys.create(openaiKey)).id)).toMatchObject({ validationStatus: expected })
  })

  test('is invalid too if its provider refuses it with another status', async () => {
    const { keys, vendor } = await createByokFixture()
    vendor(() => ({
      status: 400,
      body: { error: { code: 400, message: 'API key not valid. Please pass a valid API key.', status: 'INVALID_ARGUMENT' } },
    }))
    const { id } = await keys.create({ provider: 'google', apiKey: 'AIza-something', name: 'g' })
    expect(await settled(keys, id)).toMatchObject({ validationStatus: 'invalid' })
  })

  test('that could not be checked has the status error, and is still used', async () => {
    const { keys, vendor, ask, asked } = await createByokFixture()
    vendor(({ method }) => (method === 'GET' ? Promise.reject(new Error('reset')) : served({ method })))
    expect(await settled(keys, (await keys.create(openaiKey)).id)).toMatchObject({ validationStatus: 'error' })
    await ask()
    expect(asked()).toEqual([openaiKey.apiKey])
  })

  test.each([
    [{ provider: 'opnai' }, /no provider "opnai" here.*"openai"/],
    [{ provider: 'zzz' }, /no provider "zzz" here.*accept BYOK keys: (?!.*internal).*openai/],
    [{ provider: 'sim' }, /`provider` is "sim"/],
    [{ provider: 'internal' }, /`provider` is "internal".*accepts BYOK keys/],
    [{ apiKey: 'short' }, /`apiKey`/],
    [{ apiKey: 'with space in it' }, /`apiKey`/],
    [{ apiKey: 'sk-ümlaut-and-more' }, /`apiKey`/],
    [{ apiKey: '{"json": "is not for everyone"}' }, /`apiKey` is JSON/],
    [{ apiKey: `sk-${'x'.repeat(5_000)}` }, /`apiKey`/],
    [{ name: '' }, /`name`/],
    [{ accountTier: 'tier_9' }, /`accountTier` is "tier_9".*free, tier_1, tier_2, zdr/],
    [{ provider: 'anthropic', accountTier: 'start' }, /"anthropic" has no known account tiers/],
    [{ extra: { region: 'x' } }, /`extra` of a key for "openai" takes nothing/],
    [{ provider: 'azure' }, /resource/],
    [{ provider: 'azure', extra: { region: 'x' } }, /`extra` of a key for "azure" takes .*resource/],
    [{ provider: 'azure', extra: { resource: 'evil.example/?' } }, /extra\.resource/],
    [{ provider: 'cloudflare-workers-ai' }, /account_id/],
  ])('of %j is refused, naming the field and never the secret', async (input, words) => {
    const { keys, seen } = await createByokFixture()
    const error = await keys.create({ ...openaiKey, ...input }).catch((reason: Error) => reason)
    expect(error).toMatchObject({ code: 'invalid_parameter_value', message: expect.stringMatching(words) })
    expect(String(error)).not.toContain('apiKey' in input ? input.apiKey : openaiKey.apiKey)
    expect(seen).toEqual([])
  })

  test('is stored once: the same secret of the same provider is a duplicate within its workspace only', async () => {
    const { keys, gateway } = await createByokFixture()
    await keys.create(openaiKey)
    expect(await codeOf(keys.create({ ...openaiKey, name: 'again' }))).toBe('duplicate_resource')
    expect(await codeOf(keys.create({ ...openaiKey, provider: 'other' }))).toBe('nothing went wrong')
    expect(await codeOf(gateway.workspaces('other').byokKeys.create(openaiKey))).toBe('nothing went wrong')
    const second = await keys.create({ ...openaiKey, apiKey: 'sk-two-0123456789' })
    expect(await codeOf(keys.update(second.id, { apiKey: openaiKey.apiKey }))).toBe('duplicate_resource')
  })

  test('is refused if it could not be read after a restart, with advice', async () => {
    const { gateway } = await createFixture({ providers: [] })
    const { gateway: without } = await createByokFixture({ sealingKey: undefined as never })
    await expect(without.workspaces('w').byokKeys.create(openaiKey)).rejects.toMatchObject({
      code: 'operation_not_allowed',
      message: expect.stringContaining('`sealingKey`'),
    })
    expect(await codeOf(gateway.workspaces('nowhere').byokKeys.get('x'))).toBe('resource_not_found')
  })

  test('belongs to its workspace: another one cannot see, change, validate or delete it', async () => {
    const { keys, gateway } = await createByokFixture()
    const { id } = await keys.create(openaiKey)
    const theirs = gateway.workspaces('other').byokKeys
    for (const call of [theirs.get(id), theirs.update(id, { name: 'x' }), theirs.validate(id), theirs.delete(id)])
      expect(await codeOf(call)).toBe('resource_not_found')
    expect(await theirs.list()).toEqual([])
  })
})

describe('the default of a provider', () => {
  test('is the first key until another is made the default, and there is never more than one', async () => {
    const { keys } = await createByokFixture()
    const first = await keys.create(openaiKey)
    const second = await keys.create({ ...openaiKey, apiKey: 'sk-two-0123456789', name: 'two' })
    const third = await keys.create({ ...openaiKey, apiKey: 'sk-three-012345678', name: 'three', isDefault: true })
    const elsewhere = await keys.create({ ...openaiKey, provider: 'other' })
    const defaults = async () => (await keys.list()).filter(({ isDefault }) => isDefault).map(({ id }) => id)
    expect([first.isDefault, second.isDefault, third.isDefault]).toEqual([true, false, true])
    expect(await defaults()).toEqual([third.id, elsewhere.id])
    await keys.update(second.id, { isDefault: true })
    expect(await defaults()).toEqual([second.id, elsewhere.id])
    expect(await codeOf(keys.update(second.id, { isDefault: false }))).toBe('state_precondition_failed')
    await keys.delete(second.id)
    expect(await defaults()).toEqual([elsewhere.id])
  })

  test('is used first, and the next key in order of creation when it is disabled, refused or deleted', async () => {
    const { keys, ask, asked, vendor } = await createByokFixture()
    const first = await keys.create(openaiKey)
    const spare = { ...openaiKey, apiKey: 'sk-spare-0123456', name: 'spare' }
    for (const { id } of [first, await keys.create(spare)]) await settled(keys, id)
    await ask()
    await keys.update(first.id, { disabled: true })
    await ask()
    await keys.update(first.id, { disabled: false })
    vendor(request => (request.method === 'POST' && secretIn(request) === openaiKey.apiKey ? refused(request) : served(request)))
    await ask()
    await settled(keys, first.id)
    await ask()
    await keys.delete(first.id)
    await ask()
    expect(asked()).toEqual([openaiKey.apiKey, spare.apiKey, ...[openaiKey.apiKey, spare.apiKey], ...[spare.apiKey, spare.apiKey]])
  })

  test('is a single one even if many keys are created at the same time', async () => {
    const { keys, storage, now } = await createByokFixture()
    const { keys: elsewhere } = await createByokFixture({ storage, now })
    await Promise.all(
      Array.from({ length: 8 }, (_, at) => (at % 2 ? keys : elsewhere).create({ ...openaiKey, apiKey: `sk-many-0123456-${at}` })),
    )
    expect((await keys.list()).filter(({ isDefault }) => isDefault)).toHaveLength(1)
  })
})

describe('a key of a provider that cannot check keys', () => {
  test('stays pending, is used, and is pending again when it is validated after a refusal', async () => {
    const unseen = defineProvider({
      id: 'openai',
      baseURL: 'https://unseen.example',
      paths: { chat: '/chat' },
      dialects: openai().dialects,
    })
    const { keys, gateway, ask, asked, seen, vendor } = await createByokFixture({ providers: [unseen] })
    const { id } = await keys.create(openaiKey)
    await ask()
    expect(asked()).toEqual([openaiKey.apiKey])
    vendor(refused)
    await ask().catch(() => {})
    expect(await settled(keys, id)).toMatchObject({ validationStatus: 'invalid' })
    expect(await keys.validate(id)).toMatchObject({ validationStatus: 'pending' })
    vendor(served)
    expect(await codeOf(ask())).toBe('nothing went wrong')
    await keys.validate(id)
    expect(await gateway.workspaces('w').auditEvents.list({ event: 'byok_key.validated' })).toHaveLength(3)
    expect(seen.filter(({ method }) => method === 'GET')).toEqual([])
  })
})

describe('changing a key', () => {
  test('to another secret replaces the old one, and checks it again', async () => {
    const { keys, ask, asked, seen } = await createByokFixture()
    const { id } = await keys.create(openaiKey)
    await settled(keys, id)
    const changed = await keys.update(id, { apiKey: 'sk-new-0123456789', name: 'renamed' })
    expect(changed).toMatchObject({ id, name: 'renamed', validationStatus: 'pending', keyPrefix: 'sk-n…' })
    expect(changed).not.toHaveProperty('lastValidatedAt')
    await settled(keys, id)
    await ask()
    expect(asked()).toEqual(['sk-new-0123456789'])
    expect(seen.filter(({ method }) => method === 'GET').map(({ secret }) => secret)).toEqual([openaiKey.apiKey, 'sk-new-0123456789'])
    expect(await codeOf(keys.create(openaiKey))).toBe('nothing went wrong')
  })

  test('while it is being checked does not leave the new secret pending, nor mark it by the old one', async () => {
    const { keys, vendor } = await createByokFixture()
    let answer = (): void => {}
    const first = new Promise<void>(resolve => {
      answer = resolve
    })
    vendor(async request => {
      if (request.headers.authorization !== `Bearer ${openaiKey.apiKey}`) return served(request)
      await first
      return refused(request)
    })
    const { id } = await keys.create(openaiKey)
    await keys.update(id, { apiKey: 'sk-new-0123456789' })
    answer()
    expect(await settled(keys, id)).toMatchObject({ validationStatus: 'valid' })
  })

  test('while a check of the old secret is awaited makes that check have no effect', async () => {
    const { keys, vendor } = await createByokFixture()
    const { id } = await keys.create(openaiKey)
    await settled(keys, id)
    let answer = (): void => {}
    const slow = new Promise<void>(resolve => {
      answer = resolve
    })
    vendor(async request => {
      if (request.headers.authorization !== `Bearer ${openaiKey.apiKey}`) return served(request)
      await slow
      return refused(request)
    })
    const looking = keys.validate(id)
    await keys.update(id, { apiKey: 'sk-new-0123456789' })
    await settled(keys, id)
    answer()
    expect(await looking).toMatchObject({ validationStatus: 'valid' })
    expect(await keys.get(id)).toMatchObject({ validationStatus: 'valid' })
  })

  test('a tier set by the user stays until it is removed', async () => {
    const { keys } = await createByokFixture()
    const { id } = await keys.create({ ...openaiKey, accountTier: 'tier_2' })
    expect(await keys.get(id)).toMatchObject({ accountTier: 'tier_2', accountTierSource: 'user_specified' })
    expect(await codeOf(keys.update(id, { accountTier: 'nonsense' }))).toBe('invalid_parameter_value')
    expect(await keys.update(id, { accountTier: null })).toMatchObject({ accountTier: 'free', accountTierSource: 'fallback' })
  })

  test('to the same values changes nothing', async () => {
    const { keys, gateway, now } = await createByokFixture()
    const { id } = await keys.create(openaiKey)
    await settled(keys, id)
    const before = await keys.get(id)
    now.ms += 1_000
    expect(await keys.update(id, { name: 'one', disabled: false, isDefault: true })).toEqual(before)
    expect(await gateway.workspaces('w').auditEvents.list({ event: 'byok_key.updated' })).toEqual([])
  })

  test('is recorded in the audit log with wire names and without secrets', async () => {
    const { keys, gateway } = await createByokFixture()
    const { id } = await keys.create(openaiKey)
    await settled(keys, id)
    await keys.update(id, { disabled: true, accountTier: 'tier_1' })
    await keys.validate(id)
    await keys.delete(id)
    const rows = await gateway.workspaces('w').auditEvents.list()
    expect(rows.filter(({ event }) => event.startsWith('byok')).map(({ event, changes }) => [event, JSON.parse(changes)])).toEqual([
      ['byok_key.deleted', { provider: 'openai', name: 'one', is_default: true }],
      ['byok_key.validated', { validation_status: { from: 'valid', to: 'valid' } }],
      ['byok_key.updated', { disabled: true, account_tier: 'tier_1', account_tier_source: 'user_specified' }],
      ['byok_key.validated', { validation_status: { from: 'pending', to: 'valid' } }],
      ['byok_key.created', { provider: 'openai', name: 'one', is_default: true, account_tier: 'free', key_prefix: 'sk-o…' }],
    ])
  })
})

test('lists are filtered by provider, and paged', async () => {
  const { keys } = await createByokFixture()
  const [first] = [await keys.create(openaiKey)]
  const second = await keys.create({ ...openaiKey, apiKey: 'sk-two-0123456789' })
  await keys.create({ ...openaiKey, provider: 'other' })
  const ids = async (options: Parameters<typeof keys.list>[0]) => (await keys.list(options)).map(({ id }) => id)
  expect(await ids({ provider: 'openai' })).toEqual([first.id, second.id])
  expect(await ids({ provider: 'openai', limit: 1, after: first.id })).toEqual([second.id])
  expect(await ids({ provider: 'nobody' })).toEqual([])
})

test('a gateway that closes waits for running checks, for a limited time', async () => {
  const timers: (() => void)[] = []
  const now = { ms: 1_767_225_600_000 }
  const patience = 5_000
  const clock = {
    ...webClock(),
    now: () => now.ms,
    setTimeout: (run: () => void, ms: number) => (ms === patience ? timers.push(run) : setTimeout(run, ms)),
  }
  const { keys, gateway, vendor, storage } = await createByokFixture({ clock })
  vendor(({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted')))))
  const { id } = await keys.create(openaiKey)
  const closing = gateway.close()
  await waitFor(() => expect(timers).toHaveLength(1))
  for (const run of timers) run()
  await closing
  expect(JSON.parse((await storage.records.find('credential', 'w', id))?.body ?? '{}')).toMatchObject({ validationStatus: 'error' })
})
