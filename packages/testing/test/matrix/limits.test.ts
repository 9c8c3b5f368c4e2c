import { createApi } from '@signalbox/api'
import { expect, test } from 'vitest'
import { checkRows } from '../check-rows.ts'
import { ask } from './asking.ts'
import { callOf, createFixture, rows } from './fixture.ts'
import { bodyFor } from './samples.ts'

test('every row counts against its class once the key is authorized, before anything is read', () =>
  checkRows(rows, async row => {
    const { mine, theirs, gateway } = await createFixture()
    const call = await callOf(row, mine)
    const { secret } = await gateway.workspaces(mine.workspaceId).apiKeys.create({ name: 'slow', scopes: row.needs })
    const counted: string[] = []
    const watched = { ...gateway, countManagement: async (__: unknown, kind: string) => void counted.push(kind) }
    const slow = { api: createApi(watched), secret }
    await ask(slow, call.replace(mine.workspaceId, theirs.workspaceId))
    expect(counted).toEqual([])
    await ask(slow, call, { query: 'nonsense=1', onRead: () => counted.push('body') })
    expect(counted).toEqual([row.rate])
    await ask(slow, call, { body: bodyFor(row) })
    expect(counted).toEqual([row.rate, row.rate])
  }))
