import { writeSync } from 'node:fs'
import type { Storage, UsageRow } from '@signalbox/storage'
import { admitTo, type Limit } from '@signalbox/storage/admission'

// Run as a process of its own by processes.test.ts and postgres-processes.test.ts: `node child.ts <task> <path> <name>`, where the
// path is a file, `file:` and a file for libSQL, or a connection string of PostgreSQL with the schema after `#`. Prints what was
// acknowledged, at once and without a buffer, so that a line printed before the kill is a promise that was kept before it.

const [task = '', path = '', name = ''] = process.argv.slice(2)
const AT = 1_750_000_000_000
const say = (line: string): number => writeSync(1, `${line}\n`)

const usageRow = (id: string): UsageRow => ({
  id,
  workspaceId: 'ws_1',
  keyId: name,
  at: AT,
  modelAsked: 'm',
  model: 'm',
  provider: 'p',
  credential: 'platform',
  strategy: 's',
  streamed: false,
  inputTokens: 1,
  outputTokens: 1,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  estimated: false,
  cost: 7,
  byokCost: 0,
  result: 'ok',
  attempts: 1,
  durationMs: 1,
  warnings: [],
})

const [url = '', schema = ''] = path.split('#')
/** Each loads its driver when it is used: that takes most of a start. */
const openUrl: Readonly<Record<string, () => Promise<Storage>>> = {
  'postgres:': async () => (await import('../src/postgres.ts')).postgresStorage(url, { schema, clock: 'caller' }),
  'file:': async () => (await import('../src/libsql.ts')).libsqlStorage({ url }),
}
const openFile = async (): Promise<Storage> => (await import('../src/sqlite.ts')).sqliteStorage(path)
const storage = await (openUrl[/^\w+:/.exec(url)?.[0] ?? ''] ?? openFile)()

/** Requests for ever, sixteen at a time, until killed. */
async function work(): Promise<void> {
  const { ledger, counters } = storage
  const one = async (id: string, n: number): Promise<void> => {
    await ledger.credit({ id, account: 'a', amount: 10, at: AT })
    say(`credit ${id}`)
    if (n % 2 === 0) {
      await counters.enter({ key: 'slots', slot: id, limit: 1_000_000, ttlMs: 1_000 }, AT)
      await ledger.reserve({
        id,
        amount: 9,
        accounts: [
          { account: 'a', floor: 0 },
          { account: 'b', floor: -(10 ** 12) },
        ],
        at: AT,
      })
    } else
      await admitTo(storage, {
        id,
        limits: [
          { kind: 'slot', key: 'slots', amount: 1, limit: 1_000_000, windowMs: 1_000 },
          { kind: 'account', key: 'a', amount: 9, limit: 0, windowMs: 0 },
          { kind: 'account', key: 'b', amount: 9, limit: 10 ** 12, windowMs: 0 },
        ],
        at: AT,
      })
    say(`reserve ${id}`)
    await storage.settle({ row: usageRow(id), amounts: { a: 7, b: 7 }, slotKeys: ['slots'], at: AT })
    say(`settle ${id}`)
  }
  await Promise.all(
    Array.from({ length: 16 }, async (_, worker) => {
      for (let n = 0; ; n++) await one(`${name}-${worker}-${n}`, n)
    }),
  )
}

const limitsOf = (workspace: string, most: { readonly slots: number; readonly money: number }): readonly Limit[] => [
  { kind: 'slot', key: `${workspace}/slots`, amount: 1, limit: most.slots, windowMs: 60_000 },
  { kind: 'rate', key: `${workspace}/rpm`, amount: 1, limit: 10_000, windowMs: 60_000 },
  { kind: 'tokens', key: `${workspace}/tpm`, amount: 5, limit: 10_000, windowMs: 60_000 },
  { kind: 'account', key: workspace, amount: 10, limit: most.money, windowMs: 0 },
]

/** As many takes and reservations as there is room for, in small steps, so that two processes take turns. */
async function race(): Promise<void> {
  const counts = { taken: 0, held: 0, heldWide: 0, entered: 0, admittedBySlots: 0, admittedByMoney: 0 }
  const wide = [
    { account: 'x', floor: Number.NEGATIVE_INFINITY },
    { account: 'y', floor: -700, amount: 7 },
  ]
  for (let round = 0; round < 40; round++)
    await Promise.all(
      Array.from({ length: 10 }, async (_, n) => {
        const id = `${name}-${round}-${n}`
        const take = storage.counters.take(
          [
            { key: 'free', amount: 1, limit: 10_000, windowMs: 60_000 },
            { key: 'rpm', amount: 1, limit: 500, windowMs: 60_000 },
          ],
          AT,
        )
        const enter = storage.counters.enter({ key: 'slots', slot: id, limit: 123, ttlMs: 60_000 }, AT)
        const reserve = storage.ledger.reserve({ id, amount: 10, accounts: [{ account: 'a', floor: 0 }], at: AT })
        const reserveWide = storage.ledger.reserve({ id: `wide ${id}`, amount: 1, accounts: wide, at: AT })
        const bySlots = admitTo(storage, { id: `slots ${id}`, limits: limitsOf('w1', { slots: 77, money: 900 }), at: AT })
        const byMoney = admitTo(storage, { id: `money ${id}`, limits: limitsOf('w2', { slots: 60, money: 509 }), at: AT })
        if ((await take) === undefined) counts.taken++
        if (await enter) counts.entered++
        if ((await reserve) === undefined) counts.held++
        if ((await reserveWide) === undefined) counts.heldWide++
        if ((await bySlots) === undefined) counts.admittedBySlots++
        if ((await byMoney) === undefined) counts.admittedByMoney++
      }),
    )
  await storage.close()
  say(JSON.stringify(counts))
}

/** Counts one record up, each step with its audit row and a credit, and gives what only one of all processes may give. */
async function agree(): Promise<void> {
  const { records, audit } = storage
  const counts = { steps: 0, conflicts: 0, gifts: 0 }
  const step = async (n: number): Promise<boolean> => {
    const [found, last] = [await records.find('counter', 'ws_1', 'c'), await audit.last('ws_1')]
    const place = (last?.place ?? 0) + 1
    const told = { event: 'counter.raised', subjectType: 'counter', subjectId: 'c', at: AT, changes: '{}' }
    const conflict = await records.commit({
      puts: [
        {
          kind: 'counter',
          workspaceId: 'ws_1',
          id: 'c',
          version: found?.version ?? 0,
          createdAt: AT,
          body: `${Number(found?.body ?? 0) + 1}`,
        },
      ],
      credits: [{ id: `${name}-${n}`, account: 'a', amount: 3, at: AT }],
      audit: [
        { ...told, id: `${name}-${n}`, workspaceId: 'ws_1', place, previousHash: last?.hash ?? '', hash: `${place} by ${name}-${n}` },
      ],
    })
    if (conflict) counts.conflicts++
    else counts.steps++
    return conflict === undefined
  }
  const give = async (n: number): Promise<void> => {
    const conflict = await records.commit({ credits: [{ id: `gift ${n}`, account: 'b', amount: 1, at: AT, note: name }] })
    if (!conflict) counts.gifts++
  }
  await records.commit({ puts: [{ kind: 'racer', workspaceId: 'ws_1', id: name, version: 0, createdAt: AT, body: '' }] })
  while ((await records.list({ kind: 'racer', limit: 2 })).length < 2) await new Promise(resolve => setImmediate(resolve))
  await Promise.all(
    [0, 1, 2, 3].map(async worker => {
      for (let n = worker; n < 100; n += 4) {
        await give(n)
        while (!(await step(n)));
        // A process that never pauses keeps the others from the lock.
        if (n % 8 === 0) await new Promise(resolve => setTimeout(resolve, 2))
      }
    }),
  )
  await storage.close()
  say(JSON.stringify(counts))
}

const tasks: Record<string, () => Promise<void>> = { work, race, agree }
await tasks[task]?.()
