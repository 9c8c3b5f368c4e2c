import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { seeded } from '@signalbox/testing'
import { faults } from '@signalbox/testing/chaos'
import type { ChaosVerbs } from './children/chaos.ts'
import type { Left, SoakVerbs } from './children/soak-gateway.ts'
import { type Child, start } from './ipc.ts'
import { medianOf } from './numbers.ts'
import { against, table } from './report.ts'
import type { Section } from './section.ts'

const perSecond = 40
/** Shares of the requests. */
const [aborted, broken, streamed] = [0.12, 0.2, 0.6]
/** Megabytes per minute by which the heap may grow after warm-up. */
const maxGrowthMb = 1
const warmMinutes = 3

const script = (name: string): string => join(import.meta.dirname, 'children', `${name}.ts`)
/** Faults that any provider can play at once, and that end soon. */
const playable = faults.filter(
  ({ needs, hangs, heavy, dialects, asks, deadlineMs }) => !needs && !hangs && !heavy && !asks && !deadlineMs && dialects.includes('chat'),
)

interface Sample {
  readonly minute: number
  readonly heap: number
  readonly rss: number
}

/** Mixed traffic for a quarter of an hour: what grows with time, and what is left when all of it is over. */
export const soak: Section = async ({ quick }) => {
  const minutes = quick ? 2 : 15
  const everyMs = quick ? 10_000 : 30_000
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-soak-'))
  const provider = start<ChaosVerbs>({ script: script('chaos') })
  const gateway = start<SoakVerbs>({ script: script('soak-gateway'), args: [join(folder, 'soak.db')], execArgv: ['--expose-gc'] })
  try {
    const target = await gateway.ask('listen', { upstream: await provider.ask('listen', {}) })
    const samples: Sample[] = []
    const load = run({ ...target, untilMs: performance.now() + minutes * 60_000 })
    const began = performance.now()
    for (let at = everyMs; at <= minutes * 60_000; at += everyMs) {
      await sleep(began + at - performance.now())
      samples.push({ minute: at / 60_000, ...(await gateway.ask('memory', {})) })
      process.stderr.write(`soak: ${(at / 60_000).toFixed(1)} min, heap ${((samples.at(-1)?.heap ?? 0) / 1e6).toFixed(1)} MB\n`)
    }
    const counts = await load
    const left = await atRest(gateway, provider)
    return report({ samples: samples.filter(({ minute }) => minute > (quick ? 1 : warmMinutes)), all: samples, counts, left })
  } finally {
    await gateway.stop()
    await provider.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Load {
  readonly url: string
  readonly authorization: string
  readonly untilMs: number
}

interface Counts {
  sent: number
  readonly byStatus: Map<string, number>
  readonly milliseconds: number[]
}

async function run({ url, authorization, untilMs }: Load): Promise<Counts> {
  const counts: Counts = { sent: 0, byStatus: new Map(), milliseconds: [] }
  const random = seeded(20_261_122)
  const open = new Set<Promise<void>>()
  for (let next = performance.now(); next < untilMs; next += 1_000 / perSecond) {
    await sleep(Math.max(0, next - performance.now()))
    // Limits the load on a stalled server by the number of open requests.
    if (open.size >= 400) continue
    const fault = random() < broken ? playable[Math.floor(random() * playable.length)] : undefined
    const request = send({
      url,
      authorization,
      counts,
      model: fault ? `fault:${fault.name}` : 'test-model',
      stream: random() < streamed,
      abortMs: random() < aborted ? random() * 150 : undefined,
    })
    counts.sent += 1
    open.add(request)
    void request.finally(() => open.delete(request))
  }
  await Promise.all(open)
  return counts
}

interface Sending extends Omit<Load, 'untilMs'> {
  readonly counts: Counts
  readonly model: string
  readonly stream: boolean
  readonly abortMs: number | undefined
}

async function send({ url, authorization, counts, model, stream, abortMs }: Sending): Promise<void> {
  const began = performance.now()
  const signal = AbortSignal.timeout(Math.ceil(abortMs ?? 30_000))
  const count = (name: string): void => void counts.byStatus.set(name, (counts.byStatus.get(name) ?? 0) + 1)
  try {
    const answer = await fetch(`${url}/v1/responses`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ model, input: `How are you? ${'word '.repeat(100)}`, stream }),
      signal,
    })
    await answer.text()
    count(String(answer.status))
    counts.milliseconds.push(performance.now() - began)
  } catch {
    count(abortMs === undefined ? 'no answer' : 'left')
  }
}

interface Rest extends Left {
  readonly unfinished: number
  readonly sockets: number
}

/** What is left after everything had time to end. Connections, which are kept for a while, are counted after the gateway is closed. */
async function atRest(gateway: Child<SoakVerbs>, provider: Child<ChaosVerbs>): Promise<Rest> {
  const left = await settled(async () => ({ ...(await gateway.ask('left', {})), unfinished: await provider.ask('unfinished', {}) }))
  await gateway.ask('close', {})
  return { ...left, ...(await settled(async () => ({ sockets: await gateway.ask('sockets', {}) }))) }
}

/** Checks once a second until everything is 0, for at most 20 s. */
async function settled<T extends Readonly<Record<keyof T, number>>>(look: () => Promise<T>): Promise<T> {
  for (let round = 0; ; round += 1) {
    const found = await look()
    if (round >= 20 || Object.values<number>(found).every(count => count === 0)) return found
    await sleep(1_000)
  }
}

/** Megabytes per minute, by least squares. */
function growth(samples: readonly Sample[]): number {
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
  const [minutes, heaps] = [mean(samples.map(({ minute }) => minute)), mean(samples.map(({ heap }) => heap))]
  const above = samples.reduce((sum, { minute, heap }) => sum + (minute - minutes) * (heap - heaps), 0)
  return above / samples.reduce((sum, { minute }) => sum + (minute - minutes) ** 2, 0) / 1e6
}

interface Found {
  readonly all: readonly Sample[]
  readonly samples: readonly Sample[]
  readonly counts: Counts
  readonly left: Rest
}

function report({ all, samples, counts: { sent, byStatus, milliseconds }, left }: Found): string {
  const statuses = [...byStatus].sort().map(([name, count]) => `${name} × ${count}`)
  const [first, last] = [samples[0], samples.at(-1)]
  return [
    `${sent} requests at ${perSecond}/s over SQLite: ${streamed * 100} % streamed, ${broken * 100} % met by a broken provider with a sound one behind it, ${aborted * 100} % left early. ${statuses.join(', ')}. Median ${medianOf(milliseconds).toFixed(0)} ms, slowest ${Math.max(...milliseconds).toFixed(0)} ms.`,
    `Heap after a collection: ${((first?.heap ?? 0) / 1e6).toFixed(1)} MB after minute ${first?.minute.toFixed(1)}, ${((last?.heap ?? 0) / 1e6).toFixed(1)} MB after minute ${last?.minute.toFixed(1)}; it grew by ${against(growth(samples), maxGrowthMb)} MB a minute (at most ${maxGrowthMb}). Resident ${((all[0]?.rss ?? 0) / 1e6).toFixed(0)} → ${((all.at(-1)?.rss ?? 0) / 1e6).toFixed(0)} MB.`,
    'Left when all was over:',
    table(
      ['what', 'count'],
      Object.entries(left).map(([name, count]) => [name, against(count, 0)]),
    ),
  ].join('\n\n')
}
