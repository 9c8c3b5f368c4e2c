import { vi } from 'vitest'

/** Milliseconds within which what a test waits for must happen. A quiet machine takes less than a hundredth of them. */
export const waitMs = 120_000

interface WaitOptions {
  /** Milliseconds between two looks. Default: 20. */
  readonly interval?: number
}

/** `vi.waitFor` for as long as a busy machine may take: repeats `look` until it does not throw. `await waitFor(() => expect(calls).toHaveLength(2))` */
export const waitFor = <Value>(look: () => Value | Promise<Value>, { interval = 20 }: WaitOptions = {}): Promise<Value> =>
  vi.waitFor(look, { timeout: waitMs, interval })

/** `vi.waitUntil` for as long as a busy machine may take: repeats `look` until its result is truthy. `await waitUntil(() => closed === 2)` */
export const waitUntil = <Value>(look: () => Value | Promise<Value>, { interval = 20 }: WaitOptions = {}) =>
  vi.waitUntil(look, { timeout: waitMs, interval })
