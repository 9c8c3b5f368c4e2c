import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../../../..')

/** The folder of each package that is published. */
export const publishedPackages = (): readonly string[] =>
  readdirSync(join(root, 'packages'))
    .map(name => join(root, 'packages', name))
    .filter(folder => !JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).private)

/** Builds every package that is published and packs it into `folder`, whose earlier tarballs are removed. Rejects with the output of a build that failed. */
export async function buildAndPack(folder: string): Promise<void> {
  await pnpm('build')
  mkdirSync(folder, { recursive: true })
  for (const file of readdirSync(folder)) if (file.endsWith('.tgz')) rmSync(join(folder, file))
  for (const cwd of publishedPackages()) await pnpm('pack', ['--pack-destination', folder], cwd)
}

async function pnpm(command: string, args: readonly string[] = [], cwd = root): Promise<void> {
  await run('npx', ['-y', 'pnpm@12', command, ...args], { cwd, maxBuffer: 64e6 }).catch(({ stdout, stderr }) => {
    throw new Error(`\`pnpm ${command}\` failed in ${cwd}:\n${stdout}${stderr}`)
  })
}
