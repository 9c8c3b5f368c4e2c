import { join } from 'node:path'
import type { CountedRequest, InProcessVerbs, TakenBytes } from '../children/counted-in-process.ts'
import type { SocketVerbs } from '../children/counted-sockets.ts'
import { type Child, start } from '../ipc.ts'
import { type ByOrigin, type Counts, leastOf, totalOf } from './instruments.ts'
import { openLockStep } from './lock-step.ts'
import { type OpenStream, type Traffic, trafficOf } from './traffic.ts'

/** Numbers by name, as in `whole: promises`. */
export type Figures = Readonly<Record<string, number>>

export interface Measured {
  readonly figures: Figures
  /** The files that create the promises of a whole response, and those of 100 deltas. */
  readonly origins: { readonly whole: ByOrigin; readonly deltas: ByOrigin }
}

const script = (name: string): string => join(import.meta.dirname, '../children', `${name}.ts`)

/** Counts what requests create and call, in process and over sockets, without reading a clock. */
export async function measureCounts(): Promise<Measured> {
  const { figures, origins } = await inProcess(async ask => {
    const count = (request: Partial<CountedRequest>): Promise<Counts> => ask('count', { ...plain, ...request })
    const whole = await count({})
    const short = await count({ deltas: 50 })
    const long = await count({ deltas: 150 })
    const translated = await count({ provider: 'chat' })
    const translatedShort = await count({ provider: 'chat', deltas: 50 })
    const translatedLong = await count({ provider: 'chat', deltas: 150 })
    return {
      figures: {
        ...countsOf('whole', whole),
        ...countsOf('whole from chat', translated),
        ...countsOf('stream of 50', short),
        ...deltaOf(countsOf('delta', short), countsOf('delta', long)),
        ...deltaOf(countsOf('delta from chat', translatedShort), countsOf('delta from chat', translatedLong)),
      },
      origins: { whole: whole.promises, deltas: difference(short.promises, long.promises) },
    }
  })
  return { figures: { ...figures, ...(await overSockets(countTraffic)) }, origins }
}

/** Measures what requests and open streams take of the heap, in process and over sockets. */
export async function measureBytes(): Promise<Figures> {
  const figures = await inProcess(async ask => {
    const weigh = (request: Partial<CountedRequest>): Promise<TakenBytes> => ask('weigh', { ...plain, ...request })
    const whole = await weigh({})
    const short = await weigh({ deltas: 50 })
    const long = await weigh({ deltas: 150 })
    const translated = await weigh({ provider: 'chat' })
    const translatedShort = await weigh({ provider: 'chat', deltas: 50 })
    const translatedLong = await weigh({ provider: 'chat', deltas: 150 })
    const bytesOf = (name: string, { bytes }: TakenBytes): Figures => ({ [`${name}: bytes`]: Math.round(bytes) })
    return {
      ...bytesOf('whole', whole),
      ...bytesOf('whole from chat', translated),
      ...bytesOf('stream of 50', short),
      'whole: bytes kept': Math.round(whole.keptBytes),
      'stream of 50: bytes kept': Math.round(short.keptBytes),
      ...deltaOf(bytesOf('delta', short), bytesOf('delta', long)),
      ...deltaOf(bytesOf('delta from chat', translatedShort), bytesOf('delta from chat', translatedLong)),
    }
  })
  return { ...figures, ...(await overSockets(weighTraffic)) }
}

const plain: CountedRequest = { client: 'responses', provider: 'responses', deltas: 0 }

/** Runs with a process that has the gateway as a function. */
async function inProcess<Result>(run: (ask: Child<InProcessVerbs>['ask']) => Promise<Result>): Promise<Result> {
  // One thread, so that code is compiled at the same call each time, and a young generation that holds everything a count allocates.
  const execArgv = ['--expose-gc', '--single-threaded', '--min-semi-space-size=64', '--max-semi-space-size=64']
  const child = start<InProcessVerbs>({ script: script('counted-in-process'), execArgv })
  try {
    return await run(child.ask)
  } finally {
    await child.stop()
  }
}

/** Excludes Node's timers for idle connections, which are not set per request. */
const ownTimers = ({ timers }: Counts): number => totalOf({ ...timers, node: 0 })

const countsOf = (name: string, counts: Counts): Figures => ({
  [`${name}: promises`]: totalOf(counts.promises),
  [`${name}: timers`]: ownTimers(counts),
  [`${name}: JSON.parse`]: counts.parses,
  [`${name}: JSON.stringify`]: counts.stringifies,
  [`${name}: clock reads`]: counts.clockReads,
})

/** The cost of one of the hundred additional deltas of the longer of two streams. */
const deltaOf = (short: Figures, long: Figures): Figures =>
  Object.fromEntries(Object.entries(long).map(([key, value]) => [key, (value - (short[key] ?? 0)) / 100]))

const difference = (less: ByOrigin, more: ByOrigin): ByOrigin =>
  Object.fromEntries(Object.entries(more).map(([origin, count]) => [origin, count - (less[origin] ?? 0)]))

/** Runs with a process that has the gateway behind sockets, after the first requests have filled caches. */
async function overSockets(measure: (child: Child<SocketVerbs>, traffic: Traffic) => Promise<Figures>): Promise<Figures> {
  const child = start<SocketVerbs>({ script: script('counted-sockets'), execArgv: ['--expose-gc'] })
  const lockStep = await openLockStep()
  try {
    const traffic = trafficOf({ lockStep, dialect: 'responses', ...(await child.ask('listen', { upstream: lockStep.upstream })) })
    for (let at = 0; at < 100; at += 1) await traffic.whole()
    for (let at = 0; at < 20; at += 1) await traffic.stream(20)
    return await measure(child, traffic)
  } finally {
    lockStep.close()
    await child.stop()
  }
}

async function countTraffic(child: Child<SocketVerbs>, traffic: Traffic): Promise<Figures> {
  const whole = await counted(child, () => traffic.whole())
  const short = await counted(child, () => traffic.stream(20))
  const long = await counted(child, () => traffic.stream(120))
  return {
    ...countsOf('whole over sockets', whole),
    'delta over sockets: promises': (totalOf(long.promises) - totalOf(short.promises)) / 100,
    'delta over sockets: timers': (ownTimers(long) - ownTimers(short)) / 100,
  }
}

const weighTraffic = async (child: Child<SocketVerbs>, traffic: Traffic): Promise<Figures> => ({
  'whole over sockets: bytes kept': await keptBytes(child, () => traffic.whole()),
  'stream of 50 over sockets: bytes kept': await keptBytes(child, () => traffic.stream(50)),
  ...(await heapOfStreams(child, traffic)),
})

/** Bytes of a request that survive young-generation collections: the least of three rounds, since other objects may be promoted in one. */
async function keptBytes(child: Child<SocketVerbs>, run: () => Promise<void>): Promise<number> {
  const requests = 20
  const rounds: number[] = []
  for (let round = 0; round < 3; round += 1) {
    await child.ask('heap', {})
    await run()
    const before = await child.ask('heapOfYoung', {})
    for (let at = 0; at < requests; at += 1) {
      await run()
      await child.ask('heapOfYoung', {})
    }
    rounds.push(((await child.ask('heapOfYoung', {})) - before) / requests)
  }
  return Math.round(Math.min(...rounds))
}

async function counted(child: Child<SocketVerbs>, run: () => Promise<void>): Promise<Counts> {
  const counts: Counts[] = []
  for (let round = 0; round < 3; round += 1) {
    await child.ask('startCounts', {})
    await run()
    counts.push(await child.ask('stopCounts', {}))
  }
  return leastOf(counts)
}

/** Number of open streams while their heap is measured. */
const openStreams = 100
/** Number of deltas that the provider writes at once. */
const batch = 50

async function heapOfStreams(child: Child<SocketVerbs>, traffic: Traffic): Promise<Figures> {
  // Without this, the code that is compiled meanwhile would count.
  for (let at = 0; at < 40; at += 1) await traffic.stream(200)
  const before = await child.ask('heap', {})
  const streams: OpenStream[] = []
  for (let at = 0; at < openStreams; at += 1) streams.push(await traffic.open())
  const heapAfter = async (deltas: number): Promise<number> => {
    for (let said = 0; said < deltas; said += batch) for (const stream of streams) await stream.deltas(batch)
    return ((await child.ask('heap', {})) - before) / openStreams
  }
  const early = await heapAfter(100)
  const late = await heapAfter(3_900)
  for (const stream of streams) await stream.end()
  return {
    'open stream: bytes at 100 deltas': Math.round(early),
    'open stream: bytes that 3,900 more deltas add': Math.round(late - early),
  }
}
