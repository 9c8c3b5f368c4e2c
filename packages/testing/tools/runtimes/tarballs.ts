import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { oneAtATime } from './one-at-a-time.ts'
import { serveTarballs } from './registry.ts'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../../../..')

/** The packages as they would be published, on a registry of 127.0.0.1. */
export interface Tarballs {
  readonly url: string
  /**
   * The environment of package managers that install from it, with their caches in `folder`. It has nothing of this workspace: its
   * package manager's settings would reach into the folder.
   */
  env(folder: string): Record<string, string>
  close(): void
}

/** Builds and packs every package that is published, into `folder`. */
export async function makeTarballs(folder: string): Promise<Tarballs> {
  mkdirSync(folder)
  await oneAtATime('tarballs', () => buildAndPack(folder))
  const { stdout } = await run('npm', ['config', 'get', 'registry'], { cwd: folder })
  const { url, close } = await serveTarballs(folder, stdout.trim())
  return { url, close, env: caches => ({ ...ownEnv(), npm_config_registry: url, ...cachesIn(caches) }) }
}

async function buildAndPack(folder: string): Promise<void> {
  await run('npx', ['-y', 'pnpm@12', 'build'], { cwd: root, maxBuffer: 64e6 })
  for (const name of readdirSync(join(root, 'packages'))) {
    const { private: isPrivate } = JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'))
    if (!isPrivate) await run('npx', ['-y', 'pnpm@12', 'pack', '--pack-destination', folder], { cwd: join(root, 'packages', name) })
  }
}

const ownEnv = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (/^(npm|pnpm)_/i.test(name) || value === undefined ? [] : [[name, value]])),
  )

const cachesIn = (folder: string): Record<string, string> => ({
  npm_config_cache: join(folder, 'npm-cache'),
  npm_config_store_dir: join(folder, 'pnpm-store'),
  npm_config_audit: 'false',
  BUN_INSTALL_CACHE_DIR: join(folder, 'bun-cache'),
  DENO_DIR: join(folder, 'deno'),
  DENO_NO_UPDATE_CHECK: '1',
  NEXT_TELEMETRY_DISABLED: '1',
  NO_COLOR: '1',
})
