import { expect, test } from 'vitest'
import { providerDialects } from '../src/dialects/index.ts'
import { edgesOf, sourcesOf } from './sources.ts'

// What differs between dialects is a fact on the dialect or a row of a table in its folder, so that a new dialect edits no shared code.

/** Shared code that holds one of the words, and why. */
const allowed: ReadonlyMap<string, string> = new Map([
  ['protocol/wire.ts', 'names the dialects for editors to complete, and the one that the items are named after'],
  ['protocol/body-caps.ts', '`messages` is a field of a body'],
  ['dialects/apply-quirks.ts', '`messages` is a field of a body'],
  ['providers/compatible.ts', 'the default of `apis`'],
  ['dialects/paid-tools.ts', 'one table of the fields that make a provider run a tool'],
  ['routing/stored-fields.ts', 'one table of the fields that open what a provider stores, so that the rule can be reviewed in one place'],
])

/** Folders of single dialects, and rows of providers, which state the dialects that they are served in. */
const isOwn = (path: string): boolean =>
  /^dialects\/[\w-]+\//.test(path) || (path.startsWith('providers/') && !/^providers\/(compatible|define-provider|vendor)\.ts$/.test(path))

const core = sourcesOf('core')
const quoted = new RegExp(`'(${Object.keys(providerDialects).join('|')})'`)

test('shared code does not name dialects', () => {
  const found = core.filter(({ path, code }) => !isOwn(path) && quoted.test(code)).map(({ path }) => path)
  expect(found.toSorted()).toEqual([...allowed.keys()].toSorted())
})

/** The lists of dialects. */
const tables = new Set(['dialects/index.ts', 'dialects/providers.ts', 'dialects/client-loaders.ts'])

test('code outside the folder of a dialect does not import from it', () => {
  const folder = (path: string): string => /^dialects\/[\w-]+\//.exec(path)?.[0] ?? ''
  const inward = edgesOf(core).filter(
    ({ from, to }) =>
      folder(to) !== '' &&
      folder(from) !== folder(to) &&
      !tables.has(from) &&
      // A provider brings the dialects that it is served in, and no other.
      !(from.startsWith('providers/') && to.endsWith('/provider.ts')),
  )
  expect(inward).toEqual([])
})
