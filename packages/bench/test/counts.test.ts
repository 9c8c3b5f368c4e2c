import { expect, test } from 'vitest'
import { countCeilings, offences, walkCeilings } from '../src/counts/ceilings.ts'
import { measureCounts } from '../src/counts/measure.ts'
import { measureWalk, walkFigures } from '../src/counts/walk.ts'

test('requests create no more promises, timers and parses than the table of ceilings allows', async () => {
  const { figures } = await measureCounts()
  expect(offences(figures, countCeilings)).toEqual([])
})

test('requests run no more files, functions and calls than the table of ceilings allows', async () => {
  expect(offences(walkFigures(await measureWalk()), walkCeilings)).toEqual([])
})

test('a value above its ceiling, or without one, is reported', () => {
  const found = (figures: Readonly<Record<string, number>>) => offences({ promises: 100, ...figures }, { promises: 100 })
  expect(found({})).toEqual([])
  expect(found({ promises: 99 })).toEqual([])
  expect(found({ promises: 101 })).toEqual(['promises: 101 is above 100'])
  expect(found({ parses: 1 })).toEqual(['parses: 1 has no ceiling'])
  expect(offences({}, { timers: 2 })).toEqual(['timers: is no longer measured'])
})
