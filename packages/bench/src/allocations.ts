import { setTimeout as sleep } from 'node:timers/promises'
import type { Site } from './allocation-sites.ts'
import { jobFor, lookedInto, requestsOf, titleOf } from './cases.ts'
import type { Counting } from './children/measured.ts'
import { table } from './report.ts'
import type { Options, Section } from './section.ts'
import { openLab } from './servers.ts'
import { originsOf, roomOf } from './source-places.ts'
import { slowJob } from './streams.ts'

/** Allocation sites per request: all allocated bytes, collected or not. */
export const allocations: Section = options => count('all', options)

/** Allocation sites of the most expensive garbage: bytes per request that outlive a young-generation collection. */
export const promoted: Section = options => count('promoted', options)

async function count(counting: Counting, { quick, only, server: kind }: Options): Promise<string> {
  const lab = await openLab()
  const pages: string[] = []
  try {
    for (const one of lookedInto(only)) {
      const server = await lab.open(kind)
      if (!server.speaks.includes(one.client)) continue
      process.stderr.write(`${counting}: ${titleOf(one)}\n`)
      const requests = Math.ceil(requestsOf(one) / (quick ? 4 : 1))
      const job = jobFor(one, server, requests)
      await lab.load.ask('run', job)
      await server.child.ask('startAllocations', { counting })
      await lab.load.ask('run', job)
      pages.push(describe(titleOf(one), await server.child.ask('stopAllocations', {}), requests))
      await server.stop()
    }
  } finally {
    await lab.close()
  }
  return pages.join('\n\n')
}

/** Memory held by open streams, by allocation site. */
export const held: Section = async ({ quick, server: kind }) => {
  const count = quick ? 100 : 500
  const lab = await openLab()
  try {
    const server = await lab.open(kind)
    await lab.load.ask('run', { ...slowJob(server, 'responses', 'fast'), connections: 8, requests: 400 })
    await server.child.ask('startAllocations', { counting: 'held' })
    const over = lab.load.ask('streams', { ...slowJob(server, 'responses', 'slow'), connections: count, requests: count })
    await sleep(3_000)
    const sites = await server.child.ask('stopAllocations', {})
    await over
    return describe(`${count} open streams`, sites, count)
  } finally {
    await lab.close()
  }
}

function describe(title: string, sites: readonly Site[], count: number): string {
  const origin = originsOf()
  const each = (bytes: number): string => (bytes / count).toFixed(0)
  const sum = sites.reduce((bytes, site) => bytes + site.bytes, 0)
  const rooms = new Map<string, number>()
  for (const site of sites) rooms.set(roomOf(origin(site)), (rooms.get(roomOf(origin(site))) ?? 0) + site.bytes)
  return [
    `## ${title}: ${each(sum)} bytes each`,
    table(
      ['room', 'bytes'],
      [...rooms]
        .sort((a, b) => b[1] - a[1])
        .slice(0, 20)
        .map(([room, bytes]) => [room, each(bytes)]),
    ),
    table(
      ['function', 'bytes', 'with what it calls'],
      sites.slice(0, 30).map(site => [`${site.name} (${origin(site)})`, each(site.bytes), each(site.total)]),
    ),
  ].join('\n\n')
}
