import { describe, expect, test } from 'vitest'
import { type MakeStorage, ODD_STRINGS, partOf, reopened } from './subject.ts'

/** Conformance suite for spools. `describeSpool(opener(make))` */
export function describeSpool(open: MakeStorage): void {
  const lines = ODD_STRINGS.map(odd => JSON.stringify(odd))

  describe('a spool', () => {
    test('returns appended lines to the next process once, in order and unchanged', async () => {
      const subject = await open()
      const spool = partOf(subject.storage, 'spool')
      await spool.append(lines.slice(0, 3))
      await spool.append(lines.slice(3))
      expect(await spool.adopt()).toEqual([])
      const again = partOf(await reopened(subject), 'spool')
      expect(await again.adopt()).toEqual(lines)
      expect(await again.adopt()).toEqual([])
    })

    test('keeps adopted lines until it is cleared', async () => {
      const subject = await open()
      await partOf(subject.storage, 'spool').append(['a'])
      const second = await reopened(subject)
      await partOf(second, 'spool').adopt()
      await second.close()
      const third = partOf(await reopened(subject), 'spool')
      expect(await third.adopt()).toEqual(['a'])
      await third.clear()
      expect(await partOf(await reopened(subject), 'spool').adopt()).toEqual([])
    })

    test('is empty after it was cleared', async () => {
      const subject = await open()
      const spool = partOf(subject.storage, 'spool')
      await spool.clear()
      await spool.append(['a'])
      await spool.clear()
      await spool.append([])
      expect(await partOf(await reopened(subject), 'spool').adopt()).toEqual([])
    })
  })
}
