import { expect, test } from 'vitest'
import { codeOf, createFixture } from '../test/fixture.ts'

const ada = { email: 'ada@example.com', name: 'Ada', role: 'owner' } as const
const bob = { email: 'bob@example.com', name: 'Bob', role: 'developer' } as const

test('members are listed in the order they joined, and only in their workspace', async () => {
  const { gateway, now } = await createFixture()
  const { members } = gateway.workspaces('w')
  const first = await members.add(ada)
  now.ms += 1_000
  const second = await members.add(bob)
  expect(await members.list()).toEqual([
    { ...ada, id: first.id, joinedAt: now.ms - 1_000 },
    { ...bob, id: second.id, joinedAt: now.ms },
  ])
  expect(await members.list({ after: first.id })).toEqual([second])
  expect(await gateway.workspaces('other').members.list()).toEqual([])
  expect(await codeOf(gateway.workspaces('other').members.update(first.id, { role: 'viewer' }))).toBe('resource_not_found')
  expect(await codeOf(gateway.workspaces('other').members.remove(first.id))).toBe('resource_not_found')
})

test('the last owner can neither leave nor be demoted, even if two try at once', async () => {
  const { gateway } = await createFixture()
  const { members } = gateway.workspaces('w')
  const one = await members.add(ada)
  expect(await codeOf(members.remove(one.id))).toBe('state_precondition_failed')
  expect(await codeOf(members.update(one.id, { role: 'admin' }))).toBe('state_precondition_failed')
  const two = await members.add({ ...bob, role: 'owner' })
  const codes = await Promise.all([codeOf(members.remove(one.id)), codeOf(members.update(two.id, { role: 'viewer' }))])
  expect(codes.sort()).toEqual(['nothing went wrong', 'state_precondition_failed'])
  expect((await members.list()).filter(({ role }) => role === 'owner')).toHaveLength(1)
})

test('two processes cannot take the last two owners away from each other', async () => {
  const here = await createFixture()
  const there = await createFixture(here)
  const one = await here.gateway.workspaces('w').members.add(ada)
  const two = await here.gateway.workspaces('w').members.add({ ...bob, role: 'owner' })
  const codes = await Promise.all([
    codeOf(here.gateway.workspaces('w').members.remove(one.id)),
    codeOf(there.gateway.workspaces('w').members.remove(two.id)),
  ])
  expect(codes.sort()).toEqual(['nothing went wrong', 'state_precondition_failed'])
})

test('an address is one member of a workspace, however it is written, and may be a member of another', async () => {
  const { gateway } = await createFixture()
  await gateway.workspaces('w').members.add(ada)
  expect(await codeOf(gateway.workspaces('w').members.add({ ...ada, email: 'ADA@example.com' }))).toBe('duplicate_resource')
  expect(await codeOf(gateway.workspaces('other').members.add(ada))).toBe('nothing went wrong')
})

test.each([
  [{ ...ada, email: 'nobody' }, 'email'],
  [{ ...ada, email: 'a b@example.com' }, 'email'],
  [{ ...ada, name: '' }, 'name'],
  [{ ...ada, role: 'king' as 'owner' }, 'role'],
])('a member of %j is refused, naming the field', async (input, param) => {
  const { gateway } = await createFixture()
  await expect(gateway.workspaces('w').members.add(input)).rejects.toMatchObject({ code: 'invalid_parameter_value', facts: { param } })
})
