import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Awaitable, Storage, UsageRow } from '@signalbox/storage'
import type { Case } from './cases.ts'
import { measureRounds, type Round } from './measure-rounds.ts'
import { medianOf, percentile } from './numbers.ts'
import { against, table } from './report.ts'
import type { Section } from './section.ts'
import { openLab } from './servers.ts'
import { dropSchema, newName, openStore, type Store } from './stores.ts'

const titles: Readonly<Record<Store, string>> = {
  memory: 'memory',
  sqlite: 'SQLite',
  postgres: 'PostgreSQL',
  'postgres-redis': 'PostgreSQL + Redis',
}
const stores = Object.keys(titles) as readonly Store[]
/** Calls under way at a time: what a busy process has. */
const inFlight = 64
/** CPU of the gateway at 32 connections, divided by that with memory. */
const targets = { sqlite: 1.3, postgres: 1.3, 'postgres-redis': 1.5 } as const
/** Holds on one account a second. */
const hotTarget = 10_000

/** A verb of a store, called with a number that is new each time. */
const verbs: Readonly<Record<string, (storage: Storage, n: number) => Awaitable<unknown>>> = {
  'count a request (take)': ({ counters }, n) =>
    counters.take([{ key: `w${n % 100}/rpm`, amount: 1, limit: 1_000_000_000, windowMs: 60_000 }], Date.now()),
  'take and free a slot': async ({ counters }, n) => {
    await counters.enter({ key: `w${n % 100}/slots`, slot: `s${n}`, limit: 100_000, ttlMs: 90_000 }, Date.now())
    await counters.leave(`w${n % 100}/slots`, `s${n}`)
  },
  'hold on one account (reserve)': ({ ledger }, n) => ledger.reserve({ ...holdOf(`hot${n}`), accounts: [{ account: 'hot', floor: 0 }] }),
  'hold, settle and log a request': async ({ ledger, settle }, n) => {
    const account = `w${n % 100}`
    await ledger.reserve({ ...holdOf(`r${n}`), accounts: [{ account, floor: Number.NEGATIVE_INFINITY }] })
    await settle({ row: rowOf(n), amounts: { [account]: 7 }, slotKeys: [], at: Date.now() })
  },
}

const holdOf = (id: string) => ({
  id,
  amount: 10,
  at: Date.now(),
  journal: () => '{"request":"of the usual length, about as long as this"}',
})

const rowOf = (n: number): UsageRow => ({
  id: `r${n}`,
  workspaceId: `w${n % 100}`,
  keyId: 'key',
  at: Date.now(),
  modelAsked: 'model',
  model: 'author/model',
  provider: 'provider',
  credential: 'platform',
  strategy: 'balanced',
  streamed: false,
  inputTokens: 100,
  outputTokens: 100,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  estimated: false,
  cost: 7,
  byokCost: 0,
  result: 'ok',
  attempts: 1,
  durationMs: 500,
  warnings: [],
})

interface Measured {
  readonly store: Store
  readonly verb: string
  readonly perSecond: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
  /** Microseconds of this process. */
  readonly cpu: number
}

/** What a store carries for one process, and what a request costs the gateway with it. Needs PostgreSQL and Redis on this machine. */
export const storage: Section = async ({ quick }) => {
  const found: Measured[] = []
  for (const store of stores) {
    process.stderr.write(`storage: ${titles[store]}\n`)
    found.push(...(await measureStore(store, quick ? 5_000 : 20_000)))
  }
  return [describeVerbs(found), describeGateway(await measureGateway(quick))].join('\n\n')
}

async function measureStore(store: Store, calls: number): Promise<readonly Measured[]> {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-bench-'))
  const name = store === 'sqlite' ? join(folder, 'books.db') : newName()
  const opened = await openStore(store, name)
  try {
    await opened.ledger.credit({ id: 'credit', account: 'hot', amount: 1_000_000_000_000, at: Date.now() })
    const found: Measured[] = []
    for (const [verb, call] of Object.entries(verbs)) {
      // The first calls compile and prepare.
      await run({ calls: 2_000, from: 0, call: n => call(opened, n) })
      found.push({ store, verb, ...(await run({ calls, from: 2_000, call: n => call(opened, n) })) })
    }
    return found
  } finally {
    await opened.close()
    if (store.startsWith('postgres')) await dropSchema(name)
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Run {
  readonly calls: number
  readonly from: number
  readonly call: (n: number) => Awaitable<unknown>
}

async function run({ calls, from, call }: Run): Promise<Omit<Measured, 'store' | 'verb'>> {
  const waits: number[] = []
  let next = from
  const cpuBefore = process.cpuUsage()
  const began = performance.now()
  const loop = async (): Promise<void> => {
    while (next < from + calls) {
      const n = next++
      const at = performance.now()
      await call(n)
      waits.push(performance.now() - at)
    }
  }
  await Promise.all(Array.from({ length: inFlight }, loop))
  const seconds = (performance.now() - began) / 1_000
  const { user, system } = process.cpuUsage(cpuBefore)
  return { perSecond: calls / seconds, p50: percentile(waits, 0.5), p99: percentile(waits, 0.99), cpu: (user + system) / calls }
}

/** One request of the gateway with each store, in turns. */
async function measureGateway(quick: boolean): Promise<readonly Round[]> {
  const lab = await openLab()
  try {
    const servers = await Promise.all(stores.map(store => lab.open(store)))
    const one: Case = { client: 'chat', provider: 'chat', delivery: 'whole', connections: 32 }
    process.stderr.write('storage: the gateway\n')
    return await measureRounds(one, { lab, servers, quick })
  } finally {
    await lab.close()
  }
}

function describeVerbs(found: readonly Measured[]): string {
  const rows = found.map(({ store, verb, perSecond, p50, p99, cpu }) => [
    titles[store],
    verb,
    perSecond.toFixed(0),
    p50.toFixed(2),
    p99.toFixed(2),
    cpu.toFixed(1),
  ])
  const hot = found.find(({ store, verb }) => store === 'postgres' && verb.startsWith('hold on one'))?.perSecond ?? 0
  return [
    `One process, ${inFlight} calls under way; waits in milliseconds, CPU of the process in µs a call.`,
    table(['store', 'verb', 'per second', 'p50', 'p99', 'CPU µs'], rows, 2),
    `One account on PostgreSQL carries ${hot.toFixed(0)} admissions a second ${hot >= hotTarget ? '✓' : '✗'}. Target: ${hotTarget}.`,
  ].join('\n\n')
}

function describeGateway(rounds: readonly Round[]): string {
  const of = (store: Store, value: (measured: Round[Store]) => number): number => medianOf(rounds.map(round => value(round[store])))
  const rows = stores.map(store => {
    const ratio = medianOf(rounds.map(round => round[store].cpu / round.memory.cpu))
    return [
      titles[store],
      of(store, ({ cpu }) => cpu).toFixed(0),
      store === 'memory' ? '' : against(ratio, targets[store]),
      store === 'memory' ? '' : targets[store].toFixed(1),
      of(store, ({ perSecond }) => perSecond).toFixed(0),
      of(store, ({ p50 }) => p50).toFixed(1),
      of(store, ({ p99 }) => p99).toFixed(1),
    ]
  })
  return [
    'The gateway in one process, whole chat answers over 32 connections, its log included; the median of rounds in turns.',
    table(['store', 'CPU µs a request', '÷ memory', 'target', 'requests /s', 'p50 ms', 'p99 ms'], rows),
  ].join('\n\n')
}
