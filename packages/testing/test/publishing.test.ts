import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'

// What a reader of a registry sees of each package. `pnpm packs` looks at the tarballs.

const root = resolve(import.meta.dirname, '../../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

interface Manifest {
  readonly name: string
  readonly private?: boolean
  readonly description?: string
  readonly keywords?: readonly string[]
  readonly license?: string
  readonly repository?: { readonly type: string; readonly url: string; readonly directory: string }
  readonly files?: readonly string[]
  readonly exports?: Readonly<Record<string, { readonly 'signalbox-source': string }>>
}

const packages = readdirSync(join(root, 'packages'))
  .map(folder => ({ folder, manifest: JSON.parse(read(`packages/${folder}/package.json`)) as Manifest }))
  .filter(({ manifest }) => !manifest.private)

test('every package has a description, a licence and a repository', () => {
  expect(packages.length).toBeGreaterThan(13)
  for (const { folder, manifest } of packages) {
    expect(manifest).toMatchObject({ description: expect.stringMatching(/\.$/), license: 'MIT', files: expect.arrayContaining(['dist']) })
    expect(manifest.keywords?.length).toBeGreaterThan(4)
    expect(manifest.repository).toMatchObject({ type: 'git', directory: `packages/${folder}` })
    expect(read(`packages/${folder}/README.md`)).toMatch(new RegExp(`^# ${manifest.name}\n\n\\S`))
  }
  expect(new Set(packages.map(({ manifest }) => manifest.repository?.url)).size).toBe(1)
})

test('names imported in the READMEs of packages are exported', () => {
  const entries = new Map(
    packages.flatMap(({ folder, manifest }) =>
      Object.entries(manifest.exports ?? {}).map(([path, entry]) => [
        `${manifest.name}${path.slice(1)}`,
        `packages/${folder}/${entry['signalbox-source']}`,
      ]),
    ),
  )
  const imports = packages.flatMap(({ folder }) =>
    [...read(`packages/${folder}/README.md`).matchAll(/^import (?:type )?\{ ([^}]+) \} from '([^']+)'/gm)].flatMap(
      ([, names = '', from = '']) => (from === 'ai' ? [] : names.split(', ').map(name => ({ name, from }))),
    ),
  )
  expect(imports.length).toBeGreaterThan(15)
  const missing = imports.filter(({ name, from }) => {
    const entry = entries.get(from)
    return entry === undefined || !(new RegExp(`\\b${name}\\b`).test(read(entry)) || read(entry).includes('export *'))
  })
  expect(missing).toEqual([])
})

test('the package manager is pinned by version and hash, and workflows run the commands of this repository', () => {
  const { packageManager, scripts } = JSON.parse(read('package.json'))
  expect(packageManager).toMatch(/^pnpm@\d+\.\d+\.\d+\+sha512\.[0-9a-f]{128}$/)
  const workflows = readdirSync(join(root, '.github/workflows')).map(name => read(`.github/workflows/${name}`))
  const commands = workflows.flatMap(text => [...text.matchAll(/pnpm@12 (?:--filter \S+ )?([\w-]+)/g)].map(([, name = '']) => name))
  expect(commands.length).toBeGreaterThan(4)
  expect(commands.filter(name => !['install', 'sbom'].includes(name) && scripts[name] === undefined)).toEqual([])
  for (const [, path = ''] of workflows.join('\n').matchAll(/run: (?:node )?(\.?[\w-]+\/[\w./-]+)/g))
    expect(existsSync(join(root, path))).toBe(true)
  expect(workflows.join('\n')).toContain('.ci/run')
})

test('all packages get their next version together', () => {
  const { fixed } = JSON.parse(read('.changeset/config.json'))
  expect(fixed).toEqual([['signalbox', '@signalbox/*']])
})
