/** Options of every section of the benchmark. */
interface Options {
  /** Fewer requests and rounds; the figures are only for a quick look and not written to the page. */
  readonly quick: boolean
  /** Only cases whose title contains all of these words. */
  readonly only: readonly string[]
}

/** Measures, and returns the results as Markdown. */
export type Section = (options: Options) => Promise<string>
