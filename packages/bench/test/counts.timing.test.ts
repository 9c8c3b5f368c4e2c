import { expect, test } from 'vitest'
import { byteCeilings, offences } from '../src/counts/ceilings.ts'
import { measureBytes } from '../src/counts/measure.ts'

test('requests and open streams take no more bytes of the heap than the table of ceilings allows', async () => {
  expect(offences(await measureBytes(), byteCeilings)).toEqual([])
}, 180_000)
