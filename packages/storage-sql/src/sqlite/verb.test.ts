import fc from 'fast-check'
import { expect, test } from 'vitest'
import { batchOf, command, inParts, overRows, query, statement } from './verb.ts'

test('rows are bound one by one up to ninety values, and as one JSON parameter beyond that, or if there are none', () => {
  const insert = overRows(1, 2, list => `FROM ${list}`)
  expect(
    insert(
      ['w'],
      [
        ['a', 1],
        ['b', 2],
      ],
    ),
  ).toEqual({ sql: 'FROM (VALUES (?2, ?3), (?4, ?5))', values: ['w', 'a', 1, 'b', 2] })
  const json = 'FROM (SELECT value ->> 0 AS column1, value ->> 1 AS column2 FROM json_each(?2))'
  expect(insert(['w'], [])).toEqual({ sql: json, values: ['w', '[]'] })
  const rows = (count: number) => Array.from({ length: count }, (_, at) => [at, 'x'])
  expect(insert(['w'], rows(45)).values).toHaveLength(91)
  expect(insert(['w'], rows(46))).toEqual({ sql: json, values: ['w', JSON.stringify(rows(46))] })
})

test('the text for a number of rows is built once', () => {
  let built = 0
  const insert = overRows(0, 1, list => `${list} ${++built}`)
  const texts = [1, 2, 1, 2, 1].map(count => insert([], Array(count).fill(['a'])).sql)
  expect(new Set(texts).size).toBe(2)
  expect(texts.slice(0, 2)).toEqual(texts.slice(2, 4))
})

test('a call with refusals returns the rows of its own statements, or the verdict', () => {
  const verb = {
    refusals: [statement('SELECT verdict', 1), statement('SELECT other AS verdict', 2)],
    ifRefused: [statement('REPAIR')],
    statements: [statement('A'), statement('B')],
    always: [statement('C')],
    answer: (rows: readonly unknown[], verdict?: string) => [rows, verdict],
  }
  const rowsOf = (texts: readonly string[], verdict: readonly object[]) => [...texts.slice(0, -1).map(text => [{ text }]), verdict]
  const batch = batchOf(verb)
  const texts = batch.statements.map(({ sql }) => sql)
  expect(texts).toEqual([
    'INSERT INTO refusals (verdict) SELECT verdict',
    'INSERT INTO refusals (verdict) SELECT verdict FROM (SELECT other AS verdict) WHERE NOT EXISTS (SELECT 1 FROM refusals)',
    'REPAIR',
    'A',
    'B',
    'C',
    'DELETE FROM refusals RETURNING verdict',
  ])
  expect(batch.statements.slice(0, 2).map(({ values }) => values)).toEqual([[1], [2]])
  expect(batch.answer(rowsOf(texts, []) as never, undefined)).toEqual([[[{ text: 'A' }], [{ text: 'B' }]], undefined])
  expect(batch.answer(rowsOf(texts, [{ verdict: 'no' }]) as never, undefined)).toEqual([[], 'no'])
  const { ifRefused: _, ...without } = verb
  const short = batchOf(without)
  const shortTexts = short.statements.map(({ sql }) => sql)
  expect(short.answer(rowsOf(shortTexts, []) as never, undefined)).toEqual([[[{ text: 'A' }], [{ text: 'B' }]], undefined])
})

test('a call without refusals runs its statements, then those that always run', () => {
  const { statements, answer } = batchOf({ statements: [statement('A')], always: [statement('B')], answer: rows => rows.length })
  expect(statements.map(({ sql }) => sql)).toEqual(['A', 'B'])
  expect(answer([[], []], undefined)).toBe(2)
})

test('a command returns nothing, and a query the mapped rows', () => {
  expect(command(statement('A')).answer([[{ a: 1 }]], undefined)).toBeUndefined()
  const counted = query(statement('A'), rows => rows.length)
  expect([counted.answer([[{ a: 1 }, { a: 2 }]], undefined), counted.answer([], undefined)]).toEqual([2, 0])
})

test('a list is split into parts of the maximum length', () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), fc.integer({ min: 1, max: 9 }), (list, most) => {
      const parts = inParts(list, most)
      expect(parts.flat()).toEqual(list)
      for (const [at, part] of parts.entries()) expect(part.length).toBe(at < parts.length - 1 ? most : list.length - at * most)
      expect(parts.every(part => part.length > 0)).toBe(true)
    }),
  )
})
