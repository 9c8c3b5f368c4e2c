import { describe, expect, test } from 'vitest'
import type { StoredKey } from '../storage.ts'
import { type MakeStorage, ODD_STRINGS, spoil, T0 } from './subject.ts'

const HASH = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'
const key: StoredKey = { id: 'key_1', workspaceId: 'ws_1', name: 'CI', prefix: 'sb_9f86', hash: HASH, scopes: [], createdAt: T0 }
const fullKey: StoredKey = {
  ...key,
  id: 'key_full',
  hash: 'full',
  scopes: ['inference', 'usage:read'],
  rpm: 0,
  createdBy: 'key_1',
  expiresAt: T0 + 1,
  revokedAt: T0 + 2,
  lastUsedAt: T0 + 3,
}

/** The suite for keys. `describeKeys(opener(make))` */
export function describeKeys(open: MakeStorage): void {
  describe('keys', () => {
    test('a key reads back as it was put in: what was absent stays absent, what was 0 stays 0', async () => {
      const { keys } = (await open()).storage
      await keys.insert(key)
      await keys.insert(fullKey)
      expect(await keys.find('ws_1', 'key_1')).toStrictEqual(key)
      expect(await keys.findByHash(HASH)).toStrictEqual(key)
      expect(await keys.find('ws_1', 'key_full')).toStrictEqual(fullKey)
      expect(await keys.find('ws_1', 'key_2')).toBeUndefined()
    })

    test('a key is found by its full hash only', async () => {
      const { keys } = (await open()).storage
      await keys.insert(key)
      const near = [HASH.slice(0, -1), `${HASH}0`, HASH.toUpperCase(), HASH.replace('9', '8'), '', '%', key.prefix, key.id, '__proto__']
      for (const hash of near) expect(await keys.findByHash(hash)).toBeUndefined()
    })

    test('two keys with the same prefix never share an identity', async () => {
      const { keys } = (await open()).storage
      await keys.insert(key)
      await keys.insert({ ...key, id: 'key_2', workspaceId: 'ws_2', hash: `${HASH.slice(0, -1)}9` })
      expect((await keys.findByHash(HASH))?.workspaceId).toBe('ws_1')
      expect((await keys.findByHash(`${HASH.slice(0, -1)}9`))?.workspaceId).toBe('ws_2')
    })

    test('an id or a hash that is taken is refused, and the first key stays as it was', async () => {
      const { keys } = (await open()).storage
      await keys.insert(key)
      await expect(keys.insert({ ...key, hash: 'other', workspaceId: 'ws_2' })).rejects.toThrow('key_1')
      await expect(keys.insert({ ...key, id: 'key_2', workspaceId: 'ws_2' })).rejects.toThrow('key_2')
      expect(await keys.findByHash(HASH)).toEqual(key)
      expect(await keys.findByHash('other')).toBeUndefined()
      expect(await keys.list('ws_2', { includeRevoked: true })).toEqual([])
    })

    test('of many at once for one hash, exactly one is kept, and its neighbours are not harmed', async () => {
      const { keys } = (await open()).storage
      const tries = Array.from({ length: 20 }, (_, index) => keys.insert({ ...key, id: `key_${index}` }))
      const neighbours = Array.from({ length: 20 }, (_, index) => keys.insert({ ...key, id: `n_${index}`, hash: `n_${index}` }))
      const outcomes = await Promise.allSettled(tries)
      await Promise.all(neighbours)
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      expect(await keys.list('ws_1')).toHaveLength(21)
    })

    test('the list is in the order of their making, of one workspace, and without revoked keys unless asked', async () => {
      const { keys } = (await open()).storage
      for (const [index, id] of ['c', 'a', 'b'].entries()) await keys.insert({ ...key, id, hash: id, createdAt: T0 + index })
      await keys.insert({ ...key, id: 'foreign', hash: 'foreign', workspaceId: 'ws_2' })
      await keys.revoke({ workspaceId: 'ws_1', id: 'a', at: T0 + 9 })
      expect((await keys.list('ws_1')).map(({ id }) => id)).toEqual(['c', 'b'])
      expect((await keys.list('ws_1', { includeRevoked: false })).map(({ id }) => id)).toEqual(['c', 'b'])
      expect((await keys.list('ws_1', { includeRevoked: true })).map(({ id }) => id)).toEqual(['c', 'a', 'b'])
      expect(await keys.list('ws_3')).toEqual([])
    })

    test('a revoked key is still found, as revoked; revoking again changes nothing and answers the same', async () => {
      const { keys } = (await open()).storage
      await keys.insert(key)
      const revoked = { ...key, revokedAt: T0 + 5 }
      expect(await keys.revoke({ workspaceId: 'ws_1', id: 'key_1', at: T0 + 5 })).toEqual(revoked)
      expect(await keys.revoke({ workspaceId: 'ws_1', id: 'key_1', at: T0 + 9 })).toEqual(revoked)
      expect(await keys.findByHash(HASH)).toEqual(revoked)
      expect(await keys.find('ws_1', 'key_1')).toEqual(revoked)
    })

    test('nobody finds or revokes a key of another workspace', async () => {
      const { keys } = (await open()).storage
      await keys.insert(key)
      expect(await keys.find('ws_2', 'key_1')).toBeUndefined()
      expect(await keys.revoke({ workspaceId: 'ws_2', id: 'key_1', at: T0 })).toBeUndefined()
      expect(await keys.revoke({ workspaceId: 'ws_1', id: 'key_9', at: T0 })).toBeUndefined()
      expect(await keys.findByHash(HASH)).toEqual(key)
    })

    test('the last use never moves back, and a key that is gone is no trouble', async () => {
      const { keys } = (await open()).storage
      await keys.insert(key)
      await keys.touch('key_1', T0 + 10)
      await keys.touch('key_1', T0 + 5)
      await keys.touch('key_9', T0 + 5)
      expect((await keys.find('ws_1', 'key_1'))?.lastUsedAt).toBe(T0 + 10)
      await Promise.all([30, 50, 40].map(ms => keys.touch('key_1', T0 + ms)))
      expect((await keys.findByHash(HASH))?.lastUsedAt).toBe(T0 + 50)
    })

    test('times that are no whole numbers are refused and change nothing: an invalid date is not no date', async () => {
      const { keys } = (await open()).storage
      const times = ['createdAt', 'expiresAt', 'revokedAt', 'lastUsedAt'] as const
      for (const value of [Number.NaN, 0.5, Number.POSITIVE_INFINITY]) {
        for (const field of times) await expect(keys.insert({ ...key, [field]: value })).rejects.toThrow(field)
        await expect(keys.insert({ ...key, rpm: value })).rejects.toThrow('rpm')
      }
      expect(await keys.findByHash(HASH)).toBeUndefined()
      await keys.insert(key)
      await expect(keys.revoke({ workspaceId: 'ws_1', id: 'key_1', at: Number.NaN })).rejects.toThrow('revoke')
      await expect(keys.touch('key_1', Number.NaN)).rejects.toThrow('touch')
      expect(await keys.findByHash(HASH)).toEqual(key)
    })

    test('odd strings come back as they were', async () => {
      const { keys } = (await open()).storage
      const odd = (text: string): StoredKey => ({
        ...key,
        id: text,
        workspaceId: text,
        name: text,
        prefix: text,
        hash: text,
        createdBy: text,
      })
      for (const text of ODD_STRINGS) await keys.insert({ ...odd(text), scopes: ODD_STRINGS })
      for (const text of ODD_STRINGS) {
        expect(await keys.find(text, text)).toEqual({ ...odd(text), scopes: ODD_STRINGS })
        expect(await keys.findByHash(text)).toEqual({ ...odd(text), scopes: ODD_STRINGS })
        expect(await keys.list(text)).toHaveLength(1)
      }
    })

    test('a caller who changes an answer changes nothing in the store', async () => {
      const { keys } = (await open()).storage
      const given = { ...key, scopes: ['inference'] }
      await keys.insert(given)
      const revoked = { ...key, scopes: ['inference'], revokedAt: T0 }
      const revoke = () => keys.revoke({ workspaceId: 'ws_1', id: 'key_1', at: T0 })
      const answers = [given, await revoke(), await revoke(), await keys.find('ws_1', 'key_1'), await keys.findByHash(HASH)]
      for (const answer of [...answers, await keys.list('ws_1', { includeRevoked: true })]) spoil(answer)
      expect(await keys.findByHash(HASH)).toEqual(revoked)
      expect(await keys.list('ws_1', { includeRevoked: true })).toEqual([revoked])
    })
  })
}
