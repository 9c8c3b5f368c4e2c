import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

// Prints the source lines of each package as docs/architecture.md lists them: `src` without tests and what is generated at build.

const packages = resolve(import.meta.dirname, '../..')
const left: ReadonlySet<string> = new Set(['generated'])
const support: ReadonlySet<string> = new Set(['testing', 'bench'])

function linesBelow(folder: string): number {
  const entries = readdirSync(folder, { withFileTypes: true }).map(entry => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return left.has(entry.name) ? 0 : linesBelow(path)
    return entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts') ? readFileSync(path, 'utf8').split('\n').length - 1 : 0
  })
  return entries.reduce((sum, lines) => sum + lines, 0)
}

const counts = readdirSync(packages).map(name => ({ name, lines: linesBelow(join(packages, name, 'src')) }))
const sum = counts.filter(({ name }) => !support.has(name)).reduce((total, { lines }) => total + lines, 0)
for (const { name, lines } of counts) console.log(`${name} ${lines.toLocaleString('en-GB')}`)
console.log(`in all, without ${[...support].join(' and ')}: ${sum.toLocaleString('en-GB')}`)
