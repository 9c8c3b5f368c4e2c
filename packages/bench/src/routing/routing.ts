import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Preference, preferences } from '@signalbox/router'
import { table } from '../report.ts'
import type { Section } from '../section.ts'
import { barChart, type Group } from './bar-chart.ts'
import { cheapest } from './baselines.ts'
import { beginnings, trafficOfBest } from './better-offer.ts'
import { compare, meanOf, type Pooled, type Trial } from './compare.ts'
import { costOfDecision } from './decisions.ts'
import { improve, meet, recover, troubles } from './drills.ts'
import { inverseSquare } from './learned-baselines.ts'
import { oracle } from './oracle.ts'
import { ours, policies } from './policies.ts'
import { randomWorld } from './random-world.ts'
import { scarceWorlds } from './scarce-worlds.ts'
import type { World } from './world.ts'
import { worlds } from './worlds.ts'

const picture = resolve(import.meta.dirname, '../../../../docs/routing.svg')

/** Size of the measurement: for a quick look, or for the page. */
interface Extent {
  readonly seeds: number
  readonly loads: readonly { readonly rate: number; readonly minutes: number }[]
  readonly randomWorlds: number
  readonly preferenceMinutes: number
  readonly drillSeeds: number
  readonly byRate: { readonly rates: readonly number[]; readonly seeds: number }
}

const full: Extent = {
  seeds: 3,
  loads: [
    { rate: 0.1, minutes: 120 },
    { rate: 1, minutes: 60 },
    { rate: 8, minutes: 60 },
    { rate: 24, minutes: 20 },
  ],
  randomWorlds: 40,
  preferenceMinutes: 30,
  drillSeeds: 5,
  byRate: { rates: [0.3, 1, 2, 3, 5, 8, 15, 30], seeds: 20 },
}
const glance: Extent = {
  seeds: 1,
  loads: [
    { rate: 1, minutes: 30 },
    { rate: 8, minutes: 20 },
  ],
  randomWorlds: 6,
  preferenceMinutes: 10,
  drillSeeds: 2,
  byRate: { rates: [1, 3, 8], seeds: 4 },
}

interface Part {
  readonly text: string
  /** Its bars in the chart. */
  readonly group?: Group
}

/** The loss of routing: every policy serves the same simulated hours, and one that knows the truth shows how well it can be done. */
export const routing: Section = async ({ quick, only }) => {
  const extent = quick ? glance : full
  const parts: Readonly<Record<string, (extent: Extent) => Part>> = {
    ...Object.fromEntries(worlds.map(world => [world.name, (of: Extent) => worldPart(world, of)])),
    'random worlds': randomPart,
    'scarce slots': scarcePart,
    preferences: preferencePart,
    'broken favourite': brokenPart,
    recovery: recoveryPart,
    'recovery by size of requests': recoveryBySizePart,
    'the best offer by rate': byRatePart,
    decision: decisionPart,
  }
  const found: Part[] = []
  for (const [title, measure] of Object.entries(parts)) {
    if (!only.every(word => title.includes(word))) continue
    process.stderr.write(`routing: ${title}\n`)
    const part = measure(extent)
    found.push({ ...part, text: `### ${title[0]?.toUpperCase()}${title.slice(1)}\n\n${part.text}` })
  }
  const groups = found.flatMap(({ group }) => group ?? [])
  if (!quick && only.length === 0) writeFileSync(picture, drawn(groups))
  return found.map(({ text }) => text).join('\n\n')
}

const drawn = (groups: readonly Group[]): string =>
  barChart({
    title: 'Loss over an oracle’s, by world',
    series: policies.map(({ name }) => name),
    groups,
    label: value => `${percent(value, 0)} %`,
  })

const percent = (share: number, digits = 1): string => (share * 100).toFixed(digits)
const seconds = (value: number): string => (Number.isFinite(value) ? value.toFixed(0) : 'never')

function worldPart(world: World, { seeds, loads }: Extent): Part {
  const trials = loads.flatMap(load => Array.from({ length: seeds }, (_, index): Trial => ({ world, run: { ...load, seed: index + 1 } })))
  const found = compare(trials, policies)
  const atRate = ({ regrets }: Pooled, rate: number): string =>
    percent(meanOf(regrets.filter((_, index) => trials[index]?.run.rate === rate)))
  const head = ['policy', 'regret %', ...loads.map(({ rate }) => `at ${rate}/s`), 'success %', 'TTFT p50 ms', 'p95', 'p99']
  const rows = found.map(pooled => [
    pooled.name,
    percent(pooled.regret),
    ...loads.map(({ rate }) => atRate(pooled, rate)),
    percent(pooled.success, 3),
    ...pooled.firstContentMs.map(ms => ms.toFixed(0)),
    pooled.usd.toFixed(3),
    percent(pooled.extra),
    percent(pooled.limited, 2),
    percent(pooled.warm, 0),
  ])
  return {
    text: table([...head, 'USD per 1000', 'extra calls %', '429 %', 'warm tokens %'], rows),
    group: { title: world.name, values: found.slice(1).map(({ regret }) => regret) },
  }
}

function randomPart({ randomWorlds }: Extent): Part {
  const trials = Array.from(
    { length: randomWorlds },
    (_, index): Trial => ({ world: randomWorld(index + 1), run: { seed: index + 1_001 } }),
  )
  const found = compare(trials, policies)
  const rows = found.map(pooled => [
    pooled.name,
    percent(pooled.regret),
    percent(Math.max(...pooled.regrets)),
    percent(pooled.success, 3),
    pooled.usd.toFixed(3),
    percent(pooled.extra),
    percent(pooled.limited, 2),
  ])
  return {
    text: [
      `${randomWorlds} worlds of 2 to 12 offers, half an hour each, of which everything is drawn.`,
      table(['policy', 'mean regret %', 'worst', 'success %', 'USD per 1000', 'extra calls %', '429 %'], rows),
    ].join('\n\n'),
    group: { title: 'random worlds', values: found.slice(1).map(({ regret }) => regret) },
  }
}

function scarcePart({ seeds }: Extent): Part {
  const rows = scarceWorlds.flatMap(world =>
    compare(
      Array.from({ length: 2 * seeds }, (_, index): Trial => ({ world, run: { seed: index + 1 } })),
      [ours, inverseSquare, cheapest],
    ).map(pooled => [
      world.name,
      pooled.name,
      percent(pooled.regret),
      percent(Math.max(...pooled.regrets)),
      percent(pooled.success),
      ...pooled.firstContentMs.slice(1).map(ms => ms.toFixed(0)),
      percent(pooled.extra),
      percent(pooled.limited),
    ]),
  )
  return {
    text: [
      '200 requests a minute, of which most go to one cheap and fast offer, and other offers that grant few: 122, 31 and 103 a minute, unless the world says otherwise. Faults last from minute 15 to 25 of 40.',
      table(['world', 'policy', 'mean regret %', 'worst', 'success %', 'TTFT p95 ms', 'p99', 'extra calls %', '429 %'], rows, 2),
    ].join('\n\n'),
  }
}

function preferencePart({ seeds, preferenceMinutes: minutes }: Extent): Part {
  const rows = (Object.keys(preferences) as Preference[]).map(preference => {
    const trials = worlds.flatMap(world =>
      Array.from({ length: Math.min(2, seeds) }, (_, index): Trial => ({ world, run: { seed: index + 11, rate: 8, minutes, preference } })),
    )
    return [
      preference,
      ...compare(trials, policies)
        .slice(1)
        .map(({ regret }) => percent(regret)),
    ]
  })
  return {
    text: [
      'Mean regret % over all named worlds at 8 requests a second, where loss and policy go by the preference.',
      table(['preference', ...policies.map(({ name }) => name)], rows),
    ].join('\n\n'),
  }
}

function brokenPart({ drillSeeds }: Extent): Part {
  const seeds = Math.min(2, drillSeeds)
  const rows = [oracle, ...policies].map(policy => [
    policy.name,
    ...Object.values(troubles).map(trouble => {
      const { attempts, share, slowMs, failed } = meet(policy, trouble, { rate: 8, seeds })
      return `${attempts.toFixed(0)} (${percent(share)} %), ${(slowMs / 1_000).toFixed(1)} s, ${percent(failed, 2)} %`
    }),
  ])
  return {
    text: [
      'The favourite breaks for ten minutes at 8 requests a second. First attempts that still meet it (and their share), the wait that 5 % exceed, failed requests. The oracle shows what is right: an error that is quick costs little.',
      table(['policy', ...Object.keys(troubles)], rows),
    ].join('\n\n'),
  }
}

function recoveryPart({ drillSeeds: seeds }: Extent): Part {
  const rows = Object.entries(troubles).flatMap(([name, trouble]) =>
    [1, 8].map(rate => {
      const { usual, longest } = recover(ours, trouble, { rate, seeds })
      return [`recovered from ${name}, ${rate}/s`, seconds(usual), seconds(longest)]
    }),
  )
  const found = improve(ours, { rate: 1, seeds })
  rows.push(['an offer that became the best, 1/s', seconds(found.usual), seconds(found.longest)])
  return {
    text: [
      `Seconds until the best offer has its traffic again, or for the first time (of ${ours.name}; of ${seeds} runs).`,
      table(['', 'usual s', 'longest s'], rows),
    ].join('\n\n'),
  }
}

const sizes = [
  { inputTokens: 60, outputTokens: 40 },
  { inputTokens: 1_000, outputTokens: 300 },
  { inputTokens: 6_000, outputTokens: 600 },
]

function recoveryBySizePart({ drillSeeds: seeds }: Extent): Part {
  const rows = [1, 15].flatMap(rate =>
    sizes.map(size => [
      `${size.inputTokens} in, ${size.outputTokens} out, ${rate}/s`,
      ...Object.values(troubles).map(trouble => {
        const { usual, longest } = recover(ours, trouble, { rate, seeds, size })
        return `${seconds(usual)} / ${seconds(longest)}`
      }),
    ]),
  )
  return {
    text: [
      `The same where all requests are of one size, in tokens: usual / longest seconds (of ${ours.name}; of ${seeds} runs).`,
      table(['', ...Object.keys(troubles)], rows),
    ].join('\n\n'),
  }
}

const windows = [60, 180, 300]

function byRatePart({ byRate: { rates, seeds } }: Extent): Part {
  const rows = Object.entries(beginnings).flatMap(([name, beginning]) =>
    rates.map(rate => {
      const found = trafficOfBest(ours, { beginning, seconds: windows }, { rate, seeds, firstSeed: 101 })
      return [
        `${name}, ${rate}/s`,
        ...found.map(({ share, least, regret }) => `${percent(share, 0)} / ${percent(least, 0)} / ${percent(regret())}`),
      ]
    }),
  )
  return {
    text: [
      `Share of the requests outside conversations that go to the best offer in the first seconds since it is the best, in %: mean / least of ${seeds} runs / regret % (of ${ours.name}; the oracle sends it all of them).`,
      table(['', ...windows.map(seconds => `${seconds} s`)], rows),
    ].join('\n\n'),
  }
}

function decisionPart({ drillSeeds }: Extent): Part {
  const { microseconds, bytes } = costOfDecision(ours, drillSeeds * 3)
  return { text: `One decision among ten offers: ${microseconds.toFixed(1)} µs, ${bytes.toFixed(0)} bytes.` }
}
