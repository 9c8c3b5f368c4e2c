import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

// Packs every public package as it would be published, and has publint and attw look at the tarball.

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../../..')
const tarballs = mkdtempSync(join(tmpdir(), 'packs-'))

const complaints: string[] = []
for (const dir of readdirSync(join(root, 'packages'))) {
  const manifest = JSON.parse(readFileSync(join(root, 'packages', dir, 'package.json'), 'utf8'))
  if (manifest.private) continue
  const tarball = join(tarballs, `${manifest.name.replace('@', '').replace('/', '-')}-${manifest.version}.tgz`)
  await run('pnpm', ['pack', '--pack-destination', tarballs], { cwd: join(root, 'packages', dir) })
  await ask('publint', [tarball, '--strict'])
  // A package that is only a command has no types to resolve.
  if (manifest.exports) await ask('attw', [tarball, '--profile', 'esm-only', '--no-color', '--no-emoji'])
  console.log(`packed ${manifest.name}`)
}
rmSync(tarballs, { recursive: true })

if (complaints.length > 0) {
  console.error(complaints.join('\n'))
  process.exitCode = 1
}

async function ask(tool: string, args: readonly string[]): Promise<void> {
  try {
    await run(join(root, 'node_modules/.bin', tool), args, { cwd: root })
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string }
    complaints.push(`${tool} ${args[0]}\n${stdout ?? ''}${stderr ?? String(error)}`)
  }
}
