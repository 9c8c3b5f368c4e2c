import { type Scope, scopes } from '@signalbox/core/resources'
import { usd } from '@signalbox/dialects/protocol'
import { openai } from '@signalbox/providers'
import { memoryStorage } from '@signalbox/storage-memory'
import { expect, test } from 'vitest'
import { CallerLimits } from '../../core/src/request/admission/limits.ts'
import { defaultLimits } from '../../gateway/src/options.ts'
import { codeOf, createFixture, type Fixture } from '../test/fixture.ts'

const refused = 'operation_not_allowed'
const well = 'nothing went wrong'

/** The workspace as seen by a key that was just created by the operator, or by another key. */
async function as(
  { gateway }: Fixture,
  input: { readonly scopes: readonly Scope[]; readonly rateLimitRpm?: number; readonly budget?: { readonly limit: number } },
  above?: { readonly w: ReturnType<Fixture['gateway']['workspaces']> },
) {
  const made = await (above?.w ?? gateway.workspaces('w')).apiKeys.create({ name: 'k', ...input })
  const w = gateway.workspaces('w', { key: { id: made.id, name: 'k', scopes: new Set(made.scopes) } })
  return { ...made, w }
}

test('a key with a budget cannot loosen its own budget, an ancestor’s or its workspace’s, by any route', async () => {
  const scene = await createFixture()
  const all = scene.gateway.workspaces('w')
  const shared = await all.budgets.create({ name: 'all', limit: usd(1) })
  const parent = await as(scene, { scopes, budget: { limit: usd(1) } })
  const child = await as(scene, { scopes, budget: { limit: usd(1) } }, parent)
  const ids = (await all.budgets.list()).map(({ id }) => id)
  expect(ids).toHaveLength(3)
  for (const id of ids) {
    for (const change of [{ limit: usd(2) }, { enforce: false }]) expect(await codeOf(child.w.budgets.update(id, change))).toBe(refused)
    expect(await codeOf(child.w.budgets.delete(id))).toBe(refused)
  }
  for (const id of [child.id, parent.id])
    for (const budget of [null, { limit: usd(2) }, { enforce: false }])
      expect(await codeOf(child.w.apiKeys.update(id, { budget }))).toBe(refused)
  const messages = await Promise.all(ids.map(id => child.w.budgets.delete(id).catch((error: Error) => error.message)))
  expect(messages.filter(message => `${message}`.startsWith('A key cannot change its own budgets or those'))).toHaveLength(2)
  const limited = await as(scene, { scopes, rateLimitRpm: 5 })
  await expect(limited.w.apiKeys.update(limited.id, { rateLimitRpm: 6 })).rejects.toThrow('A key cannot change its own limit, expiry or')
  expect(await codeOf(child.w.billing.credit({ reference: 'mine', amount: 1 }))).toBe(refused)
  expect(await codeOf(child.w.limits.update({ requestsPerMinute: null }))).toBe(well)
  expect((await all.budgets.list()).map(({ limit }) => limit)).toEqual([usd(1), usd(1), usd(1)])
  expect(await codeOf(child.w.budgets.update(shared.id, { limit: usd(0.5), name: 'less' }))).toBe(well)
})

test('an unrestricted key manages the budgets of its workspace, and so does one that cannot spend', async () => {
  const scene = await createFixture()
  const { id } = await scene.gateway.workspaces('w').budgets.create({ name: 'all', limit: usd(1) })
  const admin = await as(scene, { scopes })
  const clerk = await as(scene, { scopes: ['budgets:write', 'billing:write'], rateLimitRpm: 5 })
  for (const { w } of [admin, clerk]) {
    expect(await codeOf(w.budgets.update(id, { limit: usd(5) }))).toBe(well)
    expect(await codeOf(w.billing.credit({ reference: 'paid', amount: 1 }))).toBe(well)
  }
  expect(await codeOf(clerk.w.budgets.delete(id))).toBe(well)
})

test('a key loosens no limit, expiry or budget of a key with scopes that it lacks, nor ends it', async () => {
  const scene = await createFixture()
  const all = scene.gateway.workspaces('w').apiKeys
  const strong = await all.create({
    name: 's',
    scopes,
    rateLimitRpm: 5,
    expiresAt: new Date(scene.now.ms + 1_000),
    budget: { limit: usd(1) },
  })
  const weak = await as(scene, { scopes: ['keys:write', 'budgets:write'] })
  const [budget] = await weak.w.budgets.list()
  const later = new Date(scene.now.ms + 2_000)
  for (const change of [
    { rateLimitRpm: 6 },
    { rateLimitRpm: null },
    { expiresAt: later },
    { expiresAt: null },
    { budget: null },
    { budget: { limit: usd(2) } },
  ])
    expect([change, await codeOf(weak.w.apiKeys.update(strong.id, change))]).toEqual([change, refused])
  expect(await codeOf(weak.w.budgets.delete(budget?.id ?? ''))).toBe(refused)
  const peer = await as(scene, { scopes })
  expect(await codeOf(peer.w.apiKeys.update(strong.id, { rateLimitRpm: 9, expiresAt: null, budget: null }))).toBe(well)
  expect(await codeOf(weak.w.apiKeys.update(strong.id, { expiresAt: new Date(scene.now.ms + 500) }))).toBe(refused)
  expect(await codeOf(weak.w.apiKeys.revoke(strong.id))).toBe(refused)
  expect(await codeOf(weak.w.apiKeys.revoke(strong.id, { keepMade: true }))).toBe(refused)
  expect((await peer.w.apiKeys.revoke(strong.id)).isActive).toBe(false)
})

test('a key stops no other by a low limit: not itself, none above it, and none with scopes that it lacks', async () => {
  const scene = await createFixture()
  const admin = await as(scene, { scopes, rateLimitRpm: 5 })
  const weak = await as(scene, { scopes: ['keys:write', 'budgets:write'] }, admin)
  const sibling = await as(scene, { scopes, budget: { limit: usd(1) } }, admin)
  const equal = await as(scene, { scopes: ['keys:write'] })
  const ofSibling = (await weak.w.budgets.list())[0]?.id ?? ''
  for (const { id } of [weak, admin, sibling]) {
    expect(await codeOf(weak.w.budgets.create({ name: 'least', apiKeyId: id, limit: 1 }))).toBe(refused)
    expect(await codeOf(weak.w.apiKeys.update(id, { budget: { limit: 1 } }))).toBe(refused)
    expect(await codeOf(weak.w.apiKeys.update(id, { rateLimitRpm: 1 }))).toBe(refused)
    expect(await codeOf(weak.w.apiKeys.update(id, { name: 'renamed' }))).toBe(well)
  }
  expect(await codeOf(weak.w.budgets.update(ofSibling, { limit: 1 }))).toBe(refused)
  const { id: watched } = await weak.w.budgets.create({ name: 'watched', apiKeyId: sibling.id, limit: 1, enforce: false })
  expect(await codeOf(weak.w.budgets.update(watched, { enforce: true }))).toBe(refused)
  expect(await codeOf(weak.w.budgets.create({ name: 'own', apiKeyId: equal.id, limit: 1 }))).toBe(well)
  expect(await codeOf(weak.w.apiKeys.create({ name: 'below', scopes: ['keys:write'], budget: { limit: 1 } }))).toBe(well)
  expect(await codeOf(weak.w.budgets.create({ name: 'all', limit: usd(1) }))).toBe(well)
})

test('a key revokes itself, its descendants and keys that have no other scopes, but no key above it with more scopes', async () => {
  const scene = await createFixture()
  const admin = await as(scene, { scopes })
  const child = await as(scene, { scopes: ['keys:write', 'inference:invoke'] }, admin)
  const grandchild = await as(scene, { scopes: ['keys:write'] }, child)
  const [equal] = [await as(scene, { scopes: ['inference:invoke'] })]
  expect(await codeOf(child.w.apiKeys.revoke(admin.id))).toBe(refused)
  await expect(child.w.apiKeys.revoke(admin.id)).rejects.toThrow('cannot change its limits, expiry or budgets, revoke or rotate it')
  expect(await codeOf(child.w.apiKeys.revoke(equal.id))).toBe(well)
  expect(await codeOf(child.w.apiKeys.revoke(grandchild.id))).toBe(well)
  expect(await codeOf(child.w.apiKeys.revoke(child.id))).toBe(well)
})

test('restricted keys that spend cannot loosen restrictions for one another, nor those of keys that another has created', async () => {
  const scene = await createFixture()
  const all = scene.gateway.workspaces('w')
  const bounds = { scopes: ['inference:invoke', 'keys:write', 'budgets:write'], rateLimitRpm: 5, budget: { limit: usd(1) } } as const
  const [one, two] = [await as(scene, bounds), await as(scene, bounds)]
  const below = await as(scene, { scopes: ['inference:invoke'], rateLimitRpm: 2 }, two)
  for (const [acting, other] of [
    [one, two],
    [two, one],
    [one, below],
  ] as const) {
    for (const change of [{ rateLimitRpm: null }, { rateLimitRpm: 6 }, { budget: { limit: usd(1), enforce: false } }])
      if (!('budget' in change) || other !== below)
        expect([change, await codeOf(acting.w.apiKeys.update(other.id, change))]).toEqual([change, refused])
  }
  for (const budget of await all.budgets.list()) {
    for (const { w } of [one, two]) expect(await codeOf(w.budgets.update(budget.id, { limit: usd(2) }))).toBe(refused)
    for (const { w } of [one, two]) expect(await codeOf(w.budgets.delete(budget.id))).toBe(refused)
  }
  expect(await codeOf(one.w.apiKeys.revoke(two.id, { keepMade: true }))).toBe(refused)
  expect(await codeOf(two.w.apiKeys.update(below.id, { rateLimitRpm: 1_000 }))).toBe(well)
  expect(await codeOf(one.w.apiKeys.update(two.id, { rateLimitRpm: 4 }))).toBe(well)
  expect(await codeOf(one.w.apiKeys.revoke(two.id))).toBe(well)
})

test('spending of descendant keys counts against a key’s budget and limits', async () => {
  const scene = await createFixture()
  const parent = await as(scene, { scopes, rateLimitRpm: 7, budget: { limit: usd(1) } })
  const child = await as(scene, { scopes, rateLimitRpm: 1_000 }, parent)
  const grandchild = await as(scene, { scopes }, child)
  const caller = await scene.gateway.authenticate(grandchild.secret)
  expect(caller.ancestors?.map(({ keyId }) => keyId)).toEqual([child.id, parent.id])
  expect((await scene.gateway.identity(caller)).budget?.limit).toBe(1_000_000)
  expect((await scene.gateway.identity(caller)).limits.inferenceRpm).toBe(7)
})

test('a key stops with its ancestors: at once if revoked, at its expiry if expired, and lists show both', async () => {
  const scene = await createFixture()
  const parent = await as(scene, { scopes })
  const child = await as(scene, { scopes }, parent)
  const grandchild = await as(scene, { scopes }, child)
  const ends = scene.now.ms + 5_000
  await scene.gateway.workspaces('w').apiKeys.update(parent.id, { expiresAt: new Date(ends) })
  expect((await scene.gateway.authenticate(grandchild.secret)).expiresAt).toBe(ends)
  scene.now.ms = ends
  expect(await codeOf(scene.gateway.authenticate(grandchild.secret))).toBe('invalid_api_key')
  await scene.gateway.workspaces('w').apiKeys.update(parent.id, { expiresAt: null })
  scene.now.ms += 1_000
  expect((await scene.gateway.authenticate(grandchild.secret)).keyId).toBe(grandchild.id)
  await scene.gateway.workspaces('w').apiKeys.revoke(parent.id)
  for (const { secret } of [child, grandchild]) expect(await codeOf(scene.gateway.authenticate(secret))).toBe('invalid_api_key')
  expect((await scene.gateway.workspaces('w').apiKeys.list()).map(({ isActive }) => isActive)).toEqual([false, false])
  expect(await codeOf(grandchild.w.apiKeys.create({ name: 'late' }))).toBe(refused)
})

test('a descendant of a revoked key stops within 30 s in other processes, even if used constantly', async () => {
  const here = await createFixture()
  const there = await createFixture({ storage: here.storage, now: here.now })
  const parent = await as(here, { scopes })
  const child = await as(here, { scopes }, parent)
  await there.gateway.authenticate(child.secret)
  await here.gateway.workspaces('w').apiKeys.revoke(parent.id)
  here.now.ms += 30_001
  expect(await codeOf(there.gateway.authenticate(child.secret))).toBe('invalid_api_key')
})

test('keys created with a revoked key are kept on request, below its ancestors; a key cannot escape its own restrictions this way', async () => {
  const scene = await createFixture()
  const top = await as(scene, { scopes, budget: { limit: usd(1) } })
  const middle = await as(scene, { scopes, budget: { limit: usd(1) } }, top)
  const below = await as(scene, { scopes }, middle)
  for (const { w } of [top, middle, below]) expect(await codeOf(w.apiKeys.revoke(top.id, { keepMade: true }))).toBe(refused)
  for (const { w } of [middle, below]) expect(await codeOf(w.apiKeys.revoke(middle.id, { keepMade: true }))).toBe(refused)
  await top.w.apiKeys.revoke(middle.id, { keepMade: true })
  expect((await scene.gateway.authenticate(below.secret)).ancestors?.map(({ keyId }) => keyId)).toEqual([top.id])
  await scene.gateway.workspaces('w').apiKeys.revoke(top.id, { keepMade: true })
  expect((await scene.gateway.authenticate(below.secret)).ancestors).toBeUndefined()
  expect((await below.w.apiKeys.get(below.id)).isActive).toBe(true)
})

test('a key has at most 8 ancestors', async () => {
  const scene = await createFixture({ storage: memoryStorage() })
  let last = await as(scene, { scopes })
  for (let depth = 0; depth < 8; depth++) last = await as(scene, { scopes }, last)
  expect((await scene.gateway.authenticate(last.secret)).ancestors).toHaveLength(8)
  expect(await codeOf(last.w.apiKeys.create({ name: 'ninth' }))).toBe(refused)
})

test('ancestors’ counters and slots are the same as the ancestors’ own', () => {
  const limits = { requestsPerMinute: 5, tokensPerMinute: 50, concurrentRequests: 2 }
  const caller = { keyId: 'child', workspaceId: 'w', ancestors: [{ keyId: 'plain' }, { keyId: 'parent', limits }] } as never
  const policy = { workspace: { body: {} } } as never
  const own = new CallerLimits(caller, policy, defaultLimits)
  const rates = [...own.requests('m'), ...own.tokens({ amount: 10, prompt: undefined }, 0)]
  const taken = rates.map(({ key, limit }) => [key, limit])
  expect(taken).toContainEqual(['w/rpm:parent:m', 5])
  expect(taken).toContainEqual(['w/tpm:parent:0', 50])
  expect(own.slots().map(({ key, limit }) => [key, limit])).toEqual([
    ['w/slots:child', 200],
    ['w/slots:parent', 2],
  ])
})

test('a key rotates itself and keys below it, but no key above it or beside it', async () => {
  const scene = await createFixture()
  const strong = await as(scene, { scopes })
  const weak = await as(scene, { scopes: ['keys:write'] })
  const one = await as(scene, { scopes: ['inference:invoke', 'keys:write'], rateLimitRpm: 5 })
  const below = await as(scene, { scopes: ['inference:invoke', 'keys:write'] }, one)
  const peer = await as(scene, { scopes: ['inference:invoke'] })
  const rotations = [
    [weak, strong, refused],
    [below, one, refused],
    [one, peer, refused],
    [one, one, well],
    [one, below, well],
    [strong, one, refused],
    [strong, weak, refused],
  ] as const
  for (const [at, [acting, other, expected]] of rotations.entries())
    expect([at, await codeOf(acting.w.apiKeys.rotate(other.id))]).toEqual([at, expected])
  await expect(weak.w.apiKeys.rotate(strong.id)).rejects.toThrow('cannot change its limits, expiry or budgets, revoke or rotate it')
  await expect(strong.w.apiKeys.rotate(weak.id)).rejects.toThrow('was not created with this key')
  expect(await codeOf(scene.gateway.workspaces('w').apiKeys.rotate(strong.id))).toBe(well)
})

test('a key that expires can neither rotate a key beside it nor prolong it, so it does not outlive its expiry', async () => {
  const scene = await createFixture()
  const [soon, later] = [1_000, 9_000].map(ms => new Date(scene.now.ms + ms))
  const [a, b, lasting] = [await as(scene, { scopes }), await as(scene, { scopes }), await as(scene, { scopes })]
  const all = scene.gateway.workspaces('w').apiKeys
  for (const { id } of [a, b]) await all.update(id, { expiresAt: soon as Date })
  const child = await as(scene, { scopes }, a)
  expect(await codeOf(a.w.apiKeys.rotate(lasting.id, { gracePeriod: 0 }))).toBe(refused)
  for (const expiresAt of [null, later as Date]) expect(await codeOf(a.w.apiKeys.update(b.id, { expiresAt }))).toBe(refused)
  expect(await codeOf(b.w.apiKeys.revoke(a.id, { keepMade: true }))).toBe(refused)
  expect(await codeOf(child.w.apiKeys.update(b.id, { expiresAt: null }))).toBe(refused)
  expect(await codeOf(lasting.w.apiKeys.update(b.id, { expiresAt: null }))).toBe(well)
})

/** The methods of a workspace that read, and the one by which an app uses a key. All others change something. */
const reads = [
  ...['apiKeys.list', 'apiKeys.get', 'apiKeys.usage', 'byokKeys.list', 'byokKeys.get', 'billing.balance', 'billing.ledger'],
  ...['budgets.list', 'budgets.get', 'settings.get', 'limits.get', 'routingDefaults.get', 'members.list', 'invites.list'],
  ...['auditEvents.list', 'auditEvents.verify', 'subscription.get', 'sessions.list', 'sessions.create'],
  ...['summary', 'trends', 'requests', 'request', 'routing', 'count', 'pages'].map(name => `analytics.${name}`),
]

test('a replaced secret changes nothing by any method, but reads, and creates sessions that end with it', async () => {
  const scene = await createFixture({
    providers: [openai({ apiKey: 'sk-platform-0123456789' })],
    sealingKey: new Uint8Array(32).fill(7),
    transport: () => Promise.reject(new Error('unreachable')),
  })
  const all = scene.gateway.workspaces('w')
  const made = await all.apiKeys.create({ name: 'k', scopes })
  const old = scene.gateway.workspaces('w', { key: { id: made.id, name: 'k', prefix: made.keyPrefix, scopes: new Set(scopes) } })
  const { id: child } = await old.apiKeys.create({ name: 'child' })
  const { id: budget } = await all.budgets.create({ name: 'b', limit: 1 })
  const { id: byok } = await all.byokKeys.create({ name: 'ours', provider: 'openai', apiKey: 'sk-ours-0123456789' })
  const { id: member } = await all.members.add({ email: 'ada@example.com', name: 'Ada', role: 'owner' })
  const { id: invite } = await all.invites.create({ email: 'ben@example.com', role: 'owner' })
  const { id: session } = await all.sessions.create({ user: 'u' })
  const changes: Readonly<Record<string, () => Promise<unknown>>> = {
    'apiKeys.create': () => old.apiKeys.create({ name: 'late' }),
    'apiKeys.update': () => old.apiKeys.update(child, { name: 'renamed' }),
    'apiKeys.revoke': () => old.apiKeys.revoke(child),
    'apiKeys.rotate': () => old.apiKeys.rotate(made.id),
    'byokKeys.create': () => old.byokKeys.create({ name: 'more', provider: 'openai', apiKey: 'sk-more-0123456789' }),
    'byokKeys.update': () => old.byokKeys.update(byok, { name: 'renamed' }),
    'byokKeys.validate': () => old.byokKeys.validate(byok),
    'byokKeys.delete': () => old.byokKeys.delete(byok),
    'billing.credit': () => old.billing.credit({ reference: 'r', amount: 1 }),
    'billing.adjust': () => old.billing.adjust({ reference: 's', amount: -1 }),
    'billing.autoReload.update': () => old.billing.autoReload.update({ enabled: false }),
    'budgets.create': () => old.budgets.create({ name: 'c', limit: 1 }),
    'budgets.update': () => old.budgets.update(budget, { limit: 2 }),
    'budgets.delete': () => old.budgets.delete(budget),
    'settings.update': () => old.settings.update({ logRetentionDays: 5 }),
    'limits.update': () => old.limits.update({ requestsPerMinute: 5 }),
    'routingDefaults.update': () => old.routingDefaults.update({ only: ['openai'] }),
    'members.add': () => old.members.add({ email: 'eve@example.com', name: 'Eve', role: 'owner' }),
    'members.update': () => old.members.update(member, { role: 'owner' }),
    'members.remove': () => old.members.remove(member),
    'invites.create': () => old.invites.create({ email: 'eve@example.com', role: 'owner' }),
    'invites.revoke': () => old.invites.revoke(invite),
    'sessions.revoke': () => old.sessions.revoke(session),
    'subscription.set': () => old.subscription.set({ plan: 'pro' }),
  }
  const methods = Object.entries<object>({ ...old }).flatMap(([resource, verbs]) =>
    Object.entries(verbs).flatMap(([name, method]) =>
      typeof method === 'function' ? `${resource}.${name}` : Object.keys(method).map(inner => `${resource}.${name}.${inner}`),
    ),
  )
  expect(methods.sort()).toEqual([...reads, ...Object.keys(changes)].sort())
  const { secret } = await all.apiKeys.rotate(made.id, { gracePeriod: 600 })
  const before = (await all.auditEvents.list({ limit: 100 })).length
  for (const [name, change] of Object.entries(changes))
    expect([name, await change().catch((error: Error) => error.message)]).toEqual([name, expect.stringContaining('Use the new secret')])
  expect((await all.auditEvents.list({ limit: 100 })).length).toBe(before)
  const endsAt = scene.now.ms + 600_000
  const { expiresAt, token } = await old.sessions.create({ user: 'u', expiresIn: 3_600 })
  expect(expiresAt).toBe(endsAt)
  expect((await scene.gateway.authenticate(made.secret)).keyId).toBe(made.id)
  scene.now.ms = endsAt
  for (const ended of [token, made.secret]) expect(await codeOf(scene.gateway.authenticate(ended))).toMatch(/^(?:invalid|expired)/)
  expect(await codeOf(old.sessions.create({ user: 'u' }))).toBe(refused)
  expect((await scene.gateway.authenticate(secret)).keyId).toBe(made.id)
})

test('a key that was revoked with its children kept restricts them no longer, by limit, expiry or depth', async () => {
  const scene = await createFixture()
  const all = scene.gateway.workspaces('w').apiKeys
  const top = await as(scene, { scopes, rateLimitRpm: 5 })
  const child = await as(scene, { scopes }, top)
  await all.update(top.id, { expiresAt: new Date(scene.now.ms + 1_000) })
  await all.revoke(top.id, { keepMade: true })
  scene.now.ms += 60_000
  const caller = await scene.gateway.authenticate(child.secret)
  expect([caller.ancestors, caller.expiresAt]).toEqual([undefined, undefined])
  expect(await all.get(child.id)).toMatchObject({ isActive: true })
  expect((await all.get(child.id)).ancestors).toBeUndefined()
  expect(await codeOf(child.w.limits.update({ requestsPerMinute: null }))).toBe(well)
  const grandchild = await as(scene, { scopes }, child)
  expect((await all.get(grandchild.id)).ancestors).toEqual([child.id])
})
