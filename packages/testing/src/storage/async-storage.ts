import type { Storage } from '@signalbox/storage'

/**
 * Wraps a storage so that every value and every error is delivered by a promise, for tests of code that must not rely on synchronous
 * stores.
 *
 * @example
 * const storage = asyncStorage(memoryStorage())
 */
export function asyncStorage(storage: Storage): Storage {
  const parts = Object.entries(storage).map(([name, part]) => [name, isStore(part) ? byPromise(part) : part] as const)
  return byPromise(Object.fromEntries(parts)) as Storage
}

const isStore = (part: unknown): part is object => typeof part === 'object' && part !== null

function byPromise(store: object): object {
  const verbs = Object.entries(store).map(([name, verb]) => {
    if (typeof verb !== 'function') return [name, verb] as const
    return [name, async (...given: readonly unknown[]): Promise<unknown> => verb.apply(store, given)] as const
  })
  return Object.fromEntries(verbs)
}
