import { writeFile } from 'node:fs/promises'
import { Session } from 'node:inspector/promises'
import { type Allocations, type Site, sitesOf } from '../allocation-sites.ts'
import { type HotSpots, hotSpots, type Profile } from '../hot-spots.ts'
import type { Verbs } from '../ipc.ts'

/** The requests that every measured server supports, both the floor and the gateway. */
export interface Memory {
  readonly rss: number
  /** V8's heap and external memory after a collection. */
  readonly heap: number
}

export type MeasuredVerbs = {
  listen: (input: { readonly upstream: string }) => Promise<Listening>
  /** Microseconds of CPU so far on all threads, including garbage collection and compilation. */
  cpu: (input: Record<string, never>) => number
  memory: (input: Record<string, never>) => Memory
  /** Peak memory of the process in bytes. */
  peak: (input: Record<string, never>) => number
  startProfile: (input: Record<string, never>) => Promise<void>
  /** `file`: where to write the full profile. */
  stopProfile: (input: { readonly file: string }) => Promise<HotSpots>
  startAllocations: (input: { readonly counting: Counting }) => Promise<void>
  stopAllocations: (input: Record<string, never>) => Promise<readonly Site[]>
}

/** All allocations; only those that outlive a young-generation collection, which make collections slow; or only those held at the end. */
export type Counting = 'all' | 'promoted' | 'held'

export interface Listening {
  readonly port: number
  readonly authorization: string
  /** Sent with each request, in addition to the authorization. */
  readonly headers?: Readonly<Record<string, string>>
  /** Dialects it accepts. */
  readonly speaks: readonly string[]
}

export function measured(listen: MeasuredVerbs['listen']): MeasuredVerbs & Verbs {
  const session = new Session()
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
    peak: () => process.resourceUsage().maxRSS * 1024,
    async startProfile() {
      session.connect()
      await session.post('Profiler.enable')
      await session.post('Profiler.setSamplingInterval', { interval: 100 })
      await session.post('Profiler.start')
    },
    async stopProfile({ file }) {
      const { profile } = (await session.post('Profiler.stop')) as { profile: Profile }
      session.disconnect()
      await writeFile(file, JSON.stringify(profile))
      return hotSpots(profile)
    },
    async startAllocations({ counting }) {
      session.connect()
      globalThis.gc?.()
      await session.post('HeapProfiler.startSampling', {
        samplingInterval: 4_096,
        includeObjectsCollectedByMajorGC: counting !== 'held',
        includeObjectsCollectedByMinorGC: counting === 'all',
      })
    },
    async stopAllocations() {
      globalThis.gc?.()
      const { profile } = (await session.post('HeapProfiler.stopSampling')) as { profile: { readonly head: Allocations } }
      session.disconnect()
      return sitesOf(profile.head)
    },
  }
}
