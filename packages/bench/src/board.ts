import { setTimeout as sleep } from 'node:timers/promises'
import type { Duties } from './bench-gateway.ts'
import type { Job } from './children/load.ts'
import { canBind } from './ipc.ts'
import { installPeer, peer } from './peer.ts'
import { table } from './report.ts'
import type { Section } from './section.ts'
import { type Lab, openLab, type Server } from './servers.ts'

/** What a server is asked to do, and with which prompts. Servers that have no keys, limits or credit are in the first and the last only. */
interface Mode {
  readonly title: string
  readonly duties: Duties
  readonly store: 'memory' | 'sqlite'
  /** Characters of the prompt. A token has about four. */
  readonly prompt: number
  readonly others: boolean
}

const longPrompt = 300_000
const modes: readonly Mode[] = [
  { title: 'forwarding', duties: 'key', store: 'memory', prompt: 300, others: true },
  { title: '+ limits', duties: 'limits', store: 'memory', prompt: 300, others: false },
  { title: '+ credit and usage rows', duties: 'credit', store: 'sqlite', prompt: 300, others: false },
  { title: '+ prompts of 75,000 tokens', duties: 'credit', store: 'sqlite', prompt: longPrompt, others: true },
]

const bounds = [1, 5, 10, 50, 100] as const
const deltas = 64
/** A stream is held if no silence in it is longer than ten times the pace, and fewer than one in a thousand fails. */
const longestGapMs = 200

interface Found {
  readonly who: string
  readonly p50: number
  readonly p99: number
  readonly best: number
  /** The highest rate at each of `bounds`. */
  readonly frontier: readonly (number | undefined)[]
  readonly streams: number
  readonly rss: readonly [idle: number, peak: number, recovered: number]
}

/**
 * The figures of the public board "On the Bench", by its manifest: a provider that answers after 20 ms, streams of 64 deltas at 20 ms. Each
 * server has one core, and the provider and the load share another.
 */
export const board: Section = async ({ quick, only }) => {
  await installPeer()
  const lab = await openLab(1)
  try {
    const rows: (readonly string[])[] = []
    for (const mode of modes.filter(({ title }) => only.every(word => title.includes(word)))) {
      const direct = await climb(lab, directJob(lab, mode), quick)
      for (const kind of mode.others ? (['floor', mode.store, 'peer'] as const) : [mode.store]) {
        process.stderr.write(`board: ${mode.title}, ${kind}\n`)
        rows.push(rowOf(mode, await measure(lab, { mode, kind, direct, quick })))
      }
    }
    return [
      `The figures of "On the Bench": added milliseconds at 16 connections, the most requests per second, the most at which the added p99 is within 1, 5, 10, 50 and 100 ms, streams of ${deltas} deltas at 20 ms that are held, and MB of memory (idle, under load, ten seconds later). ${canBind ? 'Each server has one core; provider and load share another, which ends the climb at the rate of "direct".' : 'Processes are not bound to cores on this system.'} Ours always checks a key and counts its requests; "bare proxy" and ${peer.name} ${peer.version} do neither, so they are not in the modes between.`,
      table(
        ['mode', 'server', 'p50', 'p99', 'most /s', ...bounds.map(bound => `≤ ${bound} ms`), 'streams', 'idle', 'peak', 'after'],
        rows,
        2,
      ),
    ].join('\n\n')
  } finally {
    await lab.close()
  }
}

const names: Partial<Record<Server['kind'], string>> = { floor: 'bare proxy', memory: 'Signalbox', sqlite: 'Signalbox', peer: 'Portkey' }

const rowOf = ({ title }: Mode, { who, p50, p99, best, frontier, streams, rss }: Found): readonly string[] => [
  title,
  who,
  p50.toFixed(2),
  p99.toFixed(2),
  best.toFixed(0),
  ...frontier.map(rate => rate?.toFixed(0) ?? '–'),
  String(streams),
  ...rss.map(bytes => (bytes / 1e6).toFixed(0)),
]

interface Subject {
  readonly mode: Mode
  readonly kind: Server['kind']
  readonly direct: readonly Step[]
  readonly quick: boolean
}

async function measure(lab: Lab, { mode, kind, direct, quick }: Subject): Promise<Found> {
  const server = await lab.open(kind, { duties: mode.duties, core: 0 })
  try {
    const rssOf = async (): Promise<number> => (await server.child.ask('memory', {})).rss
    const job = jobOf(mode, server)
    await lab.load.ask('run', { ...job, connections: 8, requests: quick ? 100 : 2_000 })
    await sleep(quick ? 500 : 5_000)
    const idle = await rssOf()
    const steps = await climb(lab, job, quick)
    const streams = await streamsHeld(lab, { ...job, body: bodyOf(mode, server, true) }, quick)
    const peak = await rssOf()
    await sleep(quick ? 1_000 : 10_000)
    const added = (step: Step): number => step.p99 - (direct.find(({ connections }) => connections === step.connections)?.p99 ?? 0)
    const [usual, base] = [steps, direct].map(all => all.find(({ connections }) => connections === 16))
    return {
      who: names[kind] ?? kind,
      p50: (usual?.p50 ?? 0) - (base?.p50 ?? 0),
      p99: (usual?.p99 ?? 0) - (base?.p99 ?? 0),
      best: Math.max(...steps.map(({ perSecond }) => perSecond)),
      frontier: bounds.map(bound => {
        const rates = steps.filter(step => added(step) <= bound).map(({ perSecond }) => perSecond)
        return rates.length === 0 ? undefined : Math.max(...rates)
      }),
      streams,
      rss: [idle, peak, await rssOf()],
    }
  } finally {
    await server.stop()
  }
}

interface Step {
  readonly connections: number
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
}

/** More connections at each step, each with one request at a time. Ends when the rate falls. */
async function climb(lab: Lab, job: Omit<Job, 'connections' | 'requests'>, quick: boolean): Promise<readonly Step[]> {
  const steps: Step[] = []
  for (const connections of [4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256]) {
    const requests = connections * (quick ? 10 : job.body.length > 100_000 ? 20 : 100)
    const { seconds, p50, p99 } = await lab.load.ask('run', { ...job, connections, requests })
    const perSecond = requests / seconds
    if (perSecond < 0.8 * Math.max(0, ...steps.map(step => step.perSecond))) break
    steps.push({ connections, perSecond, p50, p99 })
  }
  return steps
}

async function streamsHeld(lab: Lab, job: Omit<Job, 'connections' | 'requests'>, quick: boolean): Promise<number> {
  let held = 0
  for (const connections of quick ? [8, 32] : [32, 64, 128, 192, 256, 384, 512, 768, 1_024]) {
    const { failed, longestGapMs: gap } = await lab.load.ask('sustain', { ...job, connections, requests: connections })
    if (failed >= connections / 1_000 || gap > longestGapMs) break
    held = connections
  }
  return held
}

const path = '/v1/chat/completions'
const words = 'The night mail left the junction before the coal train had passed the second signal. '

const bodyOf = ({ prompt }: Mode, server: Pick<Server, 'kind'> | undefined, stream: boolean): string =>
  JSON.stringify({
    // Only ours chooses the provider by the model.
    model: server === undefined || server.kind === 'floor' || server.kind === 'peer' ? 'bench-board' : 'chat/bench-board',
    messages: [{ role: 'user', content: words.repeat(Math.ceil(prompt / words.length)) }],
    // More than the 16 of the board: the provider's answers have 100.
    max_tokens: 128,
    stream,
  })

const jobOf = (mode: Mode, server: Server): Omit<Job, 'connections' | 'requests'> => ({
  port: server.port,
  path,
  authorization: server.authorization,
  headers: server.headers,
  body: bodyOf(mode, server, false),
})

const directJob = (lab: Lab, mode: Mode): Omit<Job, 'connections' | 'requests'> => ({
  port: Number(new URL(lab.upstream).port),
  path,
  authorization: '',
  body: bodyOf(mode, undefined, false),
})
