import { parseArgs } from 'node:util'
import { publish } from './report.ts'
import { sections } from './sections.ts'
import { kinds } from './servers.ts'

const usage = `pnpm bench [section …] [--quick] [--only word …] [--server memory|sqlite|floor]

Sections: ${Object.keys(sections).join(', ')}. Without any: those that a page of packages/bench shows.
--quick    fewer requests and rounds; nothing is written to a page
--only     only the cases whose title holds the word, as in --only stream --only 32
--server   the one that profile, allocations, promoted and held look into; default memory`

const { values, positionals } = parseArgs({
  // pnpm forwards the dashes that separate its options from ours.
  args: process.argv.slice(2).filter(arg => arg !== '--'),
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    server: { type: 'string', default: 'memory' },
    help: { type: 'boolean', default: false },
  },
})
const unknown = positionals.find(name => !Object.hasOwn(sections, name))
const { quick, only, help } = values
const server = kinds.find(kind => kind === values.server)

if (help || unknown !== undefined || server === undefined) {
  if (unknown !== undefined) console.error(`There is no section "${unknown}".\n`)
  console.log(usage)
  process.exitCode = help ? 0 : 2
} else {
  for (const [name, { run, page, onlyIfNamed = false }] of Object.entries(sections)) {
    if (positionals.length === 0 ? page === undefined || onlyIfNamed : !positionals.includes(name)) continue
    const text = await run({ quick, only, server })
    console.log(`\n# ${name}\n\n${text}\n`)
    if (page !== undefined && !quick && only.length === 0) publish(name, text, page)
  }
}
