import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { copySlice } from './copy-slice.ts'

test('the first characters of any text are those of `slice`', () => {
  fc.assert(fc.property(fc.string(), fc.nat(40), (text, length) => copySlice(text, length) === text.slice(0, length)))
})

test('a slice does not keep the text in memory that it was cut from', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const kept: string[] = []
  collect()
  const before = process.memoryUsage().heapUsed
  for (let at = 0; at < 40; at += 1) kept.push(copySlice(String(at).padEnd(1_000_000, 'x'), 1_000))
  collect()
  const added = process.memoryUsage().heapUsed - before
  expect(kept.every(text => text.length === 1_000)).toBe(true)
  expect(added).toBeLessThan(10_000_000)
})
