import { createHook } from 'node:async_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { getHeapStatistics } from 'node:v8'

/** Call counts by the source file or package of the caller, or `node` for Node itself. */
export type ByOrigin = Readonly<Record<string, number>>

/** What this process did between the start and the stop of a count, without the benchmark's own work. */
export interface Counts {
  readonly promises: ByOrigin
  readonly timers: ByOrigin
  readonly parses: number
  readonly stringifies: number
  readonly clockReads: number
}

export interface Instruments {
  start(): void
  stop(): Counts
}

/** Creates the instruments. Between `start` and `stop` they wrap `JSON`, `Date.now` and `performance.now` of this process. */
export function makeInstruments(): Instruments {
  const { calls, wrap, unwrap } = countCalls()
  const made: Record<string, Map<string, number>> = {}
  Error.stackTraceLimit = 40
  const hook = createHook({
    init(_id, type) {
      const counts = made[type]
      if (counts === undefined) return
      const origin = originOf(new Error().stack ?? '')
      if (origin !== 'bench') counts.set(origin, (counts.get(origin) ?? 0) + 1)
    },
  })
  const of = (type: string): ByOrigin => Object.fromEntries(made[type] ?? [])
  return {
    start() {
      Object.assign(made, { PROMISE: new Map(), Timeout: new Map() })
      Object.assign(calls, { parses: 0, stringifies: 0, clockReads: 0 })
      wrap()
      hook.enable()
    },
    stop() {
      hook.disable()
      unwrap()
      return { promises: of('PROMISE'), timers: of('Timeout'), ...calls }
    },
  }
}

interface CallCounts {
  readonly calls: Record<'parses' | 'stringifies' | 'clockReads', number>
  readonly wrap: () => void
  readonly unwrap: () => void
}

function countCalls(): CallCounts {
  const calls = { parses: 0, stringifies: 0, clockReads: 0 }
  const counted = <Args extends readonly unknown[], Result>(name: keyof typeof calls, run: (...args: Args) => Result) => {
    return (...args: Args): Result => {
      calls[name] += 1
      return run(...args)
    }
  }
  const json = { parse: JSON.parse, stringify: JSON.stringify }
  const date = { now: Date.now }
  const monotonic = { now: performance.now }
  return {
    calls,
    wrap() {
      Object.assign(JSON, {
        parse: counted('parses', json.parse),
        stringify: counted('stringifies', json.stringify as (...args: readonly unknown[]) => string),
      })
      Object.assign(Date, { now: counted('clockReads', date.now) })
      Object.assign(performance, { now: counted('clockReads', monotonic.now.bind(performance)) })
    },
    unwrap() {
      Object.assign(JSON, json)
      Object.assign(Date, date)
      Object.assign(performance, monotonic)
    },
  }
}

/**
 * `core/execution/send.ts`, `undici`, `node`, or `bench` for the benchmark itself: by the topmost frame that belongs neither to Node nor to
 * the clock, through which all timers are set.
 */
function originOf(stack: string): string {
  for (const line of stack.split('\n').slice(2)) {
    const vendor = /node_modules\/(?!\.pnpm)((?:@[^/]+\/)?[^/]+)/.exec(line)?.[1]
    if (vendor !== undefined) return vendor
    const [, name, path] = /\/packages\/([\w-]+)\/src\/([^:)]+)/.exec(line) ?? []
    if (name === 'bench') return 'bench'
    if (name !== undefined && path !== 'runtime/web.ts') return `${name}/${path}`
  }
  return 'node'
}

/**
 * Runs `work` and returns the bytes of V8's heap it allocated; undefined if a collection ran meanwhile. The young generation must be able
 * to hold all of them.
 */
export async function allocatedBy(work: () => Promise<void>): Promise<number | undefined> {
  globalThis.gc?.()
  const collections = watchCollections()
  const before = getHeapStatistics().used_heap_size
  await work()
  const bytes = getHeapStatistics().used_heap_size - before
  return (await collections()) === 0 ? bytes : undefined
}

/** The minimum of several counts of the same work, which excludes timers of unrelated work. */
export function leastOf(counts: readonly Counts[]): Counts {
  const least = (value: (one: Counts) => number): number => Math.min(...counts.map(value))
  return {
    promises: leastTotal(counts.map(({ promises }) => promises)),
    timers: leastTotal(counts.map(({ timers }) => timers)),
    parses: least(({ parses }) => parses),
    stringifies: least(({ stringifies }) => stringifies),
    clockReads: least(({ clockReads }) => clockReads),
  }
}

export const totalOf = (counts: ByOrigin): number => Object.values(counts).reduce((total, count) => total + count, 0)

const leastTotal = (all: readonly ByOrigin[]): ByOrigin => all.reduce((least, one) => (totalOf(one) < totalOf(least) ? one : least))

/** Watches for collections; the returned function resolves to their number. */
function watchCollections(): () => Promise<number> {
  let seen = 0
  const observer = new PerformanceObserver(list => {
    seen += list.getEntries().length
  })
  observer.observe({ entryTypes: ['gc'] })
  return async () => {
    await settled()
    observer.disconnect()
    return seen
  }
}

/** Bytes of V8's heap after young-generation collections only, once no work is left. Needs `--expose-gc`. */
export async function heapAfterYoungCollections(): Promise<number> {
  await settled()
  for (let round = 0; round < 2; round += 1) globalThis.gc?.({ type: 'minor' })
  return getHeapStatistics().used_heap_size
}

/** Resolves when work that a request leaves behind, such as its settlement, is done. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await nextTurn()
}
