// A memory store returns values synchronously, a database after a round trip. These functions let the same code serve both: it continues
// synchronously if the value is available, and only becomes asynchronous if something has to be awaited.

/**
 * A value or a promise of it. A function that returns an `Awaitable` may also fail in two ways: by throwing, or by returning a promise that
 * rejects. `await` handles both; outside an `async` function, so do `recover`, `allOf` and `allSettled`.
 *
 * `T` must not be a thenable itself.
 */
export type Awaitable<T> = T | Promise<T>

/** Whether a value must be awaited: a promise of any realm, or another thenable. `isPromise(storage.ping())` */
export const isPromise = <T>(value: Awaitable<T>): value is Promise<T> =>
  typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'

/**
 * Continues with a value: synchronously if it is available, otherwise when its promise resolves.
 *
 * An error of `next` is thrown in the first case and is a rejection in the second. A function that must fail in only one way should be
 * `async`, or be called through `recover`.
 *
 * @example
 * const room = andThen(storage.ledger.balance(account), ({ balance, held }) => balance - held)
 */
export const andThen = <T, R>(value: Awaitable<T>, next: (value: T) => Awaitable<R>): Awaitable<R> =>
  isPromise(value) ? Promise.resolve(value).then(next) : next(value)

/**
 * Calls `run`, and `onError` with whatever it throws or rejects with. An error of `onError` fails in the same way as `run` did: it is
 * thrown, or is a rejection.
 *
 * @example
 * const entries = recover(() => storage.ledger.entries(account, { limit: 1 }), () => [])
 */
export function recover<T, R = T>(run: () => Awaitable<T>, onError: (error: unknown) => Awaitable<R>): Awaitable<T | R> {
  let value: Awaitable<T>
  try {
    value = run()
  } catch (error) {
    return onError(error)
  }
  return isPromise(value) ? Promise.resolve(value).then<T, R>(undefined, onError) : value
}

/**
 * Calls every function and returns all their values, synchronously if none of them is a promise. As with `Promise.all`, the first failure
 * fails the whole without waiting for the others, and no rejection is left unhandled.
 *
 * Accepts functions instead of values, because if building a list of values throws half-way, the promises before it stay unhandled and the
 * calls after it are not made.
 *
 * @throws the first error, if no function returned a promise; otherwise it is a rejection
 *
 * @example
 * const [credit, budget] = await allOf([() => ledger.balance('credit:ws_1'), () => ledger.balance('budget:b_1')])
 */
export function allOf<const Runs extends readonly (() => unknown)[]>(runs: Runs): Awaitable<ValuesOf<Runs>>
export function allOf(runs: readonly (() => unknown)[]): Awaitable<unknown[]> {
  const values: unknown[] = []
  let failed: { readonly error: unknown } | undefined
  for (const run of runs) {
    try {
      values.push(run())
    } catch (error) {
      failed ??= { error }
    }
  }
  if (values.some(isPromise)) return Promise.all(failed ? [Promise.reject(failed.error), ...values] : values)
  if (failed) throw failed.error
  return values
}

type ValuesOf<Runs extends readonly (() => unknown)[]> = { -readonly [Index in keyof Runs]: Awaited<ReturnType<Runs[Index]>> }

/**
 * Calls every function, even if others fail, and returns the outcome of each: synchronously if none returned a promise. Never throws or
 * rejects.
 *
 * @example
 * const ends = await allSettled(slots.map(key => () => counters.leave(key, requestId)))
 */
export function allSettled<T>(runs: readonly (() => Awaitable<T>)[]): Awaitable<PromiseSettledResult<T>[]> {
  const ends = runs.map(settledResult)
  return ends.every(end => !isPromise(end)) ? (ends as PromiseSettledResult<T>[]) : Promise.all(ends)
}

function settledResult<T>(run: () => Awaitable<T>): Awaitable<PromiseSettledResult<T>> {
  try {
    const value = run()
    return isPromise(value)
      ? Promise.resolve(value).then<PromiseSettledResult<T>, PromiseSettledResult<T>>(fulfilled, rejected)
      : fulfilled(value)
  } catch (error) {
    return rejected(error)
  }
}

const fulfilled = <T>(value: T): PromiseFulfilledResult<T> => ({ status: 'fulfilled', value })
const rejected = (reason: unknown): PromiseRejectedResult => ({ status: 'rejected', reason })

/**
 * Calls `run` and always returns a promise: an error it throws becomes a rejection.
 *
 * @example
 * await Promise.race([promised(() => storage.ping()), sleep(1_000)])
 */
export function promised<T>(run: () => Awaitable<T>): Promise<T> {
  try {
    return Promise.resolve(run())
  } catch (error) {
    return Promise.reject(error)
  }
}
