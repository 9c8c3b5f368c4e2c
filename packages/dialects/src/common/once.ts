/**
 * Loads once. A failed load is retried on the next call.
 *
 * @throws what `load` throws
 * @example const load = once(() => import('./table.ts'))
 */
export function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined
  return () =>
    (loading ??= load().catch(error => {
      loading = undefined
      throw error
    }))
}
