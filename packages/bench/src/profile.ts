import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Case, checked, jobFor, lookedInto, requestsOf, titleOf } from './cases.ts'
import type { HotSpots } from './hot-spots.ts'
import { table } from './report.ts'
import type { Section } from './section.ts'
import { openLab, type Server } from './servers.ts'
import { originsOf, roomOf } from './source-places.ts'

const folder = resolve(import.meta.dirname, '../dist/profiles')

/** Where the time goes: V8's sampling profiler in the server, after warm-up. The files open in any profile viewer. */
export const profile: Section = async ({ quick, only, server: kind }) => {
  mkdirSync(folder, { recursive: true })
  const lab = await openLab()
  const pages: string[] = []
  try {
    for (const one of lookedInto(only)) {
      process.stderr.write(`profile: ${titleOf(one)}\n`)
      const server = await lab.open(kind)
      if (!server.speaks.includes(one.client)) continue
      const requests = Math.ceil((requestsOf(one) * 3) / (quick ? 4 : 1))
      const job = jobFor(one, server, requests)
      await lab.load.ask('run', checked({ ...job, requests: 50 }, one, server))
      await lab.load.ask('run', job)
      await server.child.ask('startProfile', {})
      await lab.load.ask('run', job)
      pages.push(describe(one, await finish(one, server), requests))
      await server.stop()
    }
  } finally {
    await lab.close()
  }
  return pages.join('\n\n')
}

const finish = (one: Case, server: Server): Promise<HotSpots> =>
  server.child.ask('stopProfile', { file: join(folder, `${titleOf(one).replace(/\W+/g, '-')}-${server.kind}.cpuprofile`) })

function describe(one: Case, { busy, spots }: HotSpots, requests: number): string {
  const origin = originsOf()
  const us = (time: number): string => (time / requests).toFixed(2)
  const share = (time: number): string => `${((time / busy) * 100).toFixed(1)} %`
  const rooms = new Map<string, number>()
  for (const spot of spots) {
    const room = roomOf(origin(spot))
    rooms.set(room, (rooms.get(room) ?? 0) + spot.self)
  }
  const hot = spots.slice(0, 25).map(spot => [`${spot.name} (${origin(spot)})`, us(spot.self), share(spot.self), us(spot.total)])
  const ours = spots
    .filter(spot => roomOf(origin(spot)).startsWith('packages/'))
    .sort((a, b) => b.total - a.total)
    .slice(0, 15)
    .map(spot => [`${spot.name} (${origin(spot)})`, us(spot.self), share(spot.total), us(spot.total)])
  return [
    `## ${titleOf(one)}: ${us(busy)} µs per request`,
    table(
      ['room', 'self µs', 'share'],
      [...rooms]
        .sort((a, b) => b[1] - a[1])
        .slice(0, 20)
        .map(([room, time]) => [room, us(time), share(time)]),
    ),
    table(['function, by its own time', 'self µs', 'share', 'total µs'], hot),
    table(['our functions, with what they call', 'self µs', 'share of total', 'total µs'], ours),
  ].join('\n\n')
}
