import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { type BodyText, collectText } from './read-body.ts'

const source = { cancel: () => {} }

const heapUsed = (): number => {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}

test.each([1, 1_023, 1_024, 1_025, 5_000])('a body of %i pieces is complete and in order', count => {
  const text = Array.from({ length: count }, (_, at) => `${at}é€`).join('')
  const bytes = new TextEncoder().encode(text)
  const step = Math.ceil(bytes.length / count)
  let body: BodyText | undefined
  const sink = collectText(source, bytes.length, { done: found => (body = found), fail: () => {} })
  for (let at = 0; at < bytes.length; at += step) sink.next(bytes.subarray(at, at + step))
  sink.end()
  expect(body).toEqual({ text, isCut: false })
})

test('a body that arrives byte by byte takes little more memory than its bytes', () => {
  const count = 500_000
  const bytes = new Uint8Array(count).fill(0x61)
  let body: BodyText | undefined
  const sink = collectText(source, count, { done: found => (body = found), fail: () => {} })
  const before = heapUsed()
  for (let at = 0; at < count; at++) sink.next(bytes.subarray(at, at + 1))
  expect(heapUsed() - before).toBeLessThan(20 * count)
  sink.end()
  expect(body?.text.length).toBe(count)
})
