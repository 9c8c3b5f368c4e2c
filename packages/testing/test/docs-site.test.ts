import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { llmsFullText, llmsText } from '../../../docs/.vitepress/llms.ts'
import { anchorOf, indexPage, pageFiles, pageGroups, root, siteFile, siteLink, targetOf, textOf } from '../../../docs/.vitepress/pages.ts'

// The site of the documents, without building it: `pnpm docs:build` also fails on dead links.

const files = pageFiles()
const groups = pageGroups()
const listed = groups.flatMap(({ pages }) => pages.map(({ file }) => file))

test('every page is in the sidebar once, and the sidebar has no unknown page', () => {
  expect(files.length).toBeGreaterThan(70)
  expect([...listed, indexPage].sort()).toEqual([...files])
})

test('no group of the sidebar is empty', () => {
  expect(groups.filter(({ pages }) => pages.length === 0).map(({ text }) => text)).toEqual([])
})

const proseOf = (file: string): string => textOf(file).replaceAll(/^```[\s\S]*?^```/gm, '')
const anchorsOf = (file: string): readonly string[] =>
  [...proseOf(file).matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => `#${anchorOf(title)}`)

test('links lead to existing pages, headings and files', () => {
  const linksOf = (file: string): readonly string[] => [...proseOf(file).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link)
  const isBroken = (file: string, link: string): boolean => {
    const target = targetOf(file, link)
    if (target === undefined) return false
    return !existsSync(join(root, target.file)) || (target.anchor !== '' && !anchorsOf(target.file).includes(target.anchor))
  }
  expect(
    files.flatMap(file =>
      linksOf(file)
        .filter(link => isBroken(file, link))
        .map(link => `${file}: ${link}`),
    ),
  ).toEqual([])
})

test('lines of code fit the column: 90 characters', () => {
  // The pages that begin with an empty folder have commands to copy whole.
  const isFree = (file: string): boolean => file.startsWith('docs/getting-started/')
  const codeOf = (file: string): readonly string[] =>
    [...textOf(file).matchAll(/^ *```\w.*\n([\s\S]*?)^ *```/gm)].flatMap(([, code = '']) => code.split('\n'))
  expect(
    files
      .filter(file => !isFree(file))
      .flatMap(file =>
        codeOf(file)
          .filter(line => line.length > 90)
          .map(line => `${file}: ${line}`),
      ),
  ).toEqual([])
})

describe('a link on the site', () => {
  test.each([
    ['docs/getting-started/node.md', '../../README.md#embed-it', '/index.md#embed-it'],
    ['README.md', 'docs/routing.md', '/docs/routing.md'],
    ['README.md', 'examples/hono', '/examples/hono/index.md'],
    ['docs/errors.md', '#codes', '#codes'],
    ['docs/errors.md', 'https://example.com/#x', 'https://example.com/#x'],
    ['CONTRIBUTING.md', 'docs/decisions', undefined],
    ['docs/performance.md', '../packages/bench/RESULTS.md', undefined],
  ])('of %s to %s is %s', (page, link, site) => {
    expect(siteLink(page, link)).toBe(site)
  })
})

describe('the text for language models', () => {
  test('llms.txt lists every page under its heading, decisions as optional', () => {
    const text = llmsText()
    for (const file of listed) expect(text).toContain(`(/${siteFile(file)})`)
    expect(text).toMatch(/^# Signalbox\n\n> Signalbox is an LLM gateway /)
    expect(text.indexOf('decisions/')).toBeGreaterThan(text.indexOf('## Optional'))
  })

  test('llms-full.txt holds the pages, without decisions', () => {
    const text = llmsFullText()
    expect(text).toContain(textOf('docs/routing.md').trim())
    expect(text).not.toContain(textOf('docs/decisions/0004-item-ids.md').trim())
  })
})
