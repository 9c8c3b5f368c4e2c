import { globSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { blockPages } from './blocks/blocks.ts'
import { closureOf, type Definition, entriesOf, exportsOf, isValue } from './exported-names.ts'

// What an app can import: few sub-paths, few names, each of them for a reason.

const root = resolve(import.meta.dirname, '../../..')
const keyOf = ({ file, name }: Definition): string => `${relative(root, file)} ${name}`
const subPaths = new Map([...entriesOf('signalbox')].map(([path, source]) => [path, exportsOf(source)]))
const all = [...subPaths.values()].flatMap(names => [...names.values()])

/** Entries of the engine for the packages beside it. Apps get types of them at most. */
const internalEntries: readonly Definition[] = ['dialects', 'core', 'workspaces', 'gateway'].flatMap(name =>
  [...entriesOf(name)].flatMap(([path, source]) =>
    (path === '.' && name !== 'workspaces') || path === './providers' ? [] : [...exportsOf(source).values()],
  ),
)

/** The words in the code of pages for users and in the examples. */
const wordsInUse = (): ReadonlySet<string> => {
  const pages = blockPages().filter(page => !page.startsWith('docs/decisions/') && page !== 'docs/changelog.md')
  const onPages = pages.flatMap(page => readFileSync(join(root, page), 'utf8').match(/^ *```[tj]s[\s\S]*?^ *```|`[^`\n]+`/gm) ?? [])
  const examples = globSync('examples/*/{*,{app,src,public}/**/*}.{ts,tsx}', { cwd: root }).map(file =>
    readFileSync(join(root, file), 'utf8'),
  )
  const words = [...onPages, ...examples].flatMap(code => code.match(/[\w$-]+/g) ?? [])
  // The function of a provider has its id in camel case.
  return new Set(words.flatMap(word => [...word.split('-'), word.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())]))
}

/** Exported names that are neither in use nor in the type of one that is. */
function unused(words: ReadonlySet<string>): readonly string[] {
  const used = [...subPaths.values()].flatMap(names => [...names].flatMap(([name, definition]) => (words.has(name) ? [definition] : [])))
  const reached = new Set(closureOf(used).map(keyOf))
  return [...subPaths].flatMap(([path, names]) =>
    [...names].flatMap(([name, definition]) => (reached.has(keyOf(definition)) ? [] : [`${path} ${name}`])),
  )
}

test('an app has fewer than 25 sub-paths with fewer than 350 names; the main one has fewer than 10 values', () => {
  expect(subPaths.size).toBeLessThan(25)
  expect(all.length).toBeGreaterThan(200)
  expect(all.length).toBeLessThan(350)
  expect([...(subPaths.get('.')?.values() ?? [])].filter(isValue).length).toBeLessThan(10)
})

test('no sub-path has a function of the engine that only the packages beside it call', () => {
  const internal = internalEntries.filter(isValue)
  expect(internal.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['passToWaitUntil', 'runSteps', 'startFold', 'checkInput', 'writeFrames', 'anyText']),
  )
  const hidden = new Set(internal.map(keyOf))
  expect(all.filter(each => hidden.has(keyOf(each))).map(({ name }) => name)).toEqual([
    'GatewayError',
    'isGatewayError',
    'toUsd',
    'usd',
    'responsesClient',
  ])
})

test('each name is on a page for users, in an example, or in the type of one that is', () => {
  expect(unused(new Set(['createGateway']))).toContain('./router createRouter')
  expect(unused(wordsInUse())).toEqual([])
})

test('the types of each sub-path need no package that an app may not have', () => {
  const needed = [...subPaths].flatMap(([path, names]) =>
    closureOf(names.values())
      .filter(({ file }) => !file.startsWith(root) && !isBuiltin(file))
      .map(({ file }) => `${path} ${file}`),
  )
  expect([...new Set(needed)]).toEqual(['./ai-sdk @ai-sdk/provider'])
})
