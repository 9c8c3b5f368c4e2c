import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type BuildOptions, build, type Plugin } from 'esbuild'
import { builtPackages, manifestOf, packages } from './built-packages.ts'

/**
 * `memory.mjs`, `sqlite.mjs` and `worker.mjs` of this folder, each one file over the packages as they are published. A bundle of
 * the sources would miss what a build can break: its platform, its target, what stays outside.
 */
export async function bundleInto(folder: string): Promise<void> {
  const options = await optionsFor(folder)
  await build({ ...options, entryPoints: [entry('memory'), entry('sqlite')], platform: 'neutral', external: ['node:*'] })
  await build({ ...options, ...forWorkers, entryPoints: [entry('worker')] })
}

/** One text of code → `<name>.mjs` in the folder. */
export async function bundleText(folder: string, name: string, { code, ...over }: { readonly code: string } & BuildOptions): Promise<void> {
  const stdin = { contents: code, resolveDir: import.meta.dirname, loader: 'ts' as const, sourcefile: `${name}.ts` }
  await build({ ...(await optionsFor(folder)), platform: 'neutral', external: ['node:*'], entryNames: name, ...over, stdin })
}

/** Files of an app → `<name>.mjs` in the folder. The last file is the entry. */
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
  await build({ ...(await optionsFor(folder)), platform: 'neutral', external: ['node:*'], alias: { '@': app }, ...over, entryPoints })
}

/** As the tools of Workers bundle: nothing may be left that only Node has. */
export const forWorkers = { platform: 'browser', conditions: ['workerd', 'worker', 'browser'], external: [] } satisfies BuildOptions

const optionsFor = async (folder: string) =>
  ({
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    mainFields: ['module', 'main'],
    target: 'es2023',
    logLevel: 'error',
    plugins: [asPublished(await builtPackages())],
  }) satisfies BuildOptions

const entry = (name: string): string => join(import.meta.dirname, `${name}.ts`)

/** `@signalbox/dialects/errors` → the file that was built for it; what a built file imports is looked up where its package would. */
const asPublished = (built: string): Plugin => ({
  name: 'as-published',
  setup({ onResolve, resolve: look }) {
    onResolve({ filter: /^(@signalbox\/|signalbox(\/|$))/ }, ({ path }) => {
      const [, name = '', door = ''] = /^(?:@signalbox\/)?([\w-]+)(\/.*)?$/.exec(path) ?? []
      const file = manifestOf(name).exports[`.${door}`]?.default
      if (file === undefined) return { errors: [{ text: `${path} has no door in package.json.` }] }
      return { path: join(built, name, file.replace('./dist/', '')) }
    })
    onResolve({ filter: /^[^.]/ }, ({ path, importer, kind }) => {
      if (!importer.startsWith(built) || path.startsWith('node:')) return undefined
      const [name = ''] = importer.slice(built.length + 1).split('/')
      return look(path, { kind, resolveDir: join(packages, name) })
    })
  },
})
