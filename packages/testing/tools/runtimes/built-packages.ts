import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { globSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { oneAtATime } from './one-at-a-time.ts'

export const packages = resolve(import.meta.dirname, '../../..')

const names = [
  'dialects',
  'core',
  'providers',
  'workspaces',
  'gateway',
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

interface Manifest {
  readonly sideEffects: boolean | readonly string[]
  readonly exports: Readonly<Record<string, { readonly default: string }>>
}

export const manifestOf = (name: string): Manifest => JSON.parse(readFileSync(join(packages, name, 'package.json'), 'utf8'))

const cache = resolve(packages, '../node_modules/.cache/packages')

let folder: Promise<string> | undefined

/**
 * A folder with `core/`, `api/` and so on: each package as its own tsup.config.ts builds it, only without declarations, which are most
 * of the time and which nothing runs. It lies beside the packages' own `dist`, so that a test neither needs a build nor disturbs one,
 * and stays until a source changes.
 */
export function builtPackages(): Promise<string> {
  folder ??= oneAtATime('packages', buildUnlessBuilt)
  return folder
}

async function buildUnlessBuilt(): Promise<string> {
  const version = versionOfSources()
  mkdirSync(cache, { recursive: true })
  const kept = readdirSync(cache)
  if (!kept.includes(version)) {
    for (const old of kept) rmSync(join(cache, old), { recursive: true })
    const unfinished = join(cache, 'unfinished')
    await promisify(execFile)(process.execPath, ['--no-warnings', join(import.meta.dirname, 'build-packages.ts'), unfinished, ...names])
    for (const name of names) writeManifest(name, join(unfinished, name))
    renameSync(unfinished, join(cache, version))
  }
  return join(cache, version)
}

/** Bundlers look here for what they may leave out. */
function writeManifest(name: string, outDir: string): void {
  const { sideEffects } = manifestOf(name)
  writeFileSync(join(outDir, 'package.json'), JSON.stringify({ type: 'module', sideEffects }))
}

function versionOfSources(): string {
  const hash = createHash('sha256')
  for (const file of globSync(['*/src/**/*', '*/package.json', '*/tsup.config.ts', 'testing/tools/build/*.ts'], { cwd: packages }).sort())
    if (/\.(ts|json)$/.test(file) && !/\.test(-d)?\.ts$/.test(file)) hash.update(file).update(readFileSync(join(packages, file)))
  return hash.digest('hex').slice(0, 16)
}
