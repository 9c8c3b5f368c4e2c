import { execFile } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { buildAndPack } from '../build/pack-all.ts'
import { oneAtATime } from './one-at-a-time.ts'
import { serveTarballs } from './registry.ts'

const run = promisify(execFile)

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
  return { url, close, env: caches => ({ ...environmentWithoutWorkspace(caches), npm_config_registry: url }) }
}

/** The environment of package managers, without the settings of the one that runs this workspace, and with their caches in a folder. */
export const environmentWithoutWorkspace = (folder: string): Record<string, string> => ({
  ...Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (/^(npm|pnpm)_/i.test(name) || value === undefined ? [] : [[name, value]])),
  ),
  npm_config_cache: join(folder, 'npm-cache'),
  npm_config_store_dir: join(folder, 'pnpm-store'),
  npm_config_audit: 'false',
  BUN_INSTALL_CACHE_DIR: join(folder, 'bun-cache'),
  DENO_DIR: join(folder, 'deno'),
  DENO_NO_UPDATE_CHECK: '1',
  NEXT_TELEMETRY_DISABLED: '1',
  NO_COLOR: '1',
})
