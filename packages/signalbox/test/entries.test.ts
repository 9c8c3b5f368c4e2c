import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { entriesOf, exportsOf, isValue } from './exported-names.ts'

// One package to install has what the packages below it have.

interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly engines: { readonly node: string }
  readonly exports?: Readonly<Record<string, { readonly 'signalbox-source': string } | string>>
  readonly publishConfig?: { readonly exports?: unknown }
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional: boolean }>>
}

const packages = resolve(import.meta.dirname, '../..')
const manifestOf = (folder: string): Manifest => JSON.parse(readFileSync(join(packages, folder, 'package.json'), 'utf8'))
const manifest = manifestOf('signalbox')
const others = readdirSync(packages)
  .filter(folder => folder !== 'signalbox')
  .map(manifestOf)
  .filter(({ private: isPrivate }) => !isPrivate)

/** Entries that have no sub-path here, each with the reason. */
const left: Readonly<Record<string, string>> = {
  '@signalbox/cli/main': 'the command',
  '@signalbox/api': 'for writers of adapters; `signalbox/fetch` and `signalbox/node` have its options',
  '@signalbox/api/routes': 'for generators of documents',
  '@signalbox/ai-sdk/dialect': 'for the API',
  '@signalbox/catalog/schema': 'for the generator of catalogs',
  '@signalbox/catalog/update': 'for the command `signalbox catalog update`',
  '@signalbox/dialects/clients': 'for gateways',
  '@signalbox/dialects/common': 'for the engine',
  '@signalbox/dialects/providers': 'for providers; `signalbox/dialects` has them',
  '@signalbox/dialects/sse': 'for the API',
  '@signalbox/providers/define-provider': 'for `signalbox/custom`',
  '@signalbox/core/metering': 'for gateways',
  '@signalbox/core/request/compaction': 'for gateways',
  '@signalbox/core/routing': 'for gateways',
  '@signalbox/core/upstream': 'for gateways',
  '@signalbox/router/sync': 'for gateways',
}
/** Packages that writers of plug-ins install beside `signalbox`. */
const apart = /^@signalbox\/(testing(\/|$)|storage\/(?!compose$))/

const source = (path: string): string => readFileSync(join(packages, 'signalbox/src', path), 'utf8')
const sources = readdirSync(join(packages, 'signalbox/src')).map(path => ({ name: path.replace('.ts', ''), text: source(path) }))
const forwarded = new Set(
  sources.flatMap(({ text }) =>
    [...text.matchAll(/^export .* from '(@signalbox\/[^']+)'|^\} from '([^']+)'/gm)].map(found => found[1] ?? found[2]),
  ),
)

test('every entry of a package below is a sub-path, or left out for a reason', () => {
  const entries = others.flatMap(({ name, exports = {} }) => Object.keys(exports).map(path => name + path.slice(1)))
  expect(entries.length).toBeGreaterThan(35)
  expect(entries.filter(entry => !forwarded.has(entry) && !(entry in left) && !apart.test(entry))).toEqual([])
  expect(Object.keys(left).filter(entry => !entries.includes(entry) || forwarded.has(entry))).toEqual([])
})

test('what is published has every entry of the sources, without the sources', () => {
  const withoutSources = (exports: Manifest['exports'] = {}): unknown =>
    Object.fromEntries(
      Object.entries(exports).map(([path, entry]) => {
        if (typeof entry === 'string') return [path, entry]
        const { 'signalbox-source': _, ...published } = entry
        return [path, published]
      }),
    )
  for (const { name, exports, publishConfig } of [manifest, ...others])
    expect({ name, exports: publishConfig?.exports ?? {} }).toEqual({ name, exports: withoutSources(exports) })
})

test('every file is a sub-path, under its own name', () => {
  const paths = Object.entries(manifest.exports ?? {}).flatMap(([path, entry]) =>
    typeof entry === 'string' ? [] : [[path, entry['signalbox-source']]],
  )
  const files = sources.filter(({ name }) => name !== 'bin').map(({ name }) => [name === 'index' ? '.' : `./${name}`, `./src/${name}.ts`])
  expect(paths.sort()).toEqual(files.sort())
})

test('the main entry has the values of the engine, and a storage without dependencies; definitions of providers have an entry of their own', () => {
  const valuesOf = (folder: string, path = '.'): readonly string[] =>
    [...exportsOf(entriesOf(folder).get(path) ?? '')].flatMap(([name, definition]) => (isValue(definition) ? [name] : [])).sort()
  const own = [...valuesOf('signalbox'), ...valuesOf('signalbox', './custom')]
  expect(own.sort()).toEqual([...valuesOf('gateway'), 'memoryStorage'].sort())
})

test('database drivers are installed by the apps that use them', () => {
  const drivers = ['@libsql/client', 'ioredis', 'pg']
  for (const { dependencies = {} } of [manifest, ...others])
    expect(Object.keys(dependencies).filter(name => drivers.includes(name))).toEqual([])
  expect(Object.keys(manifest.peerDependencies ?? {}).filter(name => manifest.peerDependenciesMeta?.[name]?.optional)).toEqual(drivers)
})

test('all packages have one version, and require the same Node version, which the command checks first', () => {
  expect(new Set([manifest, ...others].map(({ version }) => version)).size).toBe(1)
  expect(new Set([manifest, ...others].map(({ engines }) => engines.node))).toEqual(new Set(['>=22.19']))
  expect(source('bin.ts')).toContain('major === 22 && minor >= 19')
})
