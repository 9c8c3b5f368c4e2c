import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { allRoutes as routes } from '@signalbox/api/routes'
import { createGateway } from '@signalbox/core'
import { memoryStorage } from '@signalbox/storage-memory'
import { expect, test } from 'vitest'
import { generatedFiles } from '../tools/generated-files.ts'

const biome = resolve(import.meta.dirname, '../../../node_modules/.bin/biome')
const folder = resolve(import.meta.dirname, '../src/generated')

test('methods and types are those of the route table and of its schemas', async () => {
  for (const [name, text] of Object.entries(await generatedFiles())) {
    const formatted = execFileSync(biome, ['format', `--stdin-file-path=${join(folder, name)}`], { input: text, encoding: 'utf8' })
    expect(readFileSync(join(folder, name), 'utf8')).toBe(formatted)
  }
})

test('each route of a workspace has a name of its own, that of the call in process where there is one', () => {
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
