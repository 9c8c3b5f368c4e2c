import { NotSentError } from './client.ts'

// The connections of a process are shared by requests and by reports, such as analytics, which may be slow. Without gates, a few slow
// reports would occupy all of them, and requests, settlements and the probe of the circuit breaker would wait behind.

/** Lets a limited number of statements run at the same time. The others wait in order of arrival. */
export interface Gate {
  /** @throws {NotSentError} No slot was free in time. */
  run<T>(work: () => Promise<T>): Promise<T>
}

interface WaitingStatement {
  readonly begin: () => void
  readonly timer: ReturnType<typeof setTimeout>
}

/**
 * Creates a gate that `size` statements pass at once; the others wait for up to `waitMs`.
 *
 * @example createGate({ size: 5, waitMs: 5_000 }).run(() => client.run(statement))
 */
export function createGate({ size, waitMs }: { readonly size: number; readonly waitMs: number }): Gate {
  const waiting = new Set<WaitingStatement>()
  let free = size
  const enter = (): Promise<void> | undefined => {
    if (free > 0) {
      free--
      return undefined
    }
    return new Promise((resolve, reject) => {
      const statement: WaitingStatement = {
        begin: resolve,
        timer: setTimeout(() => {
          waiting.delete(statement)
          reject(new NotSentError(`all ${size} connections for such statements were in use for ${waitMs} ms`))
        }, waitMs),
      }
      waiting.add(statement)
    })
  }
  /** A slot that becomes free is given to the statement that has waited longest. */
  const leave = (): void => {
    const [next] = waiting
    if (!next) {
      free++
      return
    }
    waiting.delete(next)
    clearTimeout(next.timer)
    next.begin()
  }
  return {
    async run(work) {
      await enter()
      try {
        return await work()
      } finally {
        leave()
      }
    },
  }
}

/** The gates of one pool. */
export interface Gates {
  readonly all: Gate
  /** Statements that no request waits for pass this gate as well, so half of the connections stay free for requests. */
  readonly reports: Gate
}

/** The size of a pool, and how long a statement waits for a connection. */
interface PoolBounds {
  readonly connections: number
  /** Milliseconds. */
  readonly connectTimeoutMs: number
}

/**
 * Creates the gates of a pool. One connection of three or more is left for the probe.
 *
 * @example
 * createGates({ connections: 10, connectTimeoutMs: 5_000 }).all.run(() => client.run(statement))
 */
export const createGates = ({ connections, connectTimeoutMs: waitMs }: PoolBounds): Gates => ({
  all: createGate({ size: connections < 3 ? connections : connections - 1, waitMs }),
  reports: createGate({ size: Math.max(1, Math.floor(connections / 2)), waitMs }),
})
