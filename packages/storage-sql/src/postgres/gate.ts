import { NotSentError } from './client.ts'

// The connections of a process are shared by requests and by reports, such as analytics, which may be slow. Without gates, a few slow
// reports would occupy all of them, and requests, settlements and the probe of the circuit breaker would wait behind.

/** Lets a limited number of statements run at the same time. The others wait in order of arrival. */
export class Gate {
  readonly #size: number
  readonly #waitMs: number
  /** Functions that let a waiting statement begin, oldest first. */
  readonly #waiting = new Set<() => void>()
  #free: number

  /** `new Gate({ size: 5, waitMs: 5_000 })` lets 5 statements run at once; the others wait for up to 5 s. */
  constructor({ size, waitMs }: { readonly size: number; readonly waitMs: number }) {
    this.#size = size
    this.#waitMs = waitMs
    this.#free = size
  }

  /** @throws {NotSentError} No slot was free in time. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--
    else await this.#turn()
    try {
      return await work()
    } finally {
      // A slot that becomes free is given to the statement that has waited longest.
      const [next] = this.#waiting
      if (next) next()
      else this.#free++
    }
  }

  #turn(): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        clearTimeout(timer)
        this.#waiting.delete(begin)
        resolve()
      }
      const timer = setTimeout(() => {
        this.#waiting.delete(begin)
        reject(new NotSentError(`all ${this.#size} connections for such statements were in use for ${this.#waitMs} ms`))
      }, this.#waitMs)
      this.#waiting.add(begin)
    })
  }
}

/** The size of a pool, and how long a statement waits for a connection. */
interface PoolBounds {
  readonly connections: number
  /** Milliseconds. */
  readonly connectTimeoutMs: number
}

/**
 * Creates the gates of a pool. One connection of three or more is left for the probe. Statements that no request waits for pass the gate
 * `reports` as well, so half of the connections stay free for requests.
 */
export const createGates = ({ connections, connectTimeoutMs: waitMs }: PoolBounds): { readonly all: Gate; readonly reports: Gate } => ({
  all: new Gate({ size: connections < 3 ? connections : connections - 1, waitMs }),
  reports: new Gate({ size: Math.max(1, Math.floor(connections / 2)), waitMs }),
})
