// A memory store has its answer at once; PostgreSQL has it a round trip later. These functions let one piece of code serve both:
// it goes on synchronously where the value is there, and becomes asynchronous only where something really waits.

/**
 * A value, or a promise of it. A function that returns an `Awaitable` may also fail in two ways: it throws at once, or it returns a
 * promise that rejects. `await` treats both alike; outside an `async` function use `recover`, `allOf` or `allSettled`, which do too.
 *
 * `T` must not be a thenable itself.
 */
export type Awaitable<T> = T | Promise<T>

/** Whether a value has to be waited for: a promise of any realm, or another thenable. `isPromise(storage.ping())` */
export const isPromise = <T>(value: Awaitable<T>): value is Promise<T> =>
  typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'

/**
 * Goes on with a value: at once where it is there, once it resolves where it is a promise.
 *
 * What `next` throws is thrown at once in the first case and is a rejection in the second. A function that must fail in one way
 * only is `async`, or is called through `recover`.
 *
 * @example
 * const room = andThen(storage.ledger.balance(account), ({ balance, held }) => balance - held)
 */
export const andThen = <T, R>(value: Awaitable<T>, next: (value: T) => Awaitable<R>): Awaitable<R> =>
  isPromise(value) ? Promise.resolve(value).then(next) : next(value)

/**
 * What `run` answers; where it throws or rejects, what `onError` makes of the error. What `onError` throws itself fails in the same
 * way as `run` did: at once, or as a rejection.
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
 * Calls every function and answers with all their values, at once where none of them is a promise. As with `Promise.all`, the first
 * failure is the answer: it waits for no other, and no rejection is left unhandled. It is thrown where no function returned a
 * promise, and is a rejection otherwise.
 *
 * It takes functions and not values: a list of values that throws half-way leaves the promises before it alone, and does not begin
 * what comes after.
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
 * Calls every function, whatever becomes of the others, and tells how each ended: at once where none of them returned a promise.
 * Never throws and never rejects.
 *
 * @example
 * const ends = await allSettled(slots.map(key => () => counters.leave(key, requestId)))
 */
export function allSettled<T>(runs: readonly (() => Awaitable<T>)[]): Awaitable<PromiseSettledResult<T>[]> {
  const ends = runs.map(run => recover<PromiseSettledResult<T>>(() => andThen(run(), fulfilled), rejected))
  return ends.every(end => !isPromise(end)) ? (ends as PromiseSettledResult<T>[]) : Promise.all(ends)
}

const fulfilled = <T>(value: T): PromiseFulfilledResult<T> => ({ status: 'fulfilled', value })
const rejected = (reason: unknown): PromiseRejectedResult => ({ status: 'rejected', reason })

/**
 * What `run` answers as a promise, so that what it throws is a rejection. For a caller that keeps the promise, or races it.
 *
 * @example
 * await Promise.race([promised(() => storage.ping()), sleep(1_000)])
 */
export const promised = async <T>(run: () => Awaitable<T>): Promise<T> => run()
