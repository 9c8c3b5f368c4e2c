import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect } from 'vitest'

const path = resolve(import.meta.dirname, '../../../../docs/agents.md')

/** Holds the table between two comments of docs/agents.md to the given one, or writes it with `UPDATE_DOCS=1`. */
export function checkTable(name: string, table: string): void {
  const { page, written, whole } = sectionOf(name, table)
  if (process.env.UPDATE_DOCS)
    writeFileSync(
      path,
      page.replace(written, () => whole),
    )
  else expect(written).toBe(whole)
}

/** With `UPDATE_DOCS=1` writes what was measured between two comments of docs/agents.md; no two runs measure the same. */
export function writeMeasured(name: string, text: string): void {
  const { page, written, whole } = sectionOf(name, text)
  expect(written).not.toBe('')
  if (process.env.UPDATE_DOCS)
    writeFileSync(
      path,
      page.replace(written, () => whole),
    )
}

function sectionOf(name: string, text: string) {
  const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
  const page = readFileSync(path, 'utf8')
  const written = page.slice(page.indexOf(begin), page.indexOf(end) + end.length)
  return { page, written, whole: [begin, '', text, '', end].join('\n') }
}
