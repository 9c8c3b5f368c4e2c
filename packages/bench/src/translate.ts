import { type Case, caseOf, checked, chosen, deliveries, jobFor, pairs, pairTitle, requestsOf } from './cases.ts'
import { medianOf } from './numbers.ts'
import { against, table } from './report.ts'
import type { Section } from './section.ts'
import { type Lab, openLab, type Server } from './servers.ts'

/** Times the floor. A stream of another dialect may cost more than one that stays in its own. */
const targets: Readonly<Record<Case['delivery'], number>> = { whole: 2, streamed: 1.4, burst: 1.6 }

interface Found {
  /** Microseconds of CPU for each request, medians. */
  readonly floor: number
  readonly ours: number
  /** Median of the ratios of each round. */
  readonly ratio: number
}

/** What it costs that client and provider use different dialects: every pair, beside the proxy that copies bytes. */
export const translate: Section = async ({ quick, only }) => {
  const some = chosen(pairs, only, pairTitle)
  const lab = await openLab()
  try {
    const [floor, ours] = await Promise.all([lab.open('floor'), lab.open('memory')])
    // All of them before any is measured: a gateway that has used one dialect only is still faster than later.
    for (const pair of some) for (const delivery of deliveries) await warmUp(lab, caseOf(pair, delivery), { servers: [floor, ours], quick })
    const rows: (readonly string[])[] = []
    for (const pair of some) {
      process.stderr.write(`translate: ${pairTitle(pair)}\n`)
      const cells: string[] = []
      for (const delivery of deliveries) {
        const found = await compare(lab, caseOf(pair, delivery), { floor, ours, quick })
        cells.push(found.floor.toFixed(0), found.ours.toFixed(0), against(found.ratio, targets[delivery]))
      }
      rows.push([pairTitle(pair), ...cells])
    }
    return [
      `CPU of the server process, µs per request, at 32 connections, books in memory; × is ours ÷ floor. Targets: whole ≤ ${targets.whole.toFixed(1)}, streamed ≤ ${targets.streamed}, burst ≤ ${targets.burst}. A stream has 100 deltas; the floor passes on what the provider says, in the provider's dialect.`,
      table(['client → provider', ...deliveries.flatMap(delivery => [`${delivery}: floor`, 'ours', '×'])], rows),
    ].join('\n\n')
  } finally {
    await lab.close()
  }
}

/** Every answer is looked at once; paced streams are warmed by bursts. */
async function warmUp(
  { load }: Lab,
  one: Case,
  { servers, quick }: { readonly servers: readonly Server[]; readonly quick: boolean },
): Promise<void> {
  for (const server of servers) {
    await load.ask('run', checked(jobFor(one, server, one.connections), one, server))
    if (one.delivery !== 'streamed') await load.ask('run', jobFor(one, server, Math.ceil(requestsOf(one) / (quick ? 8 : 2))))
  }
}

async function compare(
  { load }: Lab,
  one: Case,
  { floor, ours, quick }: { readonly floor: Server; readonly ours: Server; readonly quick: boolean },
): Promise<Found> {
  const requests = Math.ceil(requestsOf(one) / (quick ? 8 : 1))
  const measure = async (server: Server): Promise<number> => {
    const before = await server.child.ask('cpu', {})
    await load.ask('run', jobFor(one, server, requests))
    return ((await server.child.ask('cpu', {})) - before) / requests
  }
  const rounds: { readonly floor: number; readonly ours: number }[] = []
  for (let at = 0; at < (quick ? 2 : 5); at += 1) {
    // They take turns at being first, because the first of a round may find the machine in another state.
    if (at % 2 === 0) rounds.push({ floor: await measure(floor), ours: await measure(ours) })
    else {
      const first = await measure(ours)
      rounds.push({ floor: await measure(floor), ours: first })
    }
  }
  const median = (value: (round: { readonly floor: number; readonly ours: number }) => number): number => medianOf(rounds.map(value))
  return { floor: median(round => round.floor), ours: median(round => round.ours), ratio: median(round => round.ours / round.floor) }
}
