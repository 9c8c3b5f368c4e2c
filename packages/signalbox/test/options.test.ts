import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { optionsOf, optionTables } from './options-reference.ts'

const page = resolve(import.meta.dirname, '../../../docs/options.md')

// `UPDATE_DOCS=1 pnpm test options` writes the page.
test('docs/options.md has every option with its docstring', () => {
  const text = readFileSync(page, 'utf8')
  const written = text.replace(
    /(<!-- options -->\n)[\s\S]*?(<!-- \/options -->)/,
    (_, start: string, end: string) => `${start}\n${optionTables()}\n\n${end}`,
  )
  if (process.env.UPDATE_DOCS) writeFileSync(page, written)
  expect(readFileSync(page, 'utf8')).toBe(written)
})

test('an option has its type, its meaning and its default', () => {
  const options = optionsOf({ file: 'core/src/upstream/limits.ts', name: 'Limits', of: 'limits' })
  expect(options.find(({ name }) => name === 'limits.attempts')).toEqual({
    name: 'limits.attempts',
    type: '`number`',
    meaning: 'Upstream calls per request, including retries and fallbacks.',
    default: '4',
  })
})
