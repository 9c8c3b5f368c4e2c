import { describe, expect, test } from 'vitest'
import { edgesOf, packageNames, sourcesOf } from './sources.ts'

/** Directories of packages, the lowest layer first. A directory imports from itself and from lower layers; files beside them, from all. */
const layers: Readonly<Record<string, readonly (readonly string[])[]>> = {
  dialects: [['protocol'], ['errors', 'sse'], ['common'], ['bedrock', 'chat', 'gemini', 'messages', 'responses'], ['clients']],
  core: [['runtime'], ['resources'], ['access', 'routing', 'metering'], ['upstream'], ['request']],
  gateway: [['in-process']],
}

/** Which packages may import which, and which may use Node’s modules. */
const rules: Readonly<Record<string, { readonly packages: readonly string[] | 'all'; readonly node: boolean }>> = {
  storage: { packages: [], node: false },
  'storage-memory': { packages: ['storage'], node: false },
  'storage-sql': { packages: ['storage'], node: true },
  'storage-redis': { packages: ['storage'], node: true },
  router: { packages: ['storage'], node: false },
  dialects: { packages: [], node: false },
  core: { packages: ['dialects', 'router', 'storage'], node: false },
  providers: { packages: ['core', 'dialects', 'storage'], node: false },
  workspaces: { packages: ['core', 'dialects', 'router', 'storage'], node: false },
  gateway: { packages: ['workspaces', 'providers', 'core', 'dialects', 'router', 'storage'], node: false },
  catalog: { packages: ['dialects', 'storage'], node: false },
  'ai-sdk': { packages: ['gateway', 'core', 'dialects'], node: false },
  api: { packages: ['ai-sdk', 'gateway', 'workspaces', 'core', 'dialects', 'storage'], node: false },
  client: { packages: [], node: false },
  'fetch-handler': { packages: ['api', 'gateway', 'dialects', 'storage'], node: false },
  'node-http': { packages: ['api', 'gateway', 'core', 'dialects', 'storage'], node: true },
  testing: {
    packages: ['gateway', 'workspaces', 'providers', 'core', 'dialects', 'api', 'router', 'storage', 'storage-memory'],
    node: true,
  },
  cli: { packages: 'all', node: true },
  signalbox: { packages: 'all', node: true },
  bench: { packages: 'all', node: true },
}

const directoryOf = (path: string): string => (path.includes('/') ? path.slice(0, path.indexOf('/')) : '')
const show = ({ from, to }: { from: string; to: string }): string => `${from} → ${to}`

describe.each(Object.keys(layers))('in %s', name => {
  const sources = sourcesOf(name)
  const layerOf = (path: string): number => {
    const layer = layers[name]?.findIndex(directories => directories.includes(directoryOf(path))) ?? -1
    return layer === -1 ? Number.POSITIVE_INFINITY : layer
  }

  test('every directory belongs to a layer', () => {
    const directories = new Set(sources.map(({ path }) => directoryOf(path)))
    expect([...directories].filter(directory => directory !== '').toSorted()).toEqual(layers[name]?.flat().toSorted())
  })

  test('imports point to lower layers', () => {
    const upward = edgesOf(sources).filter(
      ({ from, to }) => directoryOf(from) !== directoryOf(to) && directoryOf(from) !== '' && layerOf(to) >= layerOf(from),
    )
    expect(upward.map(show)).toEqual([])
  })
})

// Quantiles are computed where the bins are filled, values that a store may return at once are continued in one way, and options of
// storages and of the gateway are checked by one table.
test('core uses the types of storage, its admission, its reading of distributions and awaited values, its sizes of owners, and its option checks', () => {
  const shared = [
    'admitTo',
    'quantileOf',
    'andThen',
    'recover',
    'allOf',
    'allSettled',
    'promised',
    'isPromise',
    'similarNames',
    'createOwnerSizes',
    'checkOptionTable',
    'describeValue',
    'checkUnquoted',
    'isQuoted',
    'inQuotes',
    'inSource',
  ]
  const values = /import (?!type\b)([^']*)'@signalbox\/storage(?:\/[\w-]+)?'/g
  const named = sourcesOf('core').flatMap(({ code }) =>
    [...code.matchAll(values)].flatMap(([, names = '']) => names.match(/(?<!type )\b\w+(?=[,\s}])/g) ?? []),
  )
  expect(named.filter(name => !['from', 'type', ...shared].includes(name) && !/^[A-Z]/.test(name))).toEqual([])
})

test('every package has its rules', () => {
  expect(packageNames.filter(name => !(name in rules))).toEqual([])
})

test.each(packageNames)('%s imports only from lower layers', name => {
  const rule = rules[name]
  const sources = sourcesOf(name)
  const forbidden = sources.flatMap(({ path, imports }) =>
    imports.filter(specifier => !isAllowed(specifier)).map(to => show({ from: path, to })),
  )
  const outside = edgesOf(sources).filter(({ to }) => to.startsWith('..'))
  expect([...forbidden, ...outside.map(show)]).toEqual([])

  function isAllowed(specifier: string): boolean {
    if (specifier.startsWith('node:')) return rule?.node ?? false
    const [, other] = /^@signalbox\/([^/]+)/.exec(specifier) ?? []
    if (other === undefined || rule?.packages === 'all') return true
    return rule?.packages.includes(other) ?? false
  }
})
