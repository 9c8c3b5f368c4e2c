import { type Case, checked, chosen, jobFor, relayed, requestsOf, titleOf } from './cases.ts'
import { type Kind, kinds, type Lab, openLab, type Server } from './lab.ts'
import { medianOf } from './numbers.ts'
import { against, table } from './report.ts'
import type { Section } from './section.ts'

interface Measured {
  /** Microseconds of CPU for each request. */
  readonly cpu: number
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  readonly chunks: number
}

type Round = Readonly<Record<Kind, Measured>>

/** At 32 connections; one connection pays for waking up, which says little about a busy server. */
const targets = { whole: 2, streamed: 1.3, burst: 1.3, sqlite: 1.5 } as const

/** What a request costs, beside a proxy that only copies bytes: measured in turns, since a machine is never the same twice. */
export const relay: Section = async ({ quick, only }) => {
  const lab = await openLab()
  try {
    const servers = await Promise.all(kinds.map(kind => lab.open(kind)))
    const measure = async (one: Case, server: Server, requests: number): Promise<Measured> => {
      const before = await server.child.ask('cpu', {})
      const { seconds, p50, p99, chunks } = await lab.load.ask('run', jobFor(one, server, requests))
      const cpu = ((await server.child.ask('cpu', {})) - before) / requests
      return { cpu, perSecond: requests / seconds, p50, p99, chunks }
    }
    const results: { readonly one: Case; readonly rounds: readonly Round[] }[] = []
    for (const one of chosen(relayed, only, titleOf).filter(({ client }) => servers.every(({ speaks }) => speaks.includes(client)))) {
      process.stderr.write(`relay: ${titleOf(one)}\n`)
      const requests = Math.ceil(requestsOf(one) / (quick ? 4 : 1))
      for (const server of servers) await warmUp(lab, one, server)
      const rounds: Round[] = []
      for (let at = 0; at < (quick ? 2 : 5); at += 1) {
        const found: Partial<Record<Kind, Measured>> = {}
        // Whoever comes first in a round may find the machine in another mood, so they take turns.
        for (let turn = 0; turn < servers.length; turn += 1) {
          const server = servers[(at + turn) % servers.length]
          if (server) found[server.kind] = await measure(one, server, requests)
        }
        rounds.push(found as Round)
      }
      results.push({ one, rounds })
    }
    return describe(results)
  } finally {
    await lab.close()
  }
}

/** Ten requests of a paced stream would be measured cold, so the code that they run is warmed by bursts. */
async function warmUp({ load }: Lab, one: Case, server: Server): Promise<void> {
  await load.ask('run', checked(jobFor({ ...one, connections: 8 }, server, 50), one, server))
  const hot: Case = { client: one.client, provider: one.provider, delivery: one.delivery === 'whole' ? 'whole' : 'burst', connections: 8 }
  await load.ask('run', jobFor(hot, server, hot.delivery === 'whole' ? 5_000 : 800))
}

const of = (rounds: readonly Round[], value: (round: Round) => number): number => medianOf(rounds.map(value))

function describe(results: readonly { readonly one: Case; readonly rounds: readonly Round[] }[]): string {
  const costs = results.map(({ one, rounds }) => {
    const [memory, sqlite, more] = [
      of(rounds, ({ memory, floor }) => memory.cpu / floor.cpu),
      of(rounds, ({ sqlite, floor }) => sqlite.cpu / floor.cpu),
      of(rounds, ({ sqlite, memory }) => sqlite.cpu / memory.cpu),
    ]
    const judged = one.connections === 32
    return [
      titleOf(one),
      ...kinds.map(kind => of(rounds, round => round[kind].cpu).toFixed(0)),
      judged ? against(memory, targets[one.delivery]) : memory.toFixed(2),
      sqlite.toFixed(2),
      judged ? against(more, targets.sqlite) : more.toFixed(2),
      one.delivery === 'whole' ? '' : of(rounds, ({ memory }) => memory.chunks).toFixed(0),
    ]
  })
  const speeds = results.map(({ one, rounds }) => [
    titleOf(one),
    ...kinds.map(kind => of(rounds, round => round[kind].perSecond).toFixed(0)),
    ...kinds.flatMap(kind => [of(rounds, round => round[kind].p50).toFixed(2), of(rounds, round => round[kind].p99).toFixed(2)]),
  ])
  return [
    `CPU of the server process, µs per request. Targets, at 32 connections: whole ≤ ${targets.whole.toFixed(1)} × floor, streamed ≤ ${targets.streamed.toFixed(1)} × floor, SQLite ≤ ${targets.sqlite.toFixed(1)} × memory. A streamed answer has 100 deltas; "writes" is in how many pieces we handed it on.`,
    table(['case', 'floor', 'memory', 'SQLite', 'memory ÷ floor', 'SQLite ÷ floor', 'SQLite ÷ memory', 'writes'], costs),
    'Requests per second, and milliseconds from the request to the end of its answer.',
    table(['case', 'floor /s', 'memory /s', 'SQLite /s', ...kinds.flatMap(kind => [`${kind} p50`, `${kind} p99`])], speeds),
  ].join('\n\n')
}
