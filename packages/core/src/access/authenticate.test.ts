import { expect, test } from 'vitest'
import { webClock } from '../runtime/web.ts'
import { createKeyUseRecorder } from './authenticate.ts'

const quiet = { info: () => {}, warn: () => {}, error: () => {} }

test('a flush ends only when the last-used times of keys are written', async () => {
  let written: (() => void) | undefined
  const touched: (readonly { readonly id: string; readonly at: number }[])[] = []
  const store = {
    touch: (_kind: string, uses: readonly { readonly id: string; readonly at: number }[]): Promise<void> => {
      touched.push(uses)
      return new Promise(resolve => {
        written = resolve
      })
    },
  }
  const uses = createKeyUseRecorder({ store, clock: webClock(), logger: quiet })
  uses.record('a', 1)
  uses.record('a', 3)
  uses.record('b', 2)
  let isOver = false
  const flushed = uses.flush().then(() => {
    isOver = true
  })
  await new Promise(resolve => setImmediate(resolve))
  expect([touched, isOver]).toEqual([
    [
      [
        { id: 'a', at: 3 },
        { id: 'b', at: 2 },
      ],
    ],
    false,
  ])
  written?.()
  await flushed
  expect(isOver).toBe(true)
})

test('a failed flush is logged and does not reject', async () => {
  const warned: string[] = []
  const logger = { ...quiet, warn: (_: unknown, message: string) => void warned.push(message) }
  const uses = createKeyUseRecorder({ store: { touch: () => Promise.reject(new Error('locked')) }, clock: webClock(), logger })
  uses.record('a', 1)
  await uses.flush()
  expect(warned).toEqual(['The last use of keys could not be stored.'])
})
