import type { Awaitable } from '@signalbox/storage'
import { isPromise } from '@signalbox/storage/awaitable'

// One path serves storages that answer at once and those over a network. As async functions, a whole response made 110 promises, most of
// them for values that were there.

/**
 * A step of a request: like an async function, but it continues synchronously when a value is already available. A step is a generator: it
 * waits with `yield* wait(value)`, calls other steps with `yield* step()`, and is run by `runSteps`.
 *
 * @example
 * function* admit(ports: AdmitPorts, caller: Caller): Step<Ticket> {
 *   const policy = yield* wait(ports.policies.of(caller.workspaceId))
 *   return yield* takeSlot(ports, policy)
 * }
 */
export type Step<T> = Generator<Promise<unknown>, T, unknown>

/** Waits for a value. Creates no promise if the value is already available; throws the reason of a rejection. */
export function* wait<T>(value: Awaitable<T>): Step<T> {
  return isPromise(value) ? ((yield value) as T) : value
}

/** Interrupts the waits of a step from outside. */
export interface Interruption {
  /** Set to false to stop interrupting waits. */
  isOn: boolean
  /** Called at each wait. Calls `interrupt` with the error that ends the wait, and returns a function that stops watching. */
  readonly watch: (interrupt: (error: unknown) => void) => () => void
}

/**
 * Runs a step. Returns its result directly if it never waited, otherwise a promise; errors are thrown or rejected accordingly.
 *
 * When interrupted, the step throws at its current wait and the promise rejects. The step can then release what it holds, but nothing is
 * awaited any more: further waits return undefined, and pending results are ignored.
 *
 * @throws whatever the step throws before its first wait
 */
export function runSteps<T>(step: Step<T>, interruption?: Interruption): Awaitable<T> {
  const first = step.next()
  if (first.done) return first.value
  if (interruption?.isOn) return runInterruptibly(step, first, interruption)
  return new Promise<T>((resolve, reject) => {
    const follow = (result: IteratorResult<Promise<unknown>, T>): void => {
      if (result.done) resolve(result.value)
      else result.value.then(goOn, throwIn)
    }
    const goOn = (value: unknown): void => {
      try {
        follow(step.next(value))
      } catch (error) {
        reject(error)
      }
    }
    const throwIn = (error: unknown): void => {
      try {
        follow(step.throw(error))
      } catch (thrown) {
        reject(thrown)
      }
    }
    follow(first)
  })
}

async function runInterruptibly<T>(step: Step<T>, first: IteratorResult<Promise<unknown>, T>, interruption: Interruption): Promise<T> {
  let result = first
  while (!result.done) {
    const waited = await waitOrInterrupt(result.value, interruption)
    if (waited.status === 'interrupted') {
      finishWithoutWaiting(step, waited.error)
      throw waited.error
    }
    result = waited.status === 'rejected' ? step.throw(waited.error) : step.next(waited.value)
  }
  return result.value
}

interface Waited {
  readonly status: 'fulfilled' | 'rejected' | 'interrupted'
  readonly value?: unknown
  readonly error?: unknown
}

async function waitOrInterrupt(value: Promise<unknown>, { isOn, watch }: Interruption): Promise<Waited> {
  let stop = (): void => {}
  const waited = await new Promise<Waited>(resolve => {
    value.then(
      result => resolve({ status: 'fulfilled', value: result }),
      error => resolve({ status: 'rejected', error }),
    )
    if (isOn) stop = watch(error => resolve({ status: 'interrupted', error }))
  })
  stop()
  return waited
}

function finishWithoutWaiting(step: Step<unknown>, error: unknown): void {
  try {
    for (let result = step.throw(error); !result.done; result = step.next(undefined)) Promise.resolve(result.value).catch(() => {})
  } catch {
    // The caller already has the error.
  }
}
