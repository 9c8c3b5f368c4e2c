import { expect, test } from 'vitest'
import { edgesOf, packageNames, sourcesOf } from './sources.ts'

/** Directories of core, the lowest layer first. A directory imports from itself and from lower layers. */
const layers: readonly (readonly string[])[] = [
  ['protocol'],
  ['errors', 'runtime', 'sse'],
  ['dialects', 'resources'],
  ['providers', 'access', 'routing', 'metering'],
  ['upstream'],
  ['request', 'management'],
  ['in-process'],
]

/** Which packages may import which, and which may use Node’s modules. */
const rules: Readonly<Record<string, { readonly packages: readonly string[] | 'all'; readonly node: boolean }>> = {
  storage: { packages: [], node: false },
  'storage-memory': { packages: ['storage'], node: false },
  'storage-sql': { packages: ['storage'], node: true },
  'storage-redis': { packages: ['storage'], node: true },
  router: { packages: ['storage'], node: false },
  core: { packages: ['storage', 'router'], node: false },
  catalog: { packages: ['core', 'storage'], node: false },
  'ai-sdk': { packages: ['core'], node: false },
  api: { packages: ['core', 'storage', 'ai-sdk'], node: false },
  client: { packages: [], node: false },
  'fetch-handler': { packages: ['api', 'core'], node: false },
  'node-http': { packages: ['api', 'core'], node: true },
  testing: { packages: ['core', 'api', 'router', 'storage', 'storage-memory'], node: true },
  cli: { packages: 'all', node: true },
  signalbox: { packages: 'all', node: true },
  bench: { packages: 'all', node: true },
}

/** What dialects and providers import from: plug-ins can too. */
const publicDirectories = /^(errors|providers|dialects|runtime|protocol)$/

const core = sourcesOf('core')
const edges = edgesOf(core)
const directoryOf = (path: string): string => (path.includes('/') ? path.slice(0, path.indexOf('/')) : '')
const layerOf = (path: string): number => {
  const layer = layers.findIndex(directories => directories.includes(directoryOf(path)))
  return layer === -1 ? layers.length : layer
}
const show = ({ from, to }: { from: string; to: string }): string => `${from} → ${to}`

test('every directory belongs to a layer', () => {
  expect(core.map(({ path }) => directoryOf(path)).filter(directory => directory !== '' && !layers.flat().includes(directory))).toEqual([])
})

test('imports point to lower layers', () => {
  expect(edges.filter(({ from, to }) => directoryOf(from) !== directoryOf(to) && layerOf(to) >= layerOf(from)).map(show)).toEqual([])
})

// Quantiles are computed where the bins are filled, values that a store may return at once are continued in one way, and options of
// storages and of the gateway are checked by one table.
test('core uses the types of storage, its reading of distributions and awaited values, and its option checks', () => {
  const shared = [
    'quantileOf',
    'andThen',
    'recover',
    'allOf',
    'allSettled',
    'promised',
    'isPromise',
    'similarNames',
    'checkOptionTable',
    'describeValue',
    'checkUnquoted',
    'isQuoted',
    'inQuotes',
    'inSource',
  ]
  const values = /import (?!type\b)([^']*)'@signalbox\/storage(?:\/[\w-]+)?'/g
  const named = core.flatMap(({ code }) =>
    [...code.matchAll(values)].flatMap(([, names = '']) => names.match(/(?<!type )\b\w+(?=[,\s}])/g) ?? []),
  )
  expect(named.filter(name => !['from', 'type', ...shared].includes(name) && !/^[A-Z]/.test(name))).toEqual([])
})

test('dialects do not import each other', () => {
  const dialectOf = (path: string): string | undefined => /^dialects\/([\w-]+)\//.exec(path)?.[1]
  expect(edges.filter(({ from, to }) => dialectOf(from) && dialectOf(to) && dialectOf(from) !== dialectOf(to)).map(show)).toEqual([])
})

test('dialects and providers import only what plug-ins can import too', () => {
  const isPlugin = (path: string): boolean => directoryOf(path) === 'dialects' || directoryOf(path) === 'providers'
  expect(
    edges
      .filter(({ from, to }) => isPlugin(from) && directoryOf(to) !== directoryOf(from) && !publicDirectories.test(directoryOf(to)))
      .map(show),
  ).toEqual([])
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
