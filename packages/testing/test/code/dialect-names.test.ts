import { providerDialects } from '@signalbox/dialects'
import { expect, test } from 'vitest'
import { edgesOf, sourcesOf } from './sources.ts'

// What differs between dialects is a fact on the dialect or a row of a table in its folder, so that a new dialect edits no shared code.

/** Shared code that holds one of the words, and why. */
const allowed: ReadonlyMap<string, string> = new Map([
  ['dialects/protocol/wire.ts', 'names the dialects for editors to complete, and the one that the items are named after'],
  ['dialects/protocol/body-caps.ts', '`messages` is a field of a body'],
  ['dialects/common/gateway-fields.ts', '`messages` is a field of a body'],
  ['dialects/common/paid-tools.ts', 'one table of the fields that make a provider run a tool'],
  ['providers/compatible.ts', 'the default of `apis`'],
  [
    'core/routing/stored-fields.ts',
    'one table of the fields that open what a provider stores, so that the rule can be reviewed in one place',
  ],
])

const dialects = Object.keys(providerDialects).join('|')
const ownFolder = new RegExp(`^dialects/(${dialects})/`)

/** Folders of single dialects, and rows of providers, which state the dialects that they are served in. */
const isOwn = (path: string): boolean =>
  ownFolder.test(path) || (path.startsWith('providers/') && !/^providers\/(compatible|define-provider|vendor)\.ts$/.test(path))

const sources = ['dialects', 'providers', 'core', 'workspaces', 'gateway'].flatMap(name =>
  sourcesOf(name).map(source => ({ ...source, path: `${name}/${source.path}` })),
)

test('shared code does not name dialects', () => {
  const quoted = new RegExp(`'(${dialects})'`)
  const found = sources.filter(({ path, code }) => !isOwn(path) && quoted.test(code)).map(({ path }) => path)
  expect(found.toSorted()).toEqual([...allowed.keys()].toSorted())
})

/** The lists of dialects. */
const tables = new Set(['index.ts', 'providers.ts', 'clients/client-facts.ts', 'clients/client-loaders.ts', 'clients/index.ts'])

test('code outside the folder of a dialect does not import from it', () => {
  const folder = (path: string): string => ownFolder.exec(`dialects/${path}`)?.[0] ?? ''
  const inward = edgesOf(sourcesOf('dialects')).filter(
    ({ from, to }) => folder(to) !== '' && folder(from) !== folder(to) && !tables.has(from),
  )
  expect(inward).toEqual([])
})
