import type { Catalog } from './stored.ts'

/** Milliseconds per day. Defined here, because importing the engine's constant would load its files. */
const millisecondsPerDay = 86_400_000
/** Days until a catalog counts as stale. One price in ten was wrong after 53 days. */
const freshDays = 30

/**
 * The age of a catalog in days if it is older than 30 days, otherwise undefined. `now` in Unix milliseconds.
 *
 * @example staleDays({ asOf: '2026-09-30' }, Date.parse('2026-11-22')) // 53
 */
export function staleDays({ asOf }: Pick<Catalog, 'asOf'>, now: number): number | undefined {
  const days = Math.floor((now - Date.parse(asOf)) / millisecondsPerDay)
  return days > freshDays ? days : undefined
}
