import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createTurnQueue } from './turn-queue.ts'

test('each heavy step runs in its own turn, in order of arrival', async () => {
  const waiting: (() => void)[] = []
  const nextTurn = createTurnQueue({ setTimeout: run => waiting.push(run) })
  const begun: number[] = []
  for (const each of [1, 2, 3]) void nextTurn().then(() => begun.push(each))
  for (const expected of [[1], [1, 2], [1, 2, 3]]) {
    await setImmediate()
    expect(waiting).toHaveLength(1)
    waiting.pop()?.()
    await setImmediate()
    expect(begun).toEqual(expected)
  }
  await setImmediate()
  expect(waiting).toHaveLength(0)
})
