import type { Kind } from './lab.ts'

/** What every section of the benchmark is given. */
export interface Options {
  /** Fewer requests and rounds; the figures are for a glance and are not written to the page. */
  readonly quick: boolean
  /** Only cases whose title holds every one of these words. */
  readonly only: readonly string[]
  /** The one that `profile`, `allocations` and `held` look into. */
  readonly server: Kind
}

/** Measures, and returns what it found as Markdown. */
export type Section = (options: Options) => Promise<string>
