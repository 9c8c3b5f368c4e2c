import type { Catalog } from './catalog.ts'

/** Milliseconds of a day; the engine's own constant would load its files. */
const millisecondsPerDay = 86_400_000
/** One price in ten was wrong 53 days after it was read. */
const freshDays = 30

/**
 * Days since a catalog was read if it is older than 30 days, else undefined. `now` in Unix milliseconds.
 *
 * @example staleDays({ as_of: '2026-09-30' }, Date.parse('2026-11-22')) // 53
 */
export function staleDays({ as_of }: Pick<Catalog, 'as_of'>, now: number): number | undefined {
  const days = Math.floor((now - Date.parse(as_of)) / millisecondsPerDay)
  return days > freshDays ? days : undefined
}
