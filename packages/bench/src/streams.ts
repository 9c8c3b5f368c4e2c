import { setTimeout as sleep } from 'node:timers/promises'
import type { Delays, Job } from './children/load.ts'
import type { Dialect } from './dialects.ts'
import { against, table } from './report.ts'
import { bodyOf, pathOf } from './requests.ts'
import type { Section } from './section.ts'
import { type Kind, type Lab, openLab, type Server } from './servers.ts'

interface Found extends Delays {
  readonly who: string
  readonly rssKb: number
  readonly heapKb: number
  /** Share of one core while all streams are open. */
  readonly load: number
}

const most = 40

/** Many slow streams at once: what each holds while it is open, and how late its deltas come. */
export const streams: Section = async ({ quick, only }) => {
  const count = quick ? 100 : 500
  const lab = await openLab()
  try {
    const found: Found[] = []
    for (const dialect of ['responses', 'chat'] as const) {
      for (const kind of ['floor', 'memory', 'sqlite'] as const) {
        if (!only.every(word => `${kind}, ${dialect}`.includes(word))) continue
        process.stderr.write(`streams: ${kind}, ${dialect}\n`)
        found.push(await observe(lab, { kind, dialect, count }))
      }
    }
    const floors = new Map(found.filter(({ who }) => who.startsWith('floor')).map(one => [one.who.slice('floor'.length), one]))
    const rows = found.map(({ who, rssKb, heapKb, load, p50, p99, deltas }) => {
      const isFloor = who.startsWith('floor')
      const floor = floors.get(who.slice(who.indexOf(',')))
      return [
        who,
        rssKb.toFixed(1),
        isFloor ? heapKb.toFixed(1) : against(heapKb, most),
        isFloor || !floor ? '' : (rssKb - floor.rssKb).toFixed(1),
        `${(load * 100).toFixed(0)} %`,
        p50.toFixed(2),
        p99.toFixed(2),
        String(deltas),
      ]
    })
    return [
      `${count} streams at once, one delta every 20 ms in each. Memory: what the process holds more than before they were opened, by stream; the heap after a collection, with its buffers. Target of the heap: < ${most} kB; RSS also has what V8 reserves while it is busy. Delay: from the provider's write of a delta to the client's read.`,
      table(['case', 'RSS kB', 'heap kB', 'RSS over floor kB', 'CPU', 'delay p50 ms', 'delay p99 ms', 'deltas'], rows),
    ].join('\n\n')
  } finally {
    await lab.close()
  }
}

interface Asked {
  readonly kind: Kind
  readonly dialect: Dialect
  readonly count: number
}

/** A fresh process each: memory that an earlier run has grown is not seen again. */
async function observe(lab: Lab, { kind, dialect, count }: Asked): Promise<Found> {
  const server = await lab.open(kind)
  try {
    await lab.load.ask('run', { ...slowJob(server, dialect, 'fast'), connections: 8, requests: 400 })
    const before = await server.child.ask('memory', {})
    const over = lab.load.ask('streams', { ...slowJob(server, dialect, 'slow'), connections: count, requests: count })
    // All are open by then, and none is over: a stream takes five seconds.
    await sleep(2_000)
    const cpuBefore = await server.child.ask('cpu', {})
    await sleep(1_000)
    const load = ((await server.child.ask('cpu', {})) - cpuBefore) / 1e6
    await sleep(500)
    const open = await server.child.ask('memory', {})
    const delays = await over
    const kb = (bytes: number): number => bytes / 1000 / count
    return { who: `${kind}, ${dialect}`, rssKb: kb(open.rss - before.rss), heapKb: kb(open.heap - before.heap), load, ...delays }
  } finally {
    await server.stop()
  }
}

function slowJob({ kind, port, authorization }: Server, dialect: Dialect, speed: 'fast' | 'slow'): Omit<Job, 'connections' | 'requests'> {
  const wired = speed === 'slow' ? 'bench-slow' : 'bench-burst'
  // The floor translates nothing, so it is called in the provider's dialect.
  const asked =
    kind === 'floor'
      ? { dialect, model: wired, stream: true }
      : { dialect: 'responses' as const, model: `${dialect}/${wired}`, stream: true }
  return { port, authorization, path: pathOf(asked), body: bodyOf(asked) }
}
