import { type Awaitable, isPromise, promised } from './awaitable.ts'

/** An outage of a server, from when its breaker opens until the server works again. */
export interface Outage {
  readonly error: Error
  /** When it began, in monotonic milliseconds. */
  readonly since: number
  /** Calls that were answered without the server. */
  calls: number
}

/**
 * What the error of a call means: `own`: the call fails with it. `replace`: this call alone is answered without the server. `probe`: the
 * breaker opens if a probe fails too. `open`: it opens at once.
 */
export type ErrorEffect = 'own' | 'replace' | 'probe' | 'open'

/** Options of `CircuitBreaker`. */
export interface BreakerOptions {
  /** Succeeds if the server works. */
  readonly probe: () => Awaitable<unknown>
  /** Ends an outage by succeeding. Default: `probe`. */
  readonly recover?: (outage: Outage) => Awaitable<unknown>
  readonly effectOf: (error: unknown) => ErrorEffect
  /** Called when an outage begins (`isOver` is false) and ends. */
  readonly onChange?: (outage: Outage, isOver: boolean) => void
  /** Milliseconds without a response to a call after which the server is probed. Default: calls end in time by themselves. */
  readonly silenceMs?: number
  /** Milliseconds between two probes during an outage: first and maximum. Each is twice the previous one. */
  readonly delays?: { readonly firstMs: number; readonly maxMs: number }
}

interface PendingCall {
  /** Monotonic milliseconds. */
  readonly since: number
  /** Answers the call without the server. */
  readonly leave: (outage: Outage) => void
}

/** Milliseconds without a failure after which the next outage starts with the first delay again. */
const steadyMs = 10_000
/** Milliseconds between two checks of pending calls. */
const maxLookMs = 250

/**
 * A circuit breaker in front of a server. It opens when calls fail or the server is silent; calls are then answered without the server,
 * until a background probe succeeds.
 */
export class CircuitBreaker {
  readonly #options: BreakerOptions
  readonly #delays: NonNullable<BreakerOptions['delays']>
  /** In the order in which they began. */
  readonly #pending = new Set<PendingCall>()
  #outage: Outage | undefined
  /** A probe after an error or silence: resolves to the outage, if it fails. */
  #checking: Promise<Outage | undefined> | undefined
  /** Checks pending calls, or probes during an outage. */
  #timer: ReturnType<typeof setTimeout> | undefined
  #delayMs: number
  #answeredAt = Number.NEGATIVE_INFINITY
  #endedAt = Number.NEGATIVE_INFINITY
  #isClosed = false

  /** `new CircuitBreaker({ probe: () => storage.ping(), effectOf: () => 'probe', silenceMs: 1_000 })` */
  constructor(options: BreakerOptions) {
    this.#options = options
    this.#delays = options.delays ?? { firstMs: 100, maxMs: 1_000 }
    this.#delayMs = this.#delays.firstMs
  }

  /** The current outage. */
  get outage(): Outage | undefined {
    return this.#outage
  }

  /**
   * Runs a call, or during an outage `instead`, without waiting. `late` is called with a response that arrives after the call was answered
   * without the server; `isAnswered`: whether that had succeeded.
   */
  run<T>(
    call: () => Awaitable<T>,
    instead: (outage: Outage) => Awaitable<T>,
    late?: (value: T, isAnswered: boolean) => void,
  ): Awaitable<T> {
    if (this.#outage) return without(this.#outage, instead)
    let value: Awaitable<T>
    try {
      value = call()
    } catch (error) {
      return this.#afterError(error, instead)
    }
    if (!isPromise(value)) return value
    if (this.#options.silenceMs === undefined) return Promise.resolve(value).catch(error => this.#afterError(error, instead))
    const running = value
    return new Promise<T>(resolve => {
      let isAnswered: Promise<boolean> | undefined
      const pending: PendingCall = {
        since: performance.now(),
        leave(outage) {
          const answer = promised(() => without(outage, instead))
          isAnswered = answer.then(
            () => true,
            () => false,
          )
          resolve(answer)
        },
      }
      this.#pending.add(pending)
      this.#lookLater()
      running.then(
        answer => {
          if (this.#pending.delete(pending)) resolve(answer)
          else void isAnswered?.then(is => late?.(answer, is))
        },
        error => {
          if (this.#pending.delete(pending)) resolve(promised(() => this.#afterError(error, instead)))
        },
      )
    })
  }

  /** Records a response of the server: it is not silent, and an outage is over. For servers that either respond to all calls or to none. */
  answered(): void {
    this.#answeredAt = performance.now()
    if (this.#outage) this.#end(this.#outage)
  }

  /** Begins an outage, unless there is one or the breaker was closed. */
  open(error: Error, since = performance.now()): Outage {
    if (this.#outage) return this.#outage
    const outage: Outage = { error, since, calls: 0 }
    if (this.#isClosed) return outage
    clearTimeout(this.#timer)
    this.#outage = outage
    if (since - this.#endedAt > steadyMs) this.#delayMs = this.#delays.firstMs
    this.#options.onChange?.(outage, false)
    const left = [...this.#pending]
    this.#pending.clear()
    for (const { leave } of left) leave(outage)
    this.#probeLater(outage)
    return outage
  }

  /** Stops probing. Calls go to the server. */
  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  #afterError<T>(error: unknown, instead: (outage: Outage) => Awaitable<T>): Awaitable<T> {
    const effect = this.#isClosed ? 'own' : this.#options.effectOf(error)
    if (effect === 'own') throw error
    const cause = error instanceof Error ? error : new Error(String(error))
    if (effect === 'replace') return without({ error: cause, since: performance.now(), calls: 0 }, instead)
    if (effect === 'open' || this.#outage) return without(this.open(cause), instead)
    return this.#check(cause, performance.now()).then(outage => {
      if (!outage) throw error
      return without(outage, instead)
    })
  }

  /** Begins an outage if a probe fails and nothing else was answered meanwhile. Concurrent calls share the probe. */
  #check(error: Error, since: number): Promise<Outage | undefined> {
    const began = performance.now()
    this.#checking ??= promised(this.#options.probe)
      .then(
        () => {
          this.#answeredAt = performance.now()
          return undefined
        },
        () => (this.#isClosed || this.#answeredAt > began ? undefined : this.open(error, since)),
      )
      .finally(() => {
        this.#checking = undefined
      })
    return this.#checking
  }

  /** Sets a single timer for all pending calls. */
  #lookLater(): void {
    if (this.#timer !== undefined || this.#isClosed || this.#outage) return
    const { silenceMs = Number.POSITIVE_INFINITY } = this.#options
    this.#timer = setBackgroundTimer(
      // In two steps, so that responses are read first that arrived while the process was busy.
      () => {
        this.#timer = setBackgroundTimer(() => {
          this.#timer = undefined
          const [oldest] = this.#pending
          if (!oldest) return
          const silentMs = performance.now() - Math.max(oldest.since, this.#answeredAt)
          if (silentMs >= silenceMs) void this.#check(new Error(`It did not answer within ${Math.round(silentMs)} ms.`), oldest.since)
          this.#lookLater()
        }, 0)
      },
      Math.min(maxLookMs, silenceMs / 2),
    )
  }

  #probeLater(outage: Outage): void {
    if (this.#isClosed) return
    const { probe, recover = probe } = this.#options
    const attempt = async (): Promise<void> => {
      const isOver = await promised(() => recover(outage)).then(
        () => true,
        () => false,
      )
      if (this.#outage !== outage || this.#isClosed) return
      if (isOver) this.#end(outage)
      else this.#probeLater(outage)
    }
    // Jitter, so that processes do not all return at the same moment.
    this.#timer = setBackgroundTimer(() => void attempt(), this.#delayMs * (0.75 + Math.random() / 2))
    this.#delayMs = Math.min(this.#delayMs * 2, this.#delays.maxMs)
  }

  #end(outage: Outage): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#outage = undefined
    this.#endedAt = performance.now()
    this.#options.onChange?.(outage, true)
  }
}

function without<T>(outage: Outage, instead: (outage: Outage) => Awaitable<T>): Awaitable<T> {
  outage.calls += 1
  return instead(outage)
}

/** Rejects if `run` takes longer than `waitMs`. */
export function settledWithin(waitMs: number, run: () => Awaitable<unknown>): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const timer = setBackgroundTimer(() => reject(new Error(`It did not answer within ${waitMs} ms.`)), waitMs)
    promised(run)
      .then(resolve, reject)
      .finally(() => clearTimeout(timer))
  })
}

/** `setTimeout` that does not keep a Node process alive. In other runtimes a timer is a number. */
function setBackgroundTimer(run: () => void, ms: number): ReturnType<typeof setTimeout> {
  const timer = setTimeout(run, ms)
  if (typeof timer === 'object') timer.unref()
  return timer
}
