import { describe, expect, inject, test } from 'vitest'
import { type Books, booksOf, expectSound, type Load, lockFile, lostIn, newFile, pause, startChild, startLoad, until } from './scene.ts'

// Gateways as processes of their own on one SQLite file, under load, while the store is locked, full or their process killed.
// The long run has the figures of the promise, the usual one small ones and a faster clock.

const isLong = inject('isLongRun')
const figures = isLong
  ? { lockMs: 60_000, fullMs: 30_000, kills: 100, workers: 24, restMs: 0, speed: 1, busyTimeoutMs: 5_000 }
  : { lockMs: 1_500, fullMs: 1_000, kills: 2, workers: 8, restMs: 80, speed: 20, busyTimeoutMs: 250 }
const { lockMs, fullMs, kills, workers, restMs, speed } = figures
/** The rest of a minute of the lease, by the clock of the children; and time for a slow machine. */
const minuteMs = 60_000 / speed + (isLong ? 0 : 200_000)
const testMs = isLong ? 1_800_000 : 600_000
/** In which all is settled after a fault: what is promised, and in the usual run what a busy machine may take. */
const recoveryMs = isLong ? 10_000 : 200_000

const report = (title: string, facts: object): void => {
  if (isLong) process.stderr.write(`${title}: ${JSON.stringify(facts)}\n`)
}

describe('under load', () => {
  test(
    `if another process locks the database for ${lockMs / 1_000} s, no delivered response is lost, and all are settled within 10 s`,
    async () => {
      const { file, load } = await underLoad()
      const unlock = lockFile(file)
      const before = booksOf(file).rows.length
      await pause(lockMs)
      const delivered = new Set(load.delivered)
      expect(booksOf(file).rows.length).toBe(before)
      expect(lostIn(booksOf(file), delivered).length).toBeGreaterThan(0)
      unlock()
      const books = await expectRecovery('lock', { file, load, delivered })
      expect(books.rows.filter(({ result }) => result !== 'ok')).toEqual([])
    },
    testMs,
  )

  test(
    `if the disk is full for ${fullMs / 1_000} s, no delivered response is lost, and all are settled within 10 s`,
    async () => {
      const { file, child, load } = await underLoad()
      child.disk('full')
      // What lies free within the file is used up first.
      await until(() => lostIn(booksOf(file), load.delivered).length > 0, 200_000)
      await pause(fullMs)
      const delivered = new Set(load.delivered)
      const waiting = lostIn(booksOf(file), delivered).length
      child.disk('room')
      await expectRecovery('full', { file, load, delivered })
      expect(waiting).toBeGreaterThan(0)
    },
    testMs,
  )

  test(
    'kill -9 while another process has the lock loses no delivered response: the next process finds its settlement in the spool',
    async () => {
      const { file, child, load, urls } = await underLoad()
      const unlock = await lockWhileSettling(file, load)
      urls.length = 0
      await child.kill()
      await load.stop()
      const waiting = lostIn(booksOf(file), load.delivered).length
      unlock()
      await startChild(file, figures)
      const settledMs = await until(() => isSettled(file, load), minuteMs)
      const books = booksOf(file)
      report('kill in lock', { ...counted(books), delivered: load.delivered.size, waiting, settledMs })
      expect(waiting).toBeGreaterThan(0)
      expectSettled(books, load)
    },
    testMs,
  )

  test(
    `${kills} kills of two processes on one file lose no acknowledged write, and all credit is free within a minute of the last`,
    async () => {
      const { file, secret } = await newFile()
      const children = await Promise.all([startChild(file, figures), startChild(file, figures)])
      const urls = children.map(({ url }) => url as string | undefined)
      const load = startLoad(() => urls.filter(url => url !== undefined), { secret, workers, restMs })
      for (let n = 0; n < kills; n++) {
        const victim = n % 2
        await pause(300 + ((n * 377) % 900))
        urls[victim] = undefined
        await children[victim]?.kill()
        const next = await startChild(file, figures)
        children[victim] = next
        urls[victim] = next.url
      }
      await load.stop()
      const freedMs = await until(() => booksOf(file).holds === 0, minuteMs)
      const books = booksOf(file)
      report('kills', { ...counted(books), kills, deliveredInAll: load.delivered.size, freedMs, outcomes: [...load.outcomes] })
      expect(load.delivered.size).toBeGreaterThan(kills)
      expect(books.rows.some(({ result }) => result === 'interrupted')).toBe(true)
      expectSettled(books, load)
    },
    testMs,
  )
})

/** A process on a file of its own, whose clients are all busy. */
async function underLoad() {
  const { file, secret } = await newFile()
  const child = await startChild(file, figures)
  const urls = [child.url]
  const load = startLoad(() => urls, { secret, workers, restMs })
  await until(() => load.delivered.size >= 2 * workers, 200_000)
  return { file, child, load, urls }
}

/** Takes the lock, again if need be, until answers were delivered whose settlements wait for it. */
async function lockWhileSettling(file: string, load: Load): Promise<() => void> {
  for (let tries = 1; ; tries += 1) {
    const unlock = lockFile(file)
    await until(() => lostIn(booksOf(file), load.delivered).length > 0, 2_000)
    if (lostIn(booksOf(file), load.delivered).length > 0 || tries === 10) return unlock
    unlock()
    await pause(500)
  }
}

const isSettled = (file: string, { delivered }: Load): boolean => {
  const books = booksOf(file)
  return lostIn(books, delivered).length === 0 && books.holds === 0
}

function expectSettled(books: Books, { delivered }: Load): void {
  expect(lostIn(books, delivered)).toEqual([])
  expect([books.held, books.holds]).toEqual([0, 0])
  expectSound(books)
}

interface Fault {
  readonly file: string
  readonly load: Load
  /** Ids of answers that were read to their end before the fault was over. */
  readonly delivered: ReadonlySet<string>
}

/** Once the fault is over, deferred settlements are made within 10 s, and all later ones too. */
async function expectRecovery(title: string, { file, load, delivered }: Fault): Promise<Books> {
  const recoveredMs = await until(() => lostIn(booksOf(file), delivered).length === 0, recoveryMs)
  await load.stop()
  await until(() => isSettled(file, load), recoveryMs)
  const books = booksOf(file)
  report(title, { ...counted(books), deliveredInAll: load.delivered.size, recoveredMs, outcomes: [...load.outcomes] })
  expect(recoveredMs).toBeLessThan(recoveryMs)
  expectSettled(books, load)
  return books
}

function counted({ rows, held, holds }: Books): Readonly<Record<string, number>> {
  const counts: Record<string, number> = { held, holds }
  for (const { result } of rows) counts[result] = (counts[result] ?? 0) + 1
  const interrupted = rows.filter(({ result }) => result === 'interrupted')
  return { ...counts, interruptedAndBilled: interrupted.filter(({ cost }) => cost > 0).length }
}
