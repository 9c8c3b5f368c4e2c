import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import { promisify } from 'node:util'

// Packs every public package as it would be published, and has publint and attw look at the tarball; then looks at its files itself.

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
  await checkFiles(manifest.name, tarball)
  console.log(`packed ${manifest.name}`)
}
rmSync(tarballs, { recursive: true })

if (complaints.length > 0) {
  console.error(complaints.join('\n'))
  process.exitCode = 1
}

/** A README, the licence, a source map for each module, no path of this machine, and a notice for each package whose code is in it. */
async function checkFiles(name: string, tarball: string): Promise<void> {
  const folder = mkdtempSync(join(tarballs, 'files-'))
  await run('tar', ['-xzf', tarball, '-C', folder])
  const files = readdirSync(join(folder, 'package'), { recursive: true, encoding: 'utf8' })
  for (const file of ['README.md', 'LICENSE', ...files.filter(path => path.endsWith('.js')).map(path => `${path}.map`)])
    if (!files.includes(file)) complaints.push(`${name} has no ${file}.`)
  const notices = files.includes('THIRD_PARTY_NOTICES.md') ? readFileSync(join(folder, 'package/THIRD_PARTY_NOTICES.md'), 'utf8') : ''
  for (const file of files.filter(path => path.endsWith('.map'))) {
    const { sources }: { readonly sources: readonly string[] } = JSON.parse(readFileSync(join(folder, 'package', file), 'utf8'))
    for (const source of sources) if (isAbsolute(source)) complaints.push(`${name}: ${file} names ${source}.`)
    for (const source of sources) {
      const [, other] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(source) ?? []
      if (other !== undefined && !notices.includes(`\n## ${other}\n`)) complaints.push(`${name} has code of ${source} without its notice.`)
    }
  }
}

async function ask(tool: string, args: readonly string[]): Promise<void> {
  try {
    await run(join(root, 'node_modules/.bin', tool), args, { cwd: root })
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string }
    complaints.push(`${tool} ${args[0]}\n${stdout ?? ''}${stderr ?? String(error)}`)
  }
}
