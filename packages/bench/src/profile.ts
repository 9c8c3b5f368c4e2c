import { mkdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Case, checked, chosen, jobFor, requestsOf, titleOf } from './cases.ts'
import type { HotSpot, HotSpots } from './hot-spots.ts'
import { openLab, type Server } from './lab.ts'
import { table } from './report.ts'
import type { Section } from './sections.ts'

const folder = resolve(import.meta.dirname, '../dist/profiles')

/** Where the time goes: V8's sampling profiler in the server alone, after warm-up. The files open in any profile viewer. */
export const profile: Section = async ({ quick, only, storage }) => {
  mkdirSync(folder, { recursive: true })
  const lab = await openLab()
  const pages: string[] = []
  try {
    for (const one of chosen(only.length > 0 ? only : ['32'])) {
      process.stderr.write(`profile: ${titleOf(one)}\n`)
      const server = await lab.open(storage)
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

/** Folder of the source, as in `packages/core/src/routing`; what is not ours by its package or as V8 names it. */
const roomOf = (where: string): string => /^packages\/[\w-]+\/src(\/[\w-]+)*?(?=\/[\w.-]+:)/.exec(where)?.[0] ?? where.replace(/:\d+$/, '')

/** Line of the bundle → source: the bundler heads every module with a comment that names its file. */
function originsOf(): (spot: HotSpot) => string {
  const bundle = resolve(import.meta.dirname, '../dist/gateway.js')
  const files: string[] = []
  let file = ''
  for (const line of readFileSync(bundle, 'utf8').split('\n')) {
    file = /^\/\/ ((?:\.\.\/|src\/|packages\/|node_modules\/).*)$/.exec(line)?.[1] ?? file
    files.push(file)
  }
  return ({ url, line, name }) => {
    if (url.startsWith('file:') && fileURLToPath(url) === bundle) return shorten(files[line] ?? '', line)
    if (url === '') return name.startsWith('(') ? name : 'native'
    return shorten(url.replace(/^file:\/\//, ''), line)
  }
}

function shorten(path: string, line: number): string {
  const vendor = /.*node_modules\/(?!\.pnpm)((?:@[^/]+\/)?[^/]+.*)$/.exec(path)?.[1]
  if (vendor !== undefined) return `${vendor}:${line + 1}`
  return `${path.replace(/^(\.\.\/)+/, 'packages/').replace(/^packages\/packages\//, 'packages/')}:${line + 1}`
}
