import { expect, test } from 'vitest'
import { offences, walkCeilings } from '../src/counts/ceilings.ts'
import { measureCounts } from '../src/counts/measure.ts'
import { measureWalk, walkFigures } from '../src/counts/walk.ts'

test('requests create no more promises, garbage, timers and calls than the table of ceilings allows', async () => {
  const { figures } = await measureCounts()
  expect(offences(figures)).toEqual([])
}, 180_000)

test('requests run no more files, functions and calls than the table of ceilings allows', async () => {
  expect(offences(walkFigures(await measureWalk()), walkCeilings)).toEqual([])
}, 180_000)

test('a value above its ceiling, far below it, or without one is reported', () => {
  const table = { promises: { ceiling: 100, goal: 25 }, timers: { ceiling: 2 }, bytes: { ceiling: 60, goal: 60 } }
  const found = (figures: Readonly<Record<string, number>>) => offences({ promises: 100, timers: 2, bytes: 50, ...figures }, table)
  expect(found({})).toEqual([])
  expect(found({ promises: 101 })).toEqual(['promises: 101 is above 100'])
  expect(found({ promises: 80 })).toEqual(['promises: 80, so lower the ceiling of 100'])
  expect(found({ timers: 1, promises: 90 })).toEqual([])
  expect(found({ parses: 1 })).toEqual(['parses: 1 has no ceiling'])
  expect(offences({}, { timers: { ceiling: 2 } })).toEqual(['timers: is no longer measured'])
})
