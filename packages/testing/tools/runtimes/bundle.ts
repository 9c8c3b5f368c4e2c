import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { type BuildOptions, build, type Plugin } from 'esbuild'

const packages = resolve(import.meta.dirname, '../../..')
const built = [
  'core',
  'ai-sdk',
  'api',
  'fetch-handler',
  'node-http',
  'router',
  'signalbox',
  'storage',
  'storage-memory',
  'storage-sql',
] as const

/**
 * `memory.mjs`, `sqlite.mjs` and `worker.mjs` of this folder, each one file over the packages as they are published: each
 * package is built by its own tsup.config.ts, only without declarations (they are most of the time, and nothing runs them)
 * and into `folder`, so that a test neither needs a build nor disturbs one. A bundle of the sources would miss what a build
 * can break: its platform, its target, what stays outside.
 */
export async function bundleInto(folder: string): Promise<void> {
  await buildInto(folder)
  await build({ ...optionsFor(folder), entryPoints: [entry('memory'), entry('sqlite')], platform: 'neutral', external: ['node:*'] })
  await build({ ...optionsFor(folder), ...forWorkers, entryPoints: [entry('worker')] })
}

/** One text of code → `<name>.mjs` in the folder, over the packages that were built into it before. */
export async function bundleText(folder: string, name: string, { code, ...over }: { readonly code: string } & BuildOptions): Promise<void> {
  const stdin = { contents: code, resolveDir: import.meta.dirname, loader: 'ts' as const, sourcefile: `${name}.ts` }
  await build({ ...optionsFor(folder), platform: 'neutral', external: ['node:*'], entryNames: name, ...over, stdin })
}

/** Files of an app → `<name>.mjs` in the folder, over the packages that were built into it before. The last file is the entry. */
export async function bundleFiles(
  folder: string,
  name: string,
  { files, ...over }: { readonly files: Readonly<Record<string, string>> } & BuildOptions,
): Promise<void> {
  const app = join(folder, `${name}-app`)
  for (const [file, code] of Object.entries(files)) {
    mkdirSync(dirname(join(app, file)), { recursive: true })
    writeFileSync(join(app, file), code)
  }
  const entryPoints = { [name]: join(app, Object.keys(files).at(-1) ?? '') }
  await build({ ...optionsFor(folder), platform: 'neutral', external: ['node:*'], alias: { '@': app }, ...over, entryPoints })
}

/** As the tools of Workers bundle: nothing may be left that only Node has. */
export const forWorkers = { platform: 'browser', conditions: ['workerd', 'worker', 'browser'], external: [] } satisfies BuildOptions

const optionsFor = (folder: string) =>
  ({
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    mainFields: ['module', 'main'],
    target: 'es2023',
    logLevel: 'error',
    plugins: [asPublished(folder)],
  }) satisfies BuildOptions

export async function buildInto(folder: string): Promise<void> {
  const tsup = join(dirname(createRequire(import.meta.url).resolve('tsup')), 'cli-default.js')
  await Promise.all(
    built.map(async name => {
      const cwd = join(packages, name)
      await promisify(execFile)(process.execPath, [tsup, '--no-dts', '--silent', '--out-dir', join(folder, name)], { cwd })
      // Bundlers look here for what they may leave out.
      const { sideEffects } = manifestOf(name)
      writeFileSync(join(folder, name, 'package.json'), JSON.stringify({ type: 'module', sideEffects }))
    }),
  )
}

const entry = (name: string): string => join(import.meta.dirname, `${name}.ts`)

const manifestOf = (name: string): Manifest => JSON.parse(readFileSync(join(packages, name, 'package.json'), 'utf8'))

interface Manifest {
  readonly sideEffects: boolean | readonly string[]
  readonly exports: Readonly<Record<string, { readonly default: string }>>
}

/** `@signalbox/core/errors` → the file that was built for it; what a built file imports is looked up where its package would. */
const asPublished = (folder: string): Plugin => ({
  name: 'as-published',
  setup({ onResolve, resolve: look }) {
    onResolve({ filter: /^(@signalbox\/|signalbox(\/|$))/ }, ({ path }) => {
      const [, name = '', door = ''] = /^(?:@signalbox\/)?([\w-]+)(\/.*)?$/.exec(path) ?? []
      const file = manifestOf(name).exports[`.${door}`]?.default
      if (file === undefined) return { errors: [{ text: `${path} has no door in package.json.` }] }
      return { path: join(folder, name, file.replace('./dist/', '')) }
    })
    onResolve({ filter: /^[^.]/ }, ({ path, importer, kind }) => {
      if (!importer.startsWith(folder) || path.startsWith('node:')) return undefined
      const [name = ''] = importer.slice(folder.length + 1).split('/')
      if (!built.some(each => each === name)) return undefined
      return look(path, { kind, resolveDir: join(packages, name) })
    })
  },
})
