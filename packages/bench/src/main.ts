import { parseArgs } from 'node:util'
import { publish } from './report.ts'
import { sections } from './sections.ts'

const list = Object.entries(sections).map(([name, { what }]) => `${name.padEnd(12)}${what}`)
const usage = `pnpm bench section … [--quick] [--only word …]

${list.join('\n')}

--quick     fewer requests and rounds; nothing is written to a page
--only      only the cases whose title holds the word, as in --only burst --only 32`

const { values, positionals } = parseArgs({
  // pnpm forwards the dashes that separate its options from ours.
  args: process.argv.slice(2).filter(arg => arg !== '--'),
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    help: { type: 'boolean', default: false },
  },
})
const unknown = positionals.find(name => !Object.hasOwn(sections, name))
const { quick, only, help } = values

if (help || unknown !== undefined || positionals.length === 0) {
  if (unknown !== undefined) console.error(`There is no section "${unknown}".\n`)
  console.log(usage)
  process.exitCode = unknown === undefined ? 0 : 2
} else {
  for (const [name, { run, page }] of Object.entries(sections)) {
    if (!positionals.includes(name)) continue
    const text = await run({ quick, only })
    console.log(`\n# ${name}\n\n${text}\n`)
    if (page !== undefined && !quick && only.length === 0) publish(name, text, page)
  }
}
