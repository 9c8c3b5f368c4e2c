import { allRoutes as routes } from '@signalbox/api/routes'
import { createGateway } from '@signalbox/gateway'
import { memoryStorage } from '@signalbox/storage-memory'
import { expect, test } from 'vitest'

test('each route of a workspace has a unique method name, the same as in process if there is one', () => {
  const named = routes.flatMap(({ client }) => (client === undefined ? [] : [client]))
  expect(new Set(named).size).toBe(named.length)
  const workspace: object = createGateway({ providers: [], models: [], storage: memoryStorage() }).workspaces('any')
  const inProcess = (name: string): unknown =>
    name.split('.').reduce<unknown>((place, key) => (place === undefined ? undefined : Reflect.get(Object(place), key)), workspace)
  const managed = routes.flatMap(route => (route.of === 'workspace' ? [route.client] : []))
  expect(managed.length).toBeGreaterThan(40)
  // A file is for clients over HTTP alone.
  expect(managed.filter(name => typeof inProcess(name) !== 'function')).toEqual(['analytics.export'])
})
