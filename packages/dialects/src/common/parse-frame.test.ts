import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { answerLimits } from '../protocol/answer-limits.ts'
import { objectIn } from './json.ts'
import { isTooComplex, parseBounded, readFrame } from './parse-frame.ts'

const lists = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
const objects = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
const keys = (count: number): string => `{${Array.from({ length: count }, (_, at) => `"k${at}":1`).join()}}`
const many = (value: string, count: number): string => `[${`${value},`.repeat(count)}0]`

const { nesting, containers, keysOfObject, keyCharacters, elementsOfList, values, smallCharacters } = answerLimits

/** The surrounding text is long enough for the number of keys to be checked. */
const keyOf = (characters: number): string => `{"${'k'.repeat(characters)}" : "${' '.repeat(smallCharacters)}"}`

/** Several short lists, none of which is too long by itself. */
const listsOf = (value: string, count: number): string => `[${many(value, 9_999)}${`,${many(value, 9_999)}`.repeat(count - 1)}]`

describe('JSON of a provider is accepted up to a limit, and refused beyond it', () => {
  test.each([
    ['lists inside one another', lists(nesting), lists(nesting + 1)],
    ['objects inside one another', objects(nesting), objects(nesting + 1)],
    ['keys of one object', keys(keysOfObject), keys(keysOfObject + 1)],
    ['characters of a key', keyOf(keyCharacters), keyOf(keyCharacters + 1)],
    ['elements of one list', many('1', elementsOfList - 1), many('1', elementsOfList)],
    ['lists in all', listsOf('[]', containers / 10_000 - 1), listsOf('[]', containers / 10_000)],
    ['objects in all', listsOf('{}', containers / 10_000 - 1), listsOf('{}', containers / 10_000)],
    ['values in all', listsOf('1', values / 10_000), listsOf('1', values / 10_000 + 1)],
  ])('%s', (_, most, more) => {
    expect([isTooComplex(most), isTooComplex(more)]).toEqual([false, true])
    expect(parseBounded(more)).toBeUndefined()
    expect(readFrame({ data: more })).toBe('broken')
    expect(objectIn(`{"a":${more}}`)).toBeUndefined()
  })

  test('each object has its own keys, also within another object', () => {
    const half = keys(keysOfObject / 2)
    expect(isTooComplex(`${half.slice(0, -1)},"in":${half},${half.slice(1)}`)).toBe(true)
    expect(isTooComplex(`{"a":${keys(keysOfObject)},"b":${keys(keysOfObject)}}`)).toBe(false)
  })
})

test('brackets, quotes and backslashes inside strings are ignored', () => {
  for (const text of ['['.repeat(2_000), '{'.repeat(2_000), '\\'.repeat(2_001), '"'.repeat(2_001), `\\"${'['.repeat(2_000)}`])
    expect(isTooComplex(JSON.stringify({ [text]: text, list: [text] }))).toBe(false)
  expect(isTooComplex(`{"a":"\\\\","b":${lists(nesting)}}`)).toBe(true)
})

test('any JSON within the limits is parsed unchanged', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 8 }), fc.nat(3), (text, padding) => {
      const padded = `{"pad":"${'x'.repeat(1_000)}","in":${text}}${' '.repeat(padding)}`
      expect(parseBounded(padded)).toEqual(JSON.parse(padded))
    }),
  )
})

test('text that is not JSON is refused, whatever its brackets', () => {
  for (const text of [
    ']'.repeat(2_000),
    '}'.repeat(2_000) + '['.repeat(400),
    `"${'\\'.repeat(3_000)}`,
    ','.repeat(2_000),
    ':'.repeat(2_000),
  ])
    expect(parseBounded(text)).toBeUndefined()
})
