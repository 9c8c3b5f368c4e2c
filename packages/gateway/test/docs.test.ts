import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { codeRow, codes, type ErrorCode } from '@signalbox/dialects/errors'
import { expect, test } from 'vitest'
import { productSources } from '../../testing/test/code/sources.ts'
import { errorsPage } from './docs/errors-page.ts'
import { fidelityPage } from './docs/fidelity-page.ts'

const docs = resolve(import.meta.dirname, '../../../docs')

/** Pages that core's tables generate. `UPDATE_DOCS=1 pnpm test gateway/test/docs` writes them. */
const pages = { 'errors.md': errorsPage, 'fidelity.md': fidelityPage }

test.each(Object.entries(pages))('docs/%s equals the generated page', (name, page) => {
  const path = join(docs, name)
  if (process.env.UPDATE_DOCS) writeFileSync(path, page)
  expect(readFileSync(path, 'utf8')).toBe(page)
})

test('docs/troubleshooting.md has advice for every code', () => {
  const text = readFileSync(join(docs, 'troubleshooting.md'), 'utf8')
  const [, table = ''] = text.split('## By code')
  const listed = [...(table.split('\n## ')[0] ?? '').matchAll(/^\| ([^|]+) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, code]) => code),
  )
  const thrown = (Object.keys(codes) as ErrorCode[]).filter(code => !codeRow(code).reserved)
  expect(listed.toSorted()).toEqual(thrown.toSorted())
})

test('startup messages in docs/troubleshooting.md exist in the programs', () => {
  const text = readFileSync(join(docs, 'troubleshooting.md'), 'utf8')
  const [, table = ''] = text.split('## The server does not start')
  const messages = [...table.matchAll(/^\| `([^`]+)` \|/gm)].flatMap(([, message = '']) => message.split(' … '))
  const programs = productSources()
    .filter(({ path }) => /^(cli|signalbox)\//.test(path))
    .map(each => each.text)
    .join('\n')
  expect(messages.length).toBeGreaterThan(4)
  expect(messages.filter(message => !programs.includes(message))).toEqual([])
})
