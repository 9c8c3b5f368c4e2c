import { dayMs } from '@signalbox/core/protocol'
import type { Catalog } from './catalog.ts'

/** One price in ten was wrong 53 days after it was read. */
const freshDays = 30

/**
 * Days since a catalog was read if it is older than 30 days, else undefined. `now` in Unix milliseconds.
 *
 * @example staleDays({ as_of: '2026-09-30' }, Date.parse('2026-11-22')) // 53
 */
export function staleDays({ as_of }: Pick<Catalog, 'as_of'>, now: number): number | undefined {
  const days = Math.floor((now - Date.parse(as_of)) / dayMs)
  return days > freshDays ? days : undefined
}
