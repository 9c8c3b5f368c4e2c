import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { catalog } from '../src/index.ts'
import { readOverrides } from '../src/schema/index.ts'
import { applyCorrections } from '../src/update/index.ts'
import { writeFacts } from './pack.ts'

// Applies corrections.json to the built-in catalog and writes src/data/models-and-prices.ts. Idempotent.

const file = resolve(import.meta.dirname, '../corrections.json')
const { catalog: corrected, warnings } = applyCorrections(catalog(), readOverrides(JSON.parse(readFileSync(file, 'utf8'))))
process.stderr.write(warnings.map(warning => `warning: ${warning}\n`).join(''))
process.stdout.write(writeFacts(corrected))
