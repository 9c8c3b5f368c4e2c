import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { catalog } from '../src/index.ts'
import { readOverrides } from '../src/schema/index.ts'
import { fetchSources, updateCatalog } from '../src/update/index.ts'
import { writeFacts } from './pack.ts'

// Updates the built-in catalog from public lists, applies corrections.json, and writes src/data/models-and-prices.ts. Needs a network.
// With OPENAI_API_KEY, days on which models of OpenAI end are read, too.

const token = process.env.OPENAI_API_KEY
const read = await fetchSources(
  [{ name: 'models.dev' }, { name: 'genai-prices' }, { name: 'openrouter' }, ...(token ? [{ name: 'openai', token } as const] : [])],
  { fetch },
)
if (read.ok) {
  const corrections = readOverrides(JSON.parse(readFileSync(resolve(import.meta.dirname, '../corrections.json'), 'utf8')))
  const today = new Date().toISOString().slice(0, 10)
  const result = updateCatalog({ current: catalog(), sources: read.sources, corrections, today })
  process.stderr.write(result.warnings.map(warning => `warning: ${warning}\n`).join(''))
  if (result.ok) process.stdout.write(`${result.diff.map(line => `${line}\n`).join('')}${writeFacts(result.catalog)}`)
  else refuse(result.problems)
} else refuse(read.problems)

function refuse(problems: readonly string[]): void {
  process.stderr.write(problems.map(problem => `error: ${problem}\n`).join(''))
  process.exitCode = 1
}
