import { expect, test } from 'vitest'
import { codeOf, stage } from './stage.ts'

const carol = { email: 'carol@example.com', role: 'developer' } as const
const week = 7 * 86_400_000

test('an invite is told to the operator with its token, and is worth one membership', async () => {
  const { gateway, now, invited } = await stage()
  const { invites, members } = gateway.workspaces('w')
  const { token, ...invite } = await invites.create(carol)
  expect(invite).toEqual({ ...carol, id: invite.id, status: 'pending', expiresAt: now.ms + week })
  expect(invited).toEqual([{ ...carol, token, workspaceId: 'w', workspaceName: 'W', expiresAt: now.ms + week }])
  const member = await gateway.workspaces.acceptInvite({ token, name: 'Carol' })
  expect(member).toMatchObject({ ...carol, name: 'Carol', workspaceId: 'w' })
  expect(await members.list()).toMatchObject([{ id: member.id }])
  expect(await invites.list()).toEqual([{ ...invite, status: 'accepted' }])
})

test('a token that was used, was revoked, is too old or never was is refused in the same words', async () => {
  const { gateway, now } = await stage()
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

test('of two who accept one invite at once one becomes a member', async () => {
  const here = await stage()
  const there = await stage(here)
  const { token } = await here.gateway.workspaces('w').invites.create(carol)
  const codes = await Promise.all([here, there, here].map(({ gateway }) => codeOf(gateway.workspaces.acceptInvite({ token, name: 'C' }))))
  expect(codes.filter(code => code === 'nothing went wrong')).toHaveLength(1)
  expect(await here.gateway.workspaces('w').members.list()).toHaveLength(1)
})

test('the token is kept nowhere', async () => {
  const { gateway, storage } = await stage()
  const { token } = await gateway.workspaces('w').invites.create(carol)
  const kept = [await storage.records.list({ kind: 'invite', limit: 10 }), await storage.audit.list({ workspaceId: 'w', limit: 10 })]
  expect(JSON.stringify(kept)).not.toContain(token.slice(4))
})

test('an invite of another workspace is not there', async () => {
  const { gateway } = await stage()
  const { id } = await gateway.workspaces('w').invites.create(carol)
  expect(await codeOf(gateway.workspaces('other').invites.revoke(id))).toBe('resource_not_found')
  expect(await gateway.workspaces('other').invites.list()).toEqual([])
})

test('an invite is no way past the number of members that a workspace can have', async () => {
  const { gateway, storage } = await stage()
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

test('who is a member already is not invited', async () => {
  const { gateway } = await stage()
  await gateway.workspaces('w').members.add({ ...carol, name: 'Carol' })
  expect(await codeOf(gateway.workspaces('w').invites.create({ ...carol, email: 'CAROL@example.com' }))).toBe('duplicate_resource')
  expect(await codeOf(gateway.workspaces('other').invites.create(carol))).toBe('nothing went wrong')
})
