import { expect, test } from 'vitest'
import { createOwnerSizes, workspaceOfOwner } from './owner-sizes.ts'

const userOf = (workspaceId: string, user: string): string => JSON.stringify([workspaceId, user])

test('an owner belongs to its workspace', () => {
  expect(['ws', userOf('ws', 'user:1'), '["[ws"]', '[ws', '[1]'].map(workspaceOfOwner)).toEqual(['ws', 'ws', '[ws', '[ws', '[1]'])
})

test('the largest workspace loses items, and in it the largest owner', () => {
  const sizes = createOwnerSizes()
  expect(sizes.largest('a')).toBeUndefined()
  sizes.add('a', 600)
  for (let user = 0; user < 10; user++) sizes.add(userOf('b', `user:${user}`), 200)
  sizes.add(userOf('b', 'user:big'), 500)
  expect(sizes.largest('c')).toBe(userOf('b', 'user:big'))
  expect(sizes.largest('a')).toBe(userOf('b', 'user:big'))
  sizes.add(userOf('b', 'user:big'), -500)
  for (let user = 0; user < 10; user++) sizes.add(userOf('b', `user:${user}`), -200)
  expect(sizes.largest('c')).toBe('a')
  sizes.add('a', -600)
  expect(sizes.largest('c')).toBeUndefined()
})

test('of owners of about the same size the one that asks loses items, or the one not used for longest', () => {
  const sizes = createOwnerSizes()
  for (const owner of ['a', 'b', 'c']) sizes.add(owner, 700)
  expect([sizes.largest('b'), sizes.largest('d')]).toEqual(['b', 'a'])
  sizes.use('a')
  expect(sizes.largest('d')).toBe('b')
})
