import fc from 'fast-check'
import { expect, inject, test } from 'vitest'
import { anyCharacter } from '../../../dialects/test/any-character.ts'
import { keepViews } from './views.ts'

test('a view is created once for a version of the models, and again for the next', () => {
  const views = keepViews()
  const made: string[] = []
  const view = (version: number, key: string): string =>
    views(version, key, () => {
      made.push(`${key}${version}`)
      return { key, version }
    }).text
  for (const version of [1, 1, 2, 2])
    expect([view(version, 'a'), view(version, 'b')]).toEqual([`{"key":"a","version":${version}}`, `{"key":"b","version":${version}}`])
  expect(made).toEqual(['a1', 'b1', 'a2', 'b2'])
})

test('at most 64 views are kept, the most recently requested ones', () => {
  const views = keepViews()
  let made = 0
  const view = (key: string): unknown => views(1, key, () => made++)
  for (let at = 0; at < 1_000; at++) {
    view(`rare-${at}`)
    view('common')
  }
  expect(made).toBe(1_001)
  for (let at = 1_000 - 63; at < 1_000; at++) view(`rare-${at}`)
  expect(made).toBe(1_001)
  view('rare-0')
  expect(made).toBe(1_002)
})

test('different texts have different tags', () => {
  const views = keepViews()
  const names = new Map<string, string>()
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), text => {
      const { etag } = views(1, text, () => text)
      expect(etag).toMatch(/^"[\w-]+"$/)
      expect(names.get(etag) ?? text).toBe(text)
      names.set(etag, text)
    }),
    { numRuns: inject('isLongRun') ? 2_000 : 200 },
  )
})
