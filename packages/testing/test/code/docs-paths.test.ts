import { readdirSync, readFileSync } from 'node:fs'
import { extname, join, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'

// Every file, folder and name that a document mentions exists. Links are tested with the site.

const root = resolve(import.meta.dirname, '../../../..')
const skipped: ReadonlySet<string> = new Set(['node_modules', 'dist', '.git'])

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap(entry => {
    if (skipped.has(entry.name)) return []
    const path = join(folder, entry.name)
    return entry.isDirectory() ? filesBelow(path) : [relative(root, path)]
  })
}

const files = filesBelow(root)
const pages = files.filter(file => file.endsWith('.md') && /^([A-Z]+\.md|docs\/|examples\/)/.test(file))

/** Every part of a path that ends with a file or folder, with and without `src` and the ending: `dialects/src/errors/codes.ts`, `errors/codes`. */
function namesOf(file: string): readonly string[] {
  const parts = file.split('/')
  return parts.flatMap((_, from) => parts.slice(from).map((_, length) => parts.slice(from, from + length + 1).join('/')))
}
const withoutEnding = (path: string): string => path.slice(0, path.length - extname(path).length)
const known: ReadonlySet<string> = new Set(
  files.flatMap(file => [file, file.replace('/src/', '/')].flatMap(namesOf)).flatMap(path => [path, withoutEnding(path)]),
)

/** The page without benchmark results: those tables name the files of their day. */
const textOf = (page: string): string =>
  readFileSync(join(root, page), 'utf8').replaceAll(/<!-- bench:(\w+) -->[\s\S]*?<!-- \/bench:\1 -->/g, '')
const proseOf = (page: string): string => textOf(page).replaceAll(/^```[\s\S]*?^```/gm, '')
const codeIn = (page: string): readonly string[] => [...new Set([...proseOf(page).matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code))]

const isPath = (code: string): boolean => /^[\w.@-]+(\/[\w.@-]+)*\.(ts|md|json|yaml|svg)$/.test(code)
const isIdentifier = (code: string): boolean => /^[A-Za-z_$][\w$]*(\(\))?$/.test(code)

test('pages name files that exist', () => {
  const isMissing = (code: string): boolean => isPath(code) && !known.has(code) && !examples.has(code)
  expect(
    pages.flatMap(page =>
      codeIn(page)
        .filter(isMissing)
        .map(code => `${page}: ${code}`),
    ),
  ).toEqual([])
})

/** Files of the reader, and of programs outside this repository. */
const examples: ReadonlySet<string> = new Set(['catalog.json', 'config.yaml', 'opencode.json', 'package.json', 'signalbox.config.json'])

const sources = files
  .filter(file => /^packages\/[^/]+\/src\/.*\.ts$/.test(file))
  .map(file => readFileSync(join(root, file), 'utf8'))
  .join('\n')
const words: ReadonlySet<string> = new Set(sources.match(/[A-Za-z_$][\w$]*/g))

const mapped = pages.filter(page => /^docs\/(architecture|life-of-a-request|glossary|how-to\/.*)\.md$/.test(page))

test('pages about the code name identifiers that exist', () => {
  const missing = mapped.flatMap(page =>
    codeIn(page)
      .filter(isIdentifier)
      .map(code => code.replace('()', ''))
      .filter(code => !words.has(code) && !known.has(code))
      .map(code => `${page}: ${code}`),
  )
  expect(missing).toEqual([])
})

test('pages about the code name folders and modules that exist', () => {
  const missing = mapped.flatMap(page =>
    codeIn(page)
      .filter(code => /^[a-z][\w-]*(\/[\w-]+)+$/.test(code) && !known.has(code))
      .map(code => `${page}: ${code}`),
  )
  expect(missing).toEqual([])
})
