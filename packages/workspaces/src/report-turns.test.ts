import { setImmediate as nextTurn } from 'node:timers/promises'
import { webClock } from '@signalbox/core/runtime'
import { expect, test } from 'vitest'
import { createReportTurns } from './report-turns.ts'

/** Turns on a clock that the test moves; `passed` ends the timers that are due. */
function turns() {
  let now = 0
  let timers: { readonly at: number; readonly run: () => void }[] = []
  const clock = {
    ...webClock(),
    monotonic: () => now,
    setTimeout: (run: () => void, milliseconds: number) => {
      const timer = { at: now + milliseconds, run }
      timers.push(timer)
      return timer
    },
    clearTimeout: (timer: unknown) => {
      timers = timers.filter(each => each !== timer)
    },
  }
  return {
    reports: createReportTurns(clock),
    work: (milliseconds: number) => {
      now += milliseconds
    },
    passed: async (milliseconds: number) => {
      await nextTurn()
      now += milliseconds
      const due = timers.filter(({ at }) => at <= now)
      timers = timers.filter(({ at }) => at > now)
      for (const { run } of due) run()
      await nextTurn()
    },
  }
}

test('a workspace has one step at a time under way, and others do not wait for it', async () => {
  const { reports, passed } = turns()
  const begun: string[] = []
  const ends: (() => void)[] = []
  const step = (name: string) => () => {
    begun.push(name)
    return new Promise<void>(resolve => ends.push(resolve))
  }
  for (const name of ['a1', 'a2', 'a3']) void reports.run('a', step(name))
  void reports.run('b', step('b1'))
  await passed(0)
  expect(begun).toEqual(['a1', 'b1'])
  ends[0]?.()
  await passed(0)
  expect(begun).toEqual(['a1', 'b1', 'a2'])
})

test('after their work reports rest for as long, whoever wants the next one', async () => {
  const { reports, work, passed } = turns()
  const begun: string[] = []
  for (const name of ['a', 'b', 'c'])
    void reports.run(name, () => {
      begun.push(name)
      work(40)
    })
  await passed(0)
  expect(begun).toEqual(['a'])
  await passed(39)
  expect(begun).toEqual(['a'])
  await passed(1)
  expect(begun).toEqual(['a', 'b'])
  await passed(40)
  expect(begun).toEqual(['a', 'b', 'c'])
})

test('a step that is busy until it resolves counts until then, and no other begins meanwhile', async () => {
  const { reports, work, passed } = turns()
  const begun: string[] = []
  let end = (): void => {}
  const busy = reports.run('a', () => new Promise<void>(resolve => (end = resolve)), { isBusy: true })
  void reports.run('b', () => void begun.push('b'))
  await passed(0)
  expect(begun).toEqual([])
  work(20)
  end()
  await busy
  await passed(19)
  expect(begun).toEqual([])
  await passed(1)
  expect(begun).toEqual(['b'])
})

test('short steps do not rest, and a step that throws ends its turn', async () => {
  const { reports, work } = turns()
  for (let at = 0; at < 4; at++) await reports.run('a', () => work(1))
  const failing = reports.run('a', () => {
    throw new Error('no')
  })
  await expect(failing).rejects.toThrow('no')
  await expect(reports.run('a', () => Promise.reject(new Error('later')))).rejects.toThrow('later')
  expect(await reports.run('a', () => 7)).toBe(7)
})

test('a workspace with a hundred reports in progress is refused another, but the next step of one goes on', async () => {
  const { reports, passed } = turns()
  let end = (): void => {}
  void reports.run('a', () => new Promise<void>(resolve => (end = resolve)), { isFirst: true })
  const waiting = Array.from({ length: 99 }, () => reports.run('a', () => {}, { isFirst: true }))
  const refused = { status: 429, code: 'concurrent_requests_exceeded', facts: { retryAfterMs: 1_000 } }
  await expect(reports.run('a', () => {}, { isFirst: true })).rejects.toMatchObject(refused)
  const next = reports.run('a', () => 'next')
  expect(await reports.run('b', () => 'b', { isFirst: true })).toBe('b')
  await passed(0)
  end()
  await Promise.all(waiting)
  expect(await next).toBe('next')
  expect(await reports.run('a', () => 'again', { isFirst: true })).toBe('again')
})

test('a step that never ends holds up its workspace for half a minute, because its request may be gone', async () => {
  const { reports, passed } = turns()
  void reports.run('a', () => new Promise(() => {}))
  const next = reports.run('a', () => 'next')
  await passed(29_999)
  await passed(1)
  expect(await next).toBe('next')
})
