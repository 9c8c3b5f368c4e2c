import { readFileSync } from 'node:fs'
import { providerDialects } from '@signalbox/dialects'
import { withWireNames } from '@signalbox/dialects/protocol'
import { catalog } from '../src/index.ts'
import { type Checked, checked } from './findings.ts'

// Reports errors and warnings of a catalog: the built-in one, or a file. Exits with 1 if it cannot be used. Usage: node
// --conditions=signalbox-source packages/catalog/tools/check.ts [FILE]

const [file] = process.argv.slice(2)
const { summary, errors, warnings } = lookAt(file)
process.stderr.write(errors.map(error => `error: ${error}\n`).join(''))
const counts = `${errors.length} errors, ${warnings.length} warnings`
process.stdout.write(
  [...warnings.map(warning => `warning: ${warning}`), `${file ?? 'built-in catalog'}: ${summary}; ${counts}`, ''].join('\n'),
)
if (errors.length > 0) process.exitCode = 1

function lookAt(path: string | undefined): Checked {
  const terms = { today: new Date().toISOString().slice(0, 10), dialects: Object.keys(providerDialects) }
  if (path === undefined) return checked(withWireNames(catalog()), terms)
  try {
    return checked(JSON.parse(readFileSync(path, 'utf8')), terms)
  } catch (error) {
    return { summary: 'nothing read', errors: [(error as Error).message], warnings: [] }
  }
}
