import { describe, expect, type TestContext, test } from 'vitest'
import type { SpoolStore } from '../spool.ts'
import type { Storage } from '../storage.ts'
import { type MakeStorage, ODD_STRINGS } from './subject.ts'

/** Conformance suite for spools. `describeSpool(opener(make))` */
export function describeSpool(open: MakeStorage): void {
  const spoolOf = (storage: Storage, context: TestContext): SpoolStore => storage.spool ?? context.skip('the store has no spool')
  const lines = ODD_STRINGS.map(odd => JSON.stringify(odd))

  describe('a spool', () => {
    test('returns appended lines to the next process once, in order and unchanged', async context => {
      const { storage, reopen } = await open()
      const spool = spoolOf(storage, context)
      if (!reopen) return context.skip('nothing outlives the process')
      await spool.append(lines.slice(0, 3))
      await spool.append(lines.slice(3))
      expect(await spool.adopt()).toEqual([])
      const again = spoolOf(await reopen(), context)
      expect(await again.adopt()).toEqual(lines)
      expect(await again.adopt()).toEqual([])
    })

    test('keeps adopted lines until it is cleared', async context => {
      const { storage, reopen } = await open()
      if (!reopen) return context.skip('nothing outlives the process')
      await spoolOf(storage, context).append(['a'])
      const second = await reopen()
      await spoolOf(second, context).adopt()
      await second.close()
      const third = spoolOf(await reopen(), context)
      expect(await third.adopt()).toEqual(['a'])
      await third.clear()
      expect(await spoolOf(await reopen(), context).adopt()).toEqual([])
    })

    test('is empty after it was cleared', async context => {
      const { storage, reopen } = await open()
      const spool = spoolOf(storage, context)
      await spool.clear()
      await spool.append(['a'])
      await spool.clear()
      await spool.append([])
      if (reopen) expect(await spoolOf(await reopen(), context).adopt()).toEqual([])
    })
  })
}
