import { expect, test } from 'vitest'
import { packageNames, type Source, sourcesOf } from './sources.ts'

// The rules of style that no linter knows: each is a pattern, the rooms where it may stand, and the reason.

const core = sourcesOf('core')

/** `path:line  text` of every line that breaks a rule. */
const offences = (sources: readonly Source[], pattern: RegExp): readonly string[] =>
  sources.flatMap(({ path, code }) =>
    code.split('\n').flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}  ${line.trim()}`] : [])),
  )

test('time, chance and timers come in through doors, so that a test can hold them', () => {
  const outside = core.filter(({ path }) => !path.startsWith('runtime/'))
  expect(
    offences(
      outside,
      /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bcrypto\.|(?<!\bclock\.)\bset(Timeout|Interval)\(|\bperformance\.now\b/,
    ),
  ).toEqual([])
})

test('nobody asks a provider for its name: what differs is declared in its row', () => {
  const ids = core
    .flatMap(({ path }) => /^providers\/([\w-]+)\.ts$/.exec(path)?.[1] ?? [])
    .filter(id => !['index', 'define-provider', 'compatible'].includes(id))
  const outside = [...core, ...sourcesOf('api')].filter(({ path }) => !/^(providers|catalog)\//.test(path))
  expect(ids.length === 0 ? [] : offences(outside, new RegExp(`'(${ids.join('|')})'`))).toEqual([])
})

test.each(packageNames)('%s has functions and plain objects; classes only for errors', name => {
  expect(offences(sourcesOf(name), /^\s*(export )?(abstract )?class (?!\w+ extends \w*Error\b)/)).toEqual([])
})

test.each(packageNames)('%s never says any', name => {
  expect(offences(sourcesOf(name), /(:|\bas|<|,|\|)\s*any\b\s*([,;)>=|[\]]|$)/)).toEqual([])
})
