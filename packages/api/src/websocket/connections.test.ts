import { expect, test } from 'vitest'
import { createConnections } from './connections.ts'

test('a few workspaces leave room for connections of another', () => {
  const { take } = createConnections({ maxConnections: 16, maxConnectionsPerWorkspace: 6, maxConnectionsPerUser: 1 })
  const most = (workspaceId: string): number => {
    for (let count = 0; ; count++)
      try {
        take({ workspaceId, keyId: 'k' })
      } catch {
        return count
      }
  }
  expect(['a', 'b', 'c', 'd'].map(most)).toEqual([6, 5, 2, 1])
  expect(() => take({ workspaceId: 'a', keyId: 'k' })).toThrow(expect.objectContaining({ status: 429 }))
  expect(() => take({ workspaceId: 'b', keyId: 'k' })).toThrow(expect.objectContaining({ status: 503 }))
  expect(take({ workspaceId: 'e', keyId: 'k' })).toBeTypeOf('function')
})
