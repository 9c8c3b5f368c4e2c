import { dayMs } from '@signalbox/dialects/protocol'
import { memoryStorage } from '@signalbox/storage-memory'
import { fakeClock } from '@signalbox/testing'
import { expect, test } from 'vitest'
import { createKeyRefusals } from './key-refusals.ts'
import { recordsOf } from './records.ts'

const today = 20_000 * dayMs
const key = { keyId: 'key_1', workspaceId: 'w' }
const span = { start: today, end: today + dayMs }

function testbed(commit?: (tries: number) => boolean) {
  const { records: store } = memoryStorage()
  const clock = fakeClock()
  const warned: object[] = []
  let commits = 0
  const counting: Pick<typeof store, 'commit'> = {
    commit(...asked) {
      commits += 1
      return commit?.(commits) === false ? ({ refused: 'changed' } as never) : store.commit(...asked)
    },
  }
  const logger = { info: () => {}, error: () => {}, warn: (facts: object) => void warned.push(facts) }
  const refusals = createKeyRefusals({ records: recordsOf(store, clock), store: counting, clock, logger })
  return { refusals, clock, warned, commits: () => commits, records: store }
}

test('refused requests are counted by key, workspace and day, each once', async () => {
  const { refusals } = testbed()
  for (let times = 0; times < 3; times += 1) refusals.count(key, today + times)
  refusals.count({ ...key, keyId: 'key_2' }, today)
  refusals.count({ ...key, workspaceId: 'other' }, today)
  expect(await refusals.between(key, span)).toBe(3)
  expect(await refusals.between(key, span)).toBe(3)
  refusals.count(key, today + dayMs - 1)
  expect(await refusals.between(key, span)).toBe(4)
  expect(await refusals.between({ ...key, workspaceId: 'other' }, span)).toBe(1)
})

test('a span includes its first day and excludes the day at its end', async () => {
  const { refusals } = testbed()
  for (const [day, times] of [
    [-1, 1],
    [0, 2],
    [1, 4],
    [2, 8],
  ] as const)
    for (let at = 0; at < times; at += 1) refusals.count(key, today + day * dayMs)
  expect(await refusals.between(key, { start: today, end: today + 2 * dayMs })).toBe(6)
  expect(await refusals.between(key, span)).toBe(2)
})

test('refusals of one second are written together, and nothing is written if there are none', async () => {
  const { refusals, clock, commits } = testbed()
  for (let times = 0; times < 50; times += 1) refusals.count(key, today)
  await clock.advance(999)
  expect(commits()).toBe(0)
  await clock.advance(1)
  expect(commits()).toBe(1)
  await refusals.flush()
  await clock.advance(10_000)
  expect(commits()).toBe(1)
})

test('a count that other processes keep changing is retried five times, then reported as lost', async () => {
  const late = testbed(tries => tries > 4)
  late.refusals.count(key, today)
  expect(await late.refusals.between(key, span)).toBe(1)
  expect([late.commits(), late.warned]).toEqual([5, []])
  const never = testbed(() => false)
  never.refusals.count(key, today)
  never.refusals.count(key, today)
  await never.refusals.flush()
  expect([never.commits(), never.warned]).toEqual([5, [{ keyId: 'key_1', requests: 2 }]])
})

test('at most ten thousand pairs of key and day wait, and those already waiting still count', async () => {
  const { refusals } = testbed()
  for (let at = 0; at < 10_001; at += 1) refusals.count({ ...key, keyId: `key_${at}` }, today)
  refusals.count({ ...key, keyId: 'key_9999' }, today)
  expect(await refusals.between({ ...key, keyId: 'key_9999' }, span)).toBe(2)
  expect(await refusals.between({ ...key, keyId: 'key_10000' }, span)).toBe(0)
})
