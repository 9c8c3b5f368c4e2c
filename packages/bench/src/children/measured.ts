import type { Verbs } from '../ipc.ts'

interface Memory {
  readonly rss: number
  /** V8's heap and external memory after a collection. */
  readonly heap: number
}

/** The requests that every measured server supports, both the floor and the gateway. */
export type MeasuredVerbs = {
  listen: (input: { readonly upstream: string }) => Promise<Listening>
  /** Microseconds of CPU so far on all threads, including garbage collection and compilation. */
  cpu: (input: Record<string, never>) => number
  memory: (input: Record<string, never>) => Memory
}

export interface Listening {
  readonly port: number
  readonly authorization: string
  /** Sent with each request, in addition to the authorization. */
  readonly headers?: Readonly<Record<string, string>>
  /** Dialects it accepts. */
  readonly speaks: readonly string[]
}

export function measured(listen: MeasuredVerbs['listen']): MeasuredVerbs & Verbs {
  return {
    listen,
    cpu: () => {
      const { user, system } = process.cpuUsage()
      return user + system
    },
    memory: () => {
      const { rss } = process.memoryUsage()
      globalThis.gc?.()
      const { heapUsed, external } = process.memoryUsage()
      return { rss, heap: heapUsed + external }
    },
  }
}
