import { expect, test } from 'vitest'
import { byteCeilings, isBytes, offences } from '../src/counts/ceilings.ts'
import { measureCounts } from '../src/counts/measure.ts'

test('requests and open streams take no more bytes of the heap than the table of ceilings allows', async () => {
  const { figures } = await measureCounts()
  const bytes = Object.entries(figures).filter(([name]) => isBytes(name))
  expect(offences(Object.fromEntries(bytes), byteCeilings)).toEqual([])
}, 180_000)
