import { type Case, chosen, relayed, titleOf } from './cases.ts'
import { measureRounds, type Round } from './measure-rounds.ts'
import { medianOf } from './numbers.ts'
import { against, table } from './report.ts'
import type { Section } from './section.ts'
import { kinds, openLab } from './servers.ts'

/** For 32 connections. A single connection pays for waking up, which says little about a busy server. */
const targets = {
  inDialect: { whole: 2, streamed: 1.3, burst: 1.4 },
  acrossDialects: { whole: 2, streamed: 1.4, burst: 1.6 },
  sqlite: 1.3,
} as const

const targetOf = ({ client, provider, delivery }: Case): number =>
  (client === provider ? targets.inDialect : targets.acrossDialects)[delivery]

/** CPU cost of a request compared with a proxy that only copies bytes, measured in turns, because the state of a machine varies. */
export const relay: Section = async ({ quick, only }) => {
  const lab = await openLab()
  try {
    const servers = await Promise.all(kinds.map(kind => lab.open(kind)))
    const results: { readonly one: Case; readonly rounds: readonly Round[] }[] = []
    for (const one of chosen(relayed, only, titleOf).filter(({ client }) => servers.every(({ speaks }) => speaks.includes(client)))) {
      process.stderr.write(`relay: ${titleOf(one)}\n`)
      results.push({ one, rounds: await measureRounds(one, { lab, servers, quick }) })
    }
    return describe(results)
  } finally {
    await lab.close()
  }
}

const { inDialect, acrossDialects, sqlite } = targets
const wanted = [
  `whole ≤ ${inDialect.whole.toFixed(1)} × floor`,
  `streamed ≤ ${inDialect.streamed} × (between dialects ${acrossDialects.streamed})`,
  `burst ≤ ${inDialect.burst} × (${acrossDialects.burst})`,
  `SQLite ≤ ${sqlite} × memory`,
].join(', ')

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
      judged ? against(memory, targetOf(one)) : memory.toFixed(2),
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
    `CPU of the server process, µs per request. Targets, at 32 connections: ${wanted}. A streamed answer has 100 deltas; "writes" is in how many pieces we handed it on.`,
    table(['case', 'floor', 'memory', 'SQLite', 'memory ÷ floor', 'SQLite ÷ floor', 'SQLite ÷ memory', 'writes'], costs),
    'Requests per second, and milliseconds from the request to the end of its answer.',
    table(['case', 'floor /s', 'memory /s', 'SQLite /s', ...kinds.flatMap(kind => [`${kind} p50`, `${kind} p99`])], speeds),
  ].join('\n\n')
}
