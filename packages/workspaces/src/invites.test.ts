import { type Scope, scopes } from '@signalbox/core/resources'
import { expect, test } from 'vitest'
import { roles } from '../../core/src/resources/member.ts'
import { codeOf, createFixture } from '../test/fixture.ts'

const carol = { email: 'carol@example.com', role: 'developer' } as const
const week = 7 * 86_400_000

test('the token of an invite is given to the operator, and gives one membership', async () => {
  const { gateway, now, invited } = await createFixture()
  const { invites, members } = gateway.workspaces('w')
  const { token, ...invite } = await invites.create(carol)
  expect(invite).toEqual({ ...carol, id: invite.id, status: 'pending', expiresAt: now.ms + week })
  expect(invited).toEqual([{ ...carol, token, workspaceId: 'w', workspaceName: 'W', expiresAt: now.ms + week }])
  const member = await gateway.workspaces.acceptInvite({ token, name: 'Carol' })
  expect(member).toMatchObject({ ...carol, name: 'Carol', workspaceId: 'w' })
  expect(await members.list()).toMatchObject([{ id: member.id }])
  expect(await invites.list()).toEqual([{ ...invite, status: 'accepted' }])
})

test('used, revoked, expired and unknown tokens are refused with the same message', async () => {
  const { gateway, now } = await createFixture()
  const { invites } = gateway.workspaces('w')
  const tokens = await Promise.all(['a', 'b', 'c'].map(name => invites.create({ ...carol, email: `${name}@example.com` })))
  const [used, revoked, old] = tokens
  await gateway.workspaces.acceptInvite({ token: used?.token ?? '', name: 'A' })
  await invites.revoke(revoked?.id ?? '')
  const words = async (token = ''): Promise<string> => gateway.workspaces.acceptInvite({ token, name: 'X' }).then(String, String)
  const before = [await words(used?.token), await words(revoked?.token), await words('inv_never')]
  now.ms += week
  expect(new Set([...before, await words(old?.token)]).size).toBe(1)
  expect((await invites.list()).map(({ status }) => status)).toEqual(['accepted', 'revoked', 'expired'])
  expect(await codeOf(invites.revoke(used?.id ?? ''))).toBe('state_precondition_failed')
})

test('if two accept one invite at once, one becomes a member', async () => {
  const here = await createFixture()
  const there = await createFixture(here)
  const { token } = await here.gateway.workspaces('w').invites.create(carol)
  const codes = await Promise.all([here, there, here].map(({ gateway }) => codeOf(gateway.workspaces.acceptInvite({ token, name: 'C' }))))
  expect(codes.filter(code => code === 'nothing went wrong')).toHaveLength(1)
  expect(await here.gateway.workspaces('w').members.list()).toHaveLength(1)
})

test('the token is stored nowhere', async () => {
  const { gateway, storage } = await createFixture()
  const { token } = await gateway.workspaces('w').invites.create(carol)
  const kept = [await storage.records.list({ kind: 'invite', limit: 10 }), await storage.audit.list({ workspaceId: 'w', limit: 10 })]
  expect(JSON.stringify(kept)).not.toContain(token.slice(4))
})

test('an invite of another workspace is not found', async () => {
  const { gateway } = await createFixture()
  const { id } = await gateway.workspaces('w').invites.create(carol)
  expect(await codeOf(gateway.workspaces('other').invites.revoke(id))).toBe('resource_not_found')
  expect(await gateway.workspaces('other').invites.list()).toEqual([])
})

test('invites do not bypass the maximum number of members', async () => {
  const { gateway, storage } = await createFixture()
  const { invites, members } = gateway.workspaces('w')
  const { token } = await invites.create({ email: 'late@example.com', role: 'owner' })
  const body = (at: number): string => JSON.stringify({ email: `${at}@example.com`, name: 'n', role: 'viewer', joinedAt: 0 })
  const puts = Array.from({ length: 1_000 }, (_, at) => ({
    kind: 'member',
    workspaceId: 'w',
    id: `m${at}`,
    version: 0,
    createdAt: 0,
    body: body(at),
  }))
  await storage.records.commit({ puts })
  expect(await codeOf(gateway.workspaces.acceptInvite({ token, name: 'Late' }).then(String))).toBe('state_precondition_failed')
  await members.remove('m0')
  expect(await gateway.workspaces.acceptInvite({ token, name: 'Late' })).toMatchObject({ role: 'owner' })
})

test('a member cannot be invited again', async () => {
  const { gateway } = await createFixture()
  await gateway.workspaces('w').members.add({ ...carol, name: 'Carol' })
  expect(await codeOf(gateway.workspaces('w').invites.create({ ...carol, email: 'CAROL@example.com' }))).toBe('duplicate_resource')
  expect(await codeOf(gateway.workspaces('other').invites.create(carol))).toBe('nothing went wrong')
})

test('an address has one pending invite, however it is written, even if two processes invite at once', async () => {
  const here = await createFixture()
  const there = await createFixture(here)
  const { invites } = here.gateway.workspaces('w')
  const first = await invites.create({ ...carol, email: 'Carol@Example.com' })
  for (const email of ['carol@example.com', 'CAROL@EXAMPLE.COM', 'ｃａｒｏｌ@example.com', 'carol＠example.com'])
    expect([email, await codeOf(invites.create({ ...carol, email }))]).toEqual([email, 'duplicate_resource'])
  expect(await codeOf(here.gateway.workspaces('other').invites.create(carol))).toBe('nothing went wrong')
  await invites.revoke(first.id)
  const second = await invites.create(carol)
  here.now.ms += week
  const both = await Promise.all([here, there].map(({ gateway }) => codeOf(gateway.workspaces('w').invites.create(carol))))
  expect(both.toSorted()).toEqual(['duplicate_resource', 'nothing went wrong'])
  const statuses = (await invites.list()).map(({ id, status }) => [id, status])
  expect(statuses.slice(0, 2)).toEqual([
    [first.id, 'revoked'],
    [second.id, 'expired'],
  ])
  expect(statuses.map(([, status]) => status)).toEqual(['revoked', 'expired', 'pending'])
})

test.each([
  ['a zero-width space', 'ada\u200b@example.com'],
  ['a soft hyphen', 'a\u00adda@example.com'],
  ['a word joiner in the domain', 'ada@exam\u2060ple.com'],
  ['a mark that turns the direction', 'ada\u202e@example.com'],
  ['a variation selector', 'ada\ufe0f@example.com'],
  ['a filler', 'ada\u3164@example.com'],
  ['a no-break space', 'ada\u00a0@example.com'],
  ['a Cyrillic letter among Latin ones', '\u0430da@example.com'],
  ['a Greek letter among Latin ones', 'ad\u03b1@example.com'],
  ['a Cyrillic letter in the domain', 'ada@ex\u0430mple.com'],
  ['two at signs, one of them wide', 'ada\uff20x@example.com'],
])('an address with %s can be neither invited nor added', async (_, email) => {
  const { gateway } = await createFixture()
  const { invites, members } = gateway.workspaces('w')
  expect(await codeOf(invites.create({ ...carol, email }))).toBe('invalid_parameter_value')
  expect(await codeOf(members.add({ ...carol, email, name: 'Ada' }))).toBe('invalid_parameter_value')
})

test.each(['юлия@example.com', '太郎taro@example.jp', 'josé.o’neil+x@example.com', 'νίκος@παράδειγμα.gr'])(
  'the address %s uses one alphabet, and is invited as written',
  async email => {
    const { gateway } = await createFixture()
    expect((await gateway.workspaces('w').invites.create({ ...carol, email })).email).toBe(email)
  },
)

test('a key grants no role beyond its own scopes, by invite or by change, and the operator grants every role', async () => {
  const { gateway } = await createFixture()
  const as = (...granted: readonly Scope[]) =>
    gateway.workspaces('w', { key: { id: 'k', name: 'k', scopes: new Set<string>(['invites:write', 'members:write', ...granted]) } })
  const { id } = await gateway.workspaces('w').members.add({ ...carol, name: 'Carol' })
  await gateway.workspaces('w').members.add({ email: 'owner@example.com', name: 'O', role: 'owner' })
  const may = async (w: ReturnType<typeof as>): Promise<readonly string[]> => {
    const granted: string[] = []
    for (const role of roles) {
      await gateway.workspaces('w').members.update(id, { role: 'viewer' })
      const codes = new Set<string>()
      const invite = w.invites.create({ email: `new-${role}@example.com`, role })
      codes.add(await codeOf(invite))
      await invite.then(made => w.invites.revoke(made.id)).catch(() => {})
      codes.add(await codeOf(w.members.update(id, { role })))
      expect(codes.size).toBe(1)
      if (codes.has('nothing went wrong')) granted.push(role)
      else expect([...codes]).toEqual(['operation_not_allowed'])
    }
    return granted
  }
  expect(await may(as())).toEqual(['developer', 'viewer'])
  expect(await may(as('billing:write', 'budgets:write'))).toEqual(['developer', 'viewer', 'billing'])
  expect(await may(as(...scopes.filter(scope => scope !== 'billing:write')))).toEqual(['admin', 'developer', 'viewer'])
  expect(await may(as(...scopes))).toEqual([...roles])
  expect(await may(gateway.workspaces('w'))).toEqual([...roles])
})

test('a key takes no role away that it could not grant: of a member, or by revoking an invite', async () => {
  const { gateway } = await createFixture()
  const all = gateway.workspaces('w')
  const [owner] = [
    await all.members.add({ email: 'one@example.com', name: 'One', role: 'owner' }),
    await all.members.add({ email: 'two@example.com', name: 'Two', role: 'owner' }),
  ]
  const invite = await all.invites.create({ email: 'three@example.com', role: 'owner' })
  const weak = gateway.workspaces('w', { key: { id: 'k', name: 'k', scopes: new Set<string>(['invites:write', 'members:write']) } })
  const calls = [weak.members.remove(owner.id), weak.members.update(owner.id, { role: 'viewer' }), weak.invites.revoke(invite.id)]
  expect(await Promise.all(calls.map(codeOf))).toEqual(Array(3).fill('operation_not_allowed'))
  expect(await codeOf(all.members.remove(owner.id))).toBe('nothing went wrong')
})
