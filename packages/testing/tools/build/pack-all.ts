import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../../../..')

/** The name of each package that is published. */
export const publishedPackages = (): readonly string[] =>
  readdirSync(join(root, 'packages'))
    .map((folder): { readonly name: string; readonly private?: boolean } =>
      JSON.parse(readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8')),
    )
    .flatMap(manifest => (manifest.private ? [] : [manifest.name]))

/** Builds every package that is published and packs it into `folder`, whose earlier tarballs are removed. Rejects with the output of a build that failed. */
export async function buildAndPack(folder: string): Promise<void> {
  await pnpm('build')
  mkdirSync(folder, { recursive: true })
  for (const file of readdirSync(folder)) if (file.endsWith('.tgz')) rmSync(join(folder, file))
  const filters = publishedPackages().map(name => `--filter=${name}`)
  await pnpm(...filters, 'pack', '--pack-destination', folder)
}

async function pnpm(...args: readonly string[]): Promise<void> {
  await run('npx', ['-y', 'pnpm@12', ...args], { cwd: root, maxBuffer: 64e6 }).catch(({ stdout, stderr }) => {
    throw new Error(`\`pnpm ${args.join(' ')}\` failed:\n${stdout}${stderr}`)
  })
}
