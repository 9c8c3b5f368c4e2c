import type { Storage } from '../storage.ts'

/**
 * The same storage with every answer and every error by promise: for tests of what must not depend on a store that answers at once.
 *
 * @example
 * const storage = answerByPromise(memoryStorage())
 */
export function answerByPromise(storage: Storage): Storage {
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
