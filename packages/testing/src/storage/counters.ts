import { promised } from '@signalbox/storage/awaitable'
import type { CounterRequest, CounterStore } from '@signalbox/storage/counters'
import { describe, expect, test } from 'vitest'
import { DAY, HOUR, type MakeStorage, MINUTE, ODD_STRINGS, T0 } from './subject.ts'

const one: CounterRequest = { key: 'rpm:key_1', amount: 1, limit: 3, windowMs: MINUTE }
const slot = { key: 'key_1', slot: 'a', limit: 2, ttlMs: MINUTE }

/** The value of a counter at `at`, found by probing for the limit that still refuses. */
async function usedOf(counters: CounterStore, key: string, at: number): Promise<number> {
  for (let used = 0; ; used++) if (!(await counters.take([{ key, amount: 0, limit: used, windowMs: MINUTE }], at))) return used
}

/** Conformance suite for counters and slots. `describeCounters(opener(make))` */
export function describeCounters(open: MakeStorage): void {
  describe('counters', () => {
    test('a counter admits calls up to its limit, then refuses with the time until a retry', async () => {
      const { counters } = (await open()).storage
      for (let n = 0; n < 3; n++) expect(await counters.take([one], T0 + n)).toBeUndefined()
      expect(await counters.take([one], T0 + 10_000)).toEqual({ key: one.key, retryAfterMs: MINUTE - 10_000 })
      expect(await counters.take([one], T0 + MINUTE - 1)).toEqual({ key: one.key, retryAfterMs: 1 })
    })

    test('a window starts at the first take, and a new one starts after it ends', async () => {
      const { counters } = (await open()).storage
      await counters.take([{ ...one, amount: 3 }], T0 + 7)
      expect(await counters.take([one], T0 + MINUTE + 6)).toEqual({ key: one.key, retryAfterMs: 1 })
      expect(await counters.take([{ ...one, amount: 3 }], T0 + MINUTE + 7)).toBeUndefined()
      expect(await counters.take([one], T0 + MINUTE + 8)).toEqual({ key: one.key, retryAfterMs: MINUTE - 1 })
    })

    test('a retry after retryAfterMs is admitted', async () => {
      const { counters } = (await open()).storage
      await counters.take([{ ...one, amount: 3 }], T0)
      const refusal = await counters.take([one], T0 + 123)
      expect(await counters.take([one], T0 + 123 + (refusal?.retryAfterMs ?? 0))).toBeUndefined()
    })

    test('a clock set back by half a window causes no wait longer than one window', async () => {
      const { counters } = (await open()).storage
      await counters.take([{ ...one, amount: 3 }], T0)
      const back = T0 - MINUTE / 2
      expect(await counters.take([one], back)).toEqual({ key: one.key, retryAfterMs: MINUTE })
      expect(await counters.take([one], back + MINUTE - 1)).toEqual({ key: one.key, retryAfterMs: 1 })
      expect(await counters.take([one], back + MINUTE)).toBeUndefined()
    })

    test('a take counts on all counters or none: the refusal names the first full one, and the others are unchanged', async () => {
      const { counters } = (await open()).storage
      await counters.take([{ ...one, key: 'full', limit: 1 }], T0)
      await counters.take([{ ...one, key: 'half' }], T0)
      const all = ['half', 'fresh', 'full', 'full2'].map(key => ({ ...one, key, limit: key.startsWith('full') ? 1 : 3 }))
      expect(await counters.take(all, T0 + 5)).toEqual({ key: 'full', retryAfterMs: MINUTE - 5 })
      expect(await usedOf(counters, 'half', T0 + 5)).toBe(1)
      // If the refused take had started a window, this one would end sooner.
      await counters.take([{ ...one, key: 'fresh', amount: 3 }], T0 + 1_000)
      expect(await counters.take([{ ...one, key: 'fresh' }], T0 + 1_000)).toEqual({ key: 'fresh', retryAfterMs: MINUTE })
      expect(await counters.take([{ ...one, key: 'full2', limit: 1 }], T0 + 5)).toBeUndefined()
    })

    test('a refused take does not start a new window', async () => {
      const { counters } = (await open()).storage
      await counters.take([{ ...one, key: 'old', amount: 2 }], T0)
      const later = T0 + MINUTE + 5
      await counters.take([{ ...one, key: 'full', amount: 3 }], later)
      await counters.take(
        [
          { ...one, key: 'old' },
          { ...one, key: 'full' },
        ],
        later,
      )
      await counters.take([{ ...one, key: 'old', amount: 3 }], later + 1_000)
      expect(await counters.take([{ ...one, key: 'old' }], later + 1_000)).toEqual({ key: 'old', retryAfterMs: MINUTE })
    })

    test('a counter named twice in one take counts twice, or not at all', async () => {
      const { counters } = (await open()).storage
      expect(await counters.take([one, one, one, one], T0)).toEqual({ key: one.key, retryAfterMs: MINUTE })
      expect(await counters.take([one, one, one], T0)).toBeUndefined()
      expect(await counters.take([one], T0)).toEqual({ key: one.key, retryAfterMs: MINUTE })
    })

    test('a counter named twice with two windows is unchanged by a refusal', async () => {
      const { counters } = (await open()).storage
      await counters.take([one, { ...one, windowMs: 2 * MINUTE }, { ...one, key: 'shut', limit: 0 }], T0)
      await counters.take([{ ...one, amount: 3 }], T0 + 1_000)
      expect(await counters.take([one], T0 + 1_000)).toEqual({ key: one.key, retryAfterMs: MINUTE })
    })

    test('of 1,000 concurrent takes, exactly as many are admitted as fit', async () => {
      const { counters } = (await open()).storage
      const takes = Array.from({ length: 1_000 }, () =>
        counters.take(
          [
            { ...one, limit: 333 },
            { ...one, key: 'b', limit: 900 },
          ],
          T0,
        ),
      )
      expect((await Promise.all(takes)).filter(refusal => refusal === undefined)).toHaveLength(333)
      expect(await usedOf(counters, 'b', T0)).toBe(333)
    })

    test('an amount above the limit, or a limit of 0, is always refused', async () => {
      const { counters } = (await open()).storage
      expect(await counters.take([{ ...one, amount: 4 }], T0)).toEqual({ key: one.key, retryAfterMs: MINUTE })
      expect(await counters.take([{ ...one, limit: 0 }], T0)).toEqual({ key: one.key, retryAfterMs: MINUTE })
      expect(await counters.take([{ ...one, amount: 3 }], T0)).toBeUndefined()
      expect(await counters.take([], T0)).toBeUndefined()
    })

    test('the limit is an argument of the take: raising it admits more at once', async () => {
      const { counters } = (await open()).storage
      await counters.take([{ ...one, amount: 3 }], T0)
      expect(await counters.take([{ ...one, limit: 4 }], T0)).toBeUndefined()
      expect(await counters.take([{ ...one, limit: 2 }], T0)).toMatchObject({ key: one.key })
    })

    test('add never refuses: it can free capacity or exceed the limit', async () => {
      const { counters } = (await open()).storage
      await counters.take([{ ...one, amount: 3 }], T0)
      await counters.add(one.key, -2, T0 + 1)
      expect(await usedOf(counters, one.key, T0 + 1)).toBe(1)
      await counters.add(one.key, 9, T0 + 2)
      expect(await usedOf(counters, one.key, T0 + 2)).toBe(10)
      expect(await counters.take([one], T0 + 3)).toEqual({ key: one.key, retryAfterMs: MINUTE - 3 })
    })

    test('add never frees more than the limit', async () => {
      const { counters } = (await open()).storage
      await counters.take([one], T0)
      await counters.add(one.key, -100, T0)
      expect(await counters.take([{ ...one, amount: 4 }], T0)).toMatchObject({ key: one.key })
      expect(await counters.take([{ ...one, amount: 3 }], T0)).toBeUndefined()
      expect(await counters.take([one], T0)).toMatchObject({ key: one.key })
    })

    test('add never starts a window and does not affect the next one', async () => {
      const { counters } = (await open()).storage
      await counters.add(one.key, 3, T0)
      await counters.take([{ ...one, amount: 3 }], T0 + 1_000)
      expect(await counters.take([one], T0 + 1_000)).toEqual({ key: one.key, retryAfterMs: MINUTE })
      await counters.add(one.key, 5, T0 + 1_000 + MINUTE)
      expect(await counters.take([{ ...one, amount: 3 }], T0 + 1_000 + MINUTE)).toBeUndefined()
    })

    test('takes that arrive out of order share one window, which starts at the earliest time', async () => {
      const { counters } = (await open()).storage
      expect(await counters.take([one], T0 + 5)).toBeUndefined()
      expect(await counters.take([one], T0)).toBeUndefined()
      expect(await counters.take([one], T0 + 3)).toBeUndefined()
      expect(await counters.take([one], T0 + 5)).toEqual({ key: one.key, retryAfterMs: MINUTE - 5 })
      expect(await counters.take([one], T0 - 2)).toEqual({ key: one.key, retryAfterMs: MINUTE })
      expect(await counters.take([{ ...one, amount: 3 }], T0 - 2 + MINUTE)).toBeUndefined()
    })

    test.each([-30_000, -MINUTE])('after the clock is set by %i ms, a window lasts its full length from the new time', async jump => {
      const { counters } = (await open()).storage
      await counters.take([{ ...one, amount: 3 }], T0)
      const from = T0 + jump
      expect(await counters.take([one], from)).toEqual({ key: one.key, retryAfterMs: MINUTE })
      expect(await counters.take([one], from + MINUTE - 1)).toEqual({ key: one.key, retryAfterMs: 1 })
      expect(await counters.take([{ ...one, amount: 3 }], from + MINUTE)).toBeUndefined()
    })

    test.each([-HOUR, -DAY, HOUR, DAY])('after the clock is set by %i ms, a counter restarts', async jump => {
      const { counters } = (await open()).storage
      await counters.take([{ ...one, amount: 3 }], T0)
      const from = T0 + jump
      // A refusal by another counter leaves the void window void.
      const shut = { ...one, key: 'shut', limit: 0 }
      expect(await counters.take([one, shut], from)).toEqual({ key: 'shut', retryAfterMs: MINUTE })
      expect(await counters.take([one], from)).toBeUndefined()
      expect(await counters.take([{ ...one, amount: 2 }], from + 1)).toBeUndefined()
      expect(await counters.take([one], from + 2)).toEqual({ key: one.key, retryAfterMs: MINUTE - 2 })
    })

    test('fractions and NaN are refused and change nothing', async () => {
      const { counters } = (await open()).storage
      for (const amount of [0.5, -1, Number.NaN, Number.POSITIVE_INFINITY])
        await expect(promised(() => counters.take([one, { ...one, amount }], T0))).rejects.toThrow('amount')
      await expect(promised(() => counters.add(one.key, Number.NaN, T0))).rejects.toThrow('amount')
      await expect(promised(() => counters.take([{ ...one, windowMs: 0 }], T0))).rejects.toThrow('windowMs')
      expect(await usedOf(counters, one.key, T0)).toBe(0)
    })
  })

  describe('slots', () => {
    test('there are as many slots as the limit, and leaving frees one', async () => {
      const { counters } = (await open()).storage
      expect(await counters.enter({ ...slot, slot: 'a' }, T0)).toBe(true)
      expect(await counters.enter({ ...slot, slot: 'b' }, T0)).toBe(true)
      expect(await counters.enter({ ...slot, slot: 'c' }, T0)).toBe(false)
      expect(await counters.enter({ ...slot, key: 'key_2', slot: 'c' }, T0)).toBe(true)
      await counters.leave('key_1', 'a')
      expect(await counters.enter({ ...slot, slot: 'c' }, T0)).toBe(true)
      expect(await counters.enter({ ...slot, slot: 'd' }, T0)).toBe(false)
    })

    test('a slot that is never left is freed after its TTL', async () => {
      const { counters } = (await open()).storage
      await counters.enter({ ...slot, slot: 'a' }, T0)
      await counters.enter({ ...slot, slot: 'b' }, T0 + 10)
      expect(await counters.enter({ ...slot, slot: 'c' }, T0 + MINUTE - 1)).toBe(false)
      expect(await counters.enter({ ...slot, slot: 'c' }, T0 + MINUTE)).toBe(true)
      expect(await counters.enter({ ...slot, slot: 'd' }, T0 + MINUTE)).toBe(false)
      expect(await counters.enter({ ...slot, slot: 'd' }, T0 + MINUTE + 10)).toBe(true)
    })

    test.each([-30_000, -HOUR, -DAY])('after the clock is set by %i ms, a slot that is never left is freed one TTL later', async jump => {
      const { counters } = (await open()).storage
      const from = T0 + jump
      await counters.enter({ ...slot, slot: 'crashed' }, T0)
      await counters.enter({ ...slot, slot: 'live' }, T0)
      expect(await counters.enter({ ...slot, slot: 'c' }, from)).toBe(false)
      expect(await counters.enter({ ...slot, slot: 'live' }, from + MINUTE / 2)).toBe(true)
      expect(await counters.enter({ ...slot, slot: 'c' }, from + MINUTE - 1)).toBe(false)
      expect(await counters.enter({ ...slot, slot: 'c' }, from + MINUTE)).toBe(true)
      expect(await counters.enter({ ...slot, slot: 'd' }, from + MINUTE)).toBe(false)
    })

    test('a slot that expired through a clock jump is restored by a renewal, whatever the limit', async () => {
      const { counters } = (await open()).storage
      for (const name of ['a', 'b']) await counters.enter({ ...slot, slot: name }, T0)
      const from = T0 + HOUR
      expect(await counters.enter({ ...slot, slot: 'c' }, from)).toBe(true)
      for (const name of ['a', 'b']) expect(await counters.enter({ ...slot, slot: name, limit: Number.MAX_SAFE_INTEGER }, from)).toBe(true)
      await counters.leave('key_1', 'c')
      expect(await counters.enter({ ...slot, slot: 'd' }, from)).toBe(false)
      await counters.leave('key_1', 'a')
      expect(await counters.enter({ ...slot, slot: 'd' }, from)).toBe(true)
    })

    test('entering the same slot again takes no second slot and renews its TTL', async () => {
      const { counters } = (await open()).storage
      await counters.enter({ ...slot, slot: 'a' }, T0)
      expect(await counters.enter({ ...slot, slot: 'a' }, T0 + 30_000)).toBe(true)
      expect(await counters.enter({ ...slot, slot: 'b' }, T0 + 30_000)).toBe(true)
      expect(await counters.enter({ ...slot, slot: 'a' }, T0 + 30_000)).toBe(true)
      expect(await counters.enter({ ...slot, slot: 'c' }, T0 + 30_000 + MINUTE - 1)).toBe(false)
      await counters.leave('key_1', 'a')
      expect(await counters.enter({ ...slot, slot: 'c' }, T0 + 40_000)).toBe(true)
      expect(await counters.enter({ ...slot, slot: 'd' }, T0 + 40_000)).toBe(false)
    })

    test('leaving twice, or leaving a slot that was never entered, frees no other slot', async () => {
      const { counters } = (await open()).storage
      await counters.enter({ ...slot, slot: 'a' }, T0)
      await counters.enter({ ...slot, slot: 'b' }, T0)
      for (const gone of ['a', 'a', 'z']) await counters.leave('key_1', gone)
      await counters.leave('key_9', 'b')
      expect(await counters.enter({ ...slot, slot: 'c' }, T0)).toBe(true)
      expect(await counters.enter({ ...slot, slot: 'd' }, T0)).toBe(false)
    })

    test('of 200 concurrent entries, as many are admitted as there are slots; a limit of 0 admits none', async () => {
      const { counters } = (await open()).storage
      const entering = Array.from({ length: 200 }, (_, n) => counters.enter({ ...slot, slot: `s${n}`, limit: 66 }, T0))
      expect((await Promise.all(entering)).filter(Boolean)).toHaveLength(66)
      expect(await counters.enter({ ...slot, key: 'shut', limit: 0 }, T0)).toBe(false)
    })

    test('after many entries that end by leaving or by expiry, all slots are free', async () => {
      const { counters } = (await open()).storage
      for (let round = 0; round < 10; round++) {
        const at = T0 + round * MINUTE
        const inside = Array.from({ length: 100 }, (_, n) => counters.enter({ ...slot, slot: `${round}-${n}`, limit: 100 }, at))
        expect((await Promise.all(inside)).filter(Boolean)).toHaveLength(100)
        await Promise.all(Array.from({ length: 50 }, (_, n) => counters.leave('key_1', `${round}-${n * 2}`)))
      }
      const end = T0 + 10 * MINUTE
      const last = Array.from({ length: 101 }, (_, n) => counters.enter({ ...slot, slot: `end-${n}`, limit: 100 }, end))
      expect((await Promise.all(last)).filter(Boolean)).toHaveLength(100)
    })

    test('unusual strings are accepted as keys and slots', async () => {
      const { counters } = (await open()).storage
      for (const odd of ODD_STRINGS) {
        expect(await counters.take([{ ...one, key: odd, limit: 1 }], T0)).toBeUndefined()
        expect(await counters.take([{ ...one, key: odd, limit: 1 }], T0)).toEqual({ key: odd, retryAfterMs: MINUTE })
        expect(await counters.enter({ ...slot, key: odd, slot: odd, limit: 1 }, T0)).toBe(true)
        expect(await counters.enter({ ...slot, key: odd, slot: 'other', limit: 1 }, T0)).toBe(false)
      }
    })
  })
}
