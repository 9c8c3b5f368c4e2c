import { describe, expect, test } from 'vitest'
import type { StoredWorkspace } from '../storage.ts'
import { type MakeStorage, ODD_STRINGS, spoil, T0 } from './subject.ts'

const workspace: StoredWorkspace = { id: 'ws_1', name: 'Ours', billing: 'prepaid', createdAt: T0 }

/** The suite for workspaces. `describeWorkspaces(opener(make))` */
export function describeWorkspaces(open: MakeStorage): void {
  describe('workspaces', () => {
    test('a workspace reads back as it was put in', async () => {
      const { workspaces } = (await open()).storage
      await workspaces.insert(workspace)
      await workspaces.insert({ ...workspace, id: 'ws_2', billing: 'postpaid' })
      expect(await workspaces.find('ws_1')).toEqual(workspace)
      expect((await workspaces.find('ws_2'))?.billing).toBe('postpaid')
      expect(await workspaces.find('ws_3')).toBeUndefined()
    })

    test('the same id twice keeps the first, also when both come at once', async () => {
      const { workspaces } = (await open()).storage
      await workspaces.insert(workspace)
      await Promise.all([workspaces.insert({ ...workspace, name: 'Theirs' }), workspaces.insert({ ...workspace, name: 'Nobodys' })])
      expect(await workspaces.list()).toEqual([workspace])
    })

    test('the list is in the order of their coming', async () => {
      const { workspaces } = (await open()).storage
      expect(await workspaces.list()).toEqual([])
      for (const id of ['b', 'c', 'a']) await workspaces.insert({ ...workspace, id })
      expect((await workspaces.list()).map(({ id }) => id)).toEqual(['b', 'c', 'a'])
    })

    test('odd strings come back as they were', async () => {
      const { workspaces } = (await open()).storage
      for (const odd of ODD_STRINGS) await workspaces.insert({ ...workspace, id: odd, name: odd })
      for (const odd of ODD_STRINGS) expect(await workspaces.find(odd)).toEqual({ ...workspace, id: odd, name: odd })
      expect(await workspaces.list()).toHaveLength(ODD_STRINGS.length)
    })

    test('a caller who changes an answer changes nothing in the store', async () => {
      const { workspaces } = (await open()).storage
      const given = { ...workspace }
      await workspaces.insert(given)
      for (const answer of [given, await workspaces.find('ws_1'), await workspaces.list()]) spoil(answer)
      expect(await workspaces.find('ws_1')).toEqual(workspace)
      expect(await workspaces.list()).toEqual([workspace])
    })
  })
}
