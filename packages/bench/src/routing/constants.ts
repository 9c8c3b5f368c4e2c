import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { bundleTunableRouter } from '../bundle.ts'
import { table } from '../report.ts'
import type { Section } from '../section.ts'
import { trades } from './constant-notes.ts'
import { type Extent, firstSeed, type Outcome, rate, served } from './measure-constants.ts'
import { createDice } from './random-draws.ts'
import { type Constants, loadRouter } from './tunable-router.ts'

const full: Extent & { readonly jittered: number } = { seeds: 2, minutes: 20, jittered: 8 }
const glance: typeof full = { seeds: 1, minutes: 10, jittered: 4 }

/** A share near one, or a growth factor: its distance from one is halved and doubled. */
const aroundOne: ReadonlySet<string> = new Set([
  'failures.beforeContent.down',
  'failures.afterContent.down',
  'failures.maxEvidenceKept',
  'latency.priorTail',
  'latency.histogramDecay',
  'latency.recoveredAfterFall',
  'prefill.observationDecay',
  'averages.priorCacheHitShare',
  'circuitBreaker.pauseGrowth',
  'capacity.limitShareAfter429',
  'capacity.leastLimitShareKept',
  'capacity.limitGrowthPerSecond',
  'conversations.requestDecay',
])

export const scaled = (name: string, value: number, factor: number): number =>
  aroundOne.has(name) ? 1 + (value - 1) * factor : value * factor

/** How halving and doubling each tuning constant of the router changes its loss, with the same requests and random numbers each time. */
export const constants: Section = async ({ quick, only }) => {
  const extent = quick ? glance : full
  const code = await bundleTunableRouter()
  const usual = loadRouter(code, {}).constants
  const names = Object.keys(usual).filter(name => only.every(word => name.includes(word)))
  const pairs = names.flatMap(name => [0.5, 2].map(factor => ({ [name]: scaled(name, usual[name] ?? Number.NaN, factor) })))
  const near = jitter(usual, extent.jittered)
  const [base, ...others] = await measureAll(code, [{}, ...near, ...pairs], extent)
  if (!base) throw new Error('Nothing was measured.')
  const luck = served.map((_, world) => luckIn(base, others.slice(0, near.length), world))
  const rows = names.map((name, index) => {
    const of = near.length + 2 * index
    return rowOf([`\`${name}\``, String(usual[name]), trades[name] ?? ''], others.slice(of, of + 2), { base, luck })
  })
  return [summary(extent, { base, luck }), table(head, rows, 3)].join('\n\n')
}

/** Measures each on any free core. */
async function measureAll(code: string, jobs: readonly Constants[], extent: Extent): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = []
  let taken = 0
  const work = async (): Promise<void> => {
    const worker = new Worker(new URL('./constants-worker.ts', import.meta.url), { workerData: { code, extent } })
    while (taken < jobs.length) {
      const at = taken
      taken += 1
      worker.postMessage(jobs[at])
      const [outcome]: Outcome[] = await once(worker, 'message')
      if (outcome) outcomes[at] = outcome
      process.stderr.write(`constants: ${at + 1} of ${jobs.length}\n`)
    }
    await worker.terminate()
  }
  await Promise.all(Array.from({ length: Math.min(jobs.length, availableParallelism()) }, work))
  return outcomes
}

/** All constants changed by up to three percent. Counts of calls stay unchanged, because 3.01 would act as 4. */
function jitter(usual: Constants, count: number): readonly Constants[] {
  const dice = createDice(1)
  const isCount = (value: number): boolean => Number.isInteger(value) && value < 100
  return Array.from({ length: count }, () =>
    Object.fromEntries(
      Object.entries(usual).flatMap(([name, value]) => (isCount(value) ? [] : [[name, scaled(name, value, dice.between(0.97, 1.03))]])),
    ),
  )
}

/** Smaller changes are not shown in the table. */
const leastShown = 0.0005

/** How much the regret varies with negligible changes: twice the standard deviation. */
function luckIn({ regrets }: Outcome, near: readonly Outcome[], world: number): number {
  const squares = near.map(each => ((each.regrets[world] ?? 0) - (regrets[world] ?? 0)) ** 2)
  return Math.max(leastShown, 2 * Math.sqrt(squares.reduce((sum, square) => sum + square, 0) / near.length))
}

const head = ['constant', 'value', 'what it trades', ...served.map(({ name }) => name), 'extra attempts', 'effect']

const points = (share: number, digits = 1): string => (share * 100).toFixed(digits)
const change = (share: number): string => {
  const text = points(share)
  return Number(text) === 0 ? '0.0' : share > 0 ? `+${text}` : text
}

interface Reference {
  readonly base: Outcome
  readonly luck: readonly number[]
}

function rowOf(cells: readonly string[], both: readonly Outcome[], { base, luck }: Reference): string[] {
  const moved = both.map(({ regrets }) => regrets.map((regret, world) => regret - (base.regrets[world] ?? 0)))
  const isSame = both.every(({ losses }) => losses.every((loss, index) => loss === base.losses[index]))
  const isLuck = moved.every(changes => changes.every((by, world) => Math.abs(by) <= (luck[world] ?? 0)))
  return [
    ...cells,
    ...served.map((_, world) => moved.map(changes => change(changes[world] ?? 0)).join(' / ')),
    both.map(({ extra }) => change(extra - base.extra)).join(' / '),
    isSame ? 'none' : isLuck ? 'not measurable' : 'measurable',
  ]
}

function summary({ seeds, minutes, jittered }: typeof full, { base, luck }: Reference): string {
  const byWorld = (of: readonly number[], digits: number): string =>
    served.map(({ name }, world) => `${points(of[world] ?? 0, digits)} (${name})`).join(', ')
  return [
    `${seeds === 1 ? `Seed ${firstSeed}` : `Seeds ${firstSeed} to ${firstSeed + seeds - 1}`}, ${minutes} minutes of each world at ${rate} requests a second.`,
    `As it is the router loses ${byWorld(base.regrets, 1)} % more than the oracle, with ${points(base.extra)} % extra attempts.`,
    `Each cell is the change in points when the constant is halved / doubled. Luck is ${byWorld(luck, 2)} points: twice the deviation among ${jittered} routers all of whose constants are off by up to 3 %, or what rounds to 0.1.`,
    '"Not measurable": every change of regret is within luck. "None": not one request lost another amount.',
  ].join('\n')
}
