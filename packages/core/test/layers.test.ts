import { expect, test } from 'vitest'
import { edgesOf, packageNames, sourcesOf } from './sources.ts'

/** The map of the house. A room may import from itself and from the floors below. */
const floors: readonly (readonly string[])[] = [
  ['protocol'],
  ['errors', 'runtime', 'sse'],
  ['dialects', 'resources'],
  ['providers', 'access', 'routing', 'metering'],
  ['upstream'],
  ['request', 'management'],
  ['in-process'],
]

/** Who may import whom among the packages, and who may use what only Node has. */
const walls: Readonly<Record<string, { readonly packages: readonly string[] | 'all'; readonly node: boolean }>> = {
  storage: { packages: [], node: false },
  'storage-memory': { packages: ['storage'], node: false },
  'storage-sql': { packages: ['storage'], node: true },
  'storage-redis': { packages: ['storage'], node: true },
  router: { packages: ['storage'], node: false },
  core: { packages: ['storage', 'router'], node: false },
  catalog: { packages: ['core'], node: false },
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

const doors = /^(errors|providers|dialects|runtime|protocol)$/

const core = sourcesOf('core')
const edges = edgesOf(core)
const roomOf = (path: string): string => (path.includes('/') ? path.slice(0, path.indexOf('/')) : '')
const floorOf = (path: string): number => {
  const floor = floors.findIndex(rooms => rooms.includes(roomOf(path)))
  return floor === -1 ? floors.length : floor
}
const show = ({ from, to }: { from: string; to: string }): string => `${from} → ${to}`

test('every room stands on a floor', () => {
  expect(core.map(({ path }) => roomOf(path)).filter(room => room !== '' && !floors.flat().includes(room))).toEqual([])
})

test('imports point down', () => {
  expect(edges.filter(({ from, to }) => roomOf(from) !== roomOf(to) && floorOf(to) >= floorOf(from)).map(show)).toEqual([])
})

// What a quantile is stands where the bins are filled: two places would come to differ.
// And a value that a store may give at once is gone on with in one way.
test('storage is known to core by its types, by how its distributions are read, and by how its answers are awaited', () => {
  const shared = ['quantileOf', 'andThen', 'recover', 'allOf', 'allSettled', 'promised', 'isPromise']
  const values = /import (?!type\b)([^']*)'@signalbox\/storage(?:\/[\w-]+)?'/g
  const named = core.flatMap(({ code }) =>
    [...code.matchAll(values)].flatMap(([, names = '']) => names.match(/(?<!type )\b\w+(?=[,\s}])/g) ?? []),
  )
  expect(named.filter(name => !['from', 'type', ...shared].includes(name) && !/^[A-Z]/.test(name))).toEqual([])
})

test('dialects do not know each other', () => {
  const language = (path: string): string | undefined => /^dialects\/([\w-]+)\//.exec(path)?.[1]
  expect(edges.filter(({ from, to }) => language(from) && language(to) && language(from) !== language(to)).map(show)).toEqual([])
})

test('dialects and providers are written with what outsiders have too', () => {
  const open = (path: string): boolean => roomOf(path) === 'dialects' || roomOf(path) === 'providers'
  expect(edges.filter(({ from, to }) => open(from) && roomOf(to) !== roomOf(from) && !doors.test(roomOf(to))).map(show)).toEqual([])
})

test('every package has its walls', () => {
  expect(packageNames.filter(name => !(name in walls))).toEqual([])
})

test.each(packageNames)('%s imports only what stands below it', name => {
  const wall = walls[name]
  const sources = sourcesOf(name)
  const strangers = sources.flatMap(({ path, imports }) =>
    imports.filter(specifier => !isAllowed(specifier)).map(to => show({ from: path, to })),
  )
  const outside = edgesOf(sources).filter(({ to }) => to.startsWith('..'))
  expect([...strangers, ...outside.map(show)]).toEqual([])

  function isAllowed(specifier: string): boolean {
    if (specifier.startsWith('node:')) return wall?.node ?? false
    const [, neighbour] = /^@signalbox\/([^/]+)/.exec(specifier) ?? []
    if (neighbour === undefined || wall?.packages === 'all') return true
    return wall?.packages.includes(neighbour) ?? false
  }
})
