import type { Clock } from './ports.ts'

/** Asks at most once in `ms`, however many callers there are: they share the result, also one that is still awaited. */
export function shareResult<T>(clock: Pick<Clock, 'monotonic'>, ms: number, ask: () => Promise<T>): () => Promise<T> {
  let last: { readonly result: Promise<T>; readonly at: number } | undefined
  return () => {
    const at = clock.monotonic()
    if (last === undefined || at - last.at >= ms) last = { result: ask(), at }
    return last.result
  }
}
