import { expect, test } from 'vitest'
import { lazyManagement } from './lazy-management.ts'
import { workspacesOf } from './workspaces.ts'

/** The names of all methods, as in `billing.autoReload.update`. */
const namesIn = (value: object): readonly string[] =>
  Object.entries(value).flatMap(([name, inner]) => (typeof inner === 'object' ? namesIn(inner).map(below => `${name}.${below}`) : [name]))

test('management loaded on demand has the same methods, and nothing is loaded before a call', async () => {
  let loaded = 0
  const setting = () => {
    loaded += 1
    throw new Error('not here')
  }
  const workspaces = lazyManagement({} as never, setting).workspacesAfter(() => undefined)
  const real = workspacesOf({ storage: {}, records: {}, byok: {} } as never)
  expect(namesIn(workspaces('ws_1')).toSorted()).toEqual(namesIn(real('ws_1')).toSorted())
  expect(Object.keys(workspaces)).toEqual(Object.keys(real))
  expect(loaded).toBe(0)
  await expect(workspaces('ws_1').settings.get()).rejects.toThrow('not here')
  await expect(workspaces('ws_1').analytics.pages({}, 1).next()).rejects.toThrow('not here')
  // A failed load is retried.
  expect(loaded).toBe(2)
})
