import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Storage } from '@signalbox/storage'
import { expect, inject, onTestFinished, test } from 'vitest'
import { describeWith, postgresUrl } from '../../testing/test/services.ts'
import { useSchema } from './postgres-schema.ts'

const AT = 1_750_000_000_000
const child = fileURLToPath(new URL('child.ts', import.meta.url))
const describePostgres = describeWith('postgres')

interface Running {
  readonly process: ChildProcess
  readonly lines: () => readonly string[]
  /** Resolves when the process is gone and its output has been read. */
  readonly over: Promise<unknown>
}

function start(task: 'work' | 'race' | 'agree', schema: string, name: string): Running {
  const started = spawn(process.execPath, ['--conditions=signalbox-source', child, task, `${postgresUrl}#${schema}`, name], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => {
    started.kill('SIGKILL')
  })
  let text = ''
  started.stdout.setEncoding('utf8').on('data', chunk => {
    text += chunk
  })
  return { process: started, lines: () => text.split('\n').filter(line => line !== ''), over: once(started, 'close') }
}

async function countsOf(racers: readonly Running[]): Promise<(name: string) => number> {
  await Promise.all(racers.map(racer => racer.over))
  expect(racers.map(racer => racer.process.exitCode)).toEqual(racers.map(() => 0))
  const counts = racers.map(racer => JSON.parse(racer.lines().join('')) as Record<string, number>)
  return name => counts.reduce((sum, count) => sum + (count[name] ?? 0), 0)
}

async function entriesOf(storage: Storage, account: string): Promise<ReadonlySet<string>> {
  const entries = await storage.ledger.entries(account, { limit: 1_000_000 })
  expect((await storage.ledger.balance(account)).balance).toBe(entries.reduce((total, entry) => total + entry.amount, 0))
  const names = entries.map(({ kind, id }) => `${kind} ${id}`)
  expect(new Set(names).size).toBe(names.length)
  return new Set(names)
}

describePostgres('PostgreSQL, several processes', () => {
  const { schema, open, empty } = useSchema()
  const opened = async (): Promise<Storage> => {
    await empty()
    const storage = open()
    onTestFinished(() => storage.close())
    return storage
  }

  test('kill -9 under load loses no acknowledged write, books nothing twice, and lists each remaining hold', async () => {
    const storage = await opened()
    const acknowledged = new Set<string>()
    for (let round = 0; round < (inject('isLongRun') ? 6 : 2); round++) {
      const running = start('work', schema, `r${round}`)
      while (running.process.exitCode === null && running.lines().length < 200 + round * 531) await new Promise(next => setTimeout(next, 5))
      running.process.kill('SIGKILL')
      await running.over
      for (const line of running.lines()) acknowledged.add(line)
    }
    expect(acknowledged.size).toBeGreaterThan(400)
    // A statement that was sent before the kill may still be running on the server.
    await new Promise(next => setTimeout(next, 500))
    const [inA, inB] = [await entriesOf(storage, 'a'), await entriesOf(storage, 'b')]
    const rows = await storage.usage.list({ workspaceId: 'ws_1', from: 0, to: AT * 2, limit: 1_000_000 })
    const used = new Set(rows.map(({ id }) => id))
    expect(used.size).toBe(rows.length)
    const left = new Set((await storage.ledger.holds({ limit: 1_000_000 })).map(({ id }) => id))
    const lost = [...acknowledged].filter(line => {
      const [verb, id = ''] = line.split(' ')
      if (verb === 'credit') return !inA.has(`credit ${id}`)
      if (verb === 'settle') return !inA.has(`usage ${id}`) || !inB.has(`usage ${id}`) || !used.has(id)
      // Each admitted hold is either settled or still listed.
      return left.has(id) === inA.has(`usage ${id}`)
    })
    expect(lost).toEqual([])
    expect([...used].map(id => `usage ${id}`).sort()).toEqual([...inA].filter(name => name.startsWith('usage ')).sort())
    for (const id of left) await storage.ledger.settle({ id, amounts: {}, at: AT })
    for (const account of ['a', 'b']) expect((await storage.ledger.balance(account)).held).toBe(0)
    const slots = Array.from({ length: 50 }, (_, n) =>
      storage.counters.enter({ key: 'slots', slot: `s${n}`, limit: 50, ttlMs: 1 }, AT + 1_000),
    )
    expect((await Promise.all(slots)).every(Boolean)).toBe(true)
  })

  test('two processes together admit exactly the limits, and never overspend', async () => {
    const storage = await opened()
    await storage.ledger.credit({ id: 'c', account: 'a', amount: 3_330, at: AT })
    const total = await countsOf(['one', 'two'].map(name => start('race', schema, name)))
    const names = ['taken', 'held', 'heldWide', 'entered', 'admittedBySlots', 'admittedByMoney']
    const all = Object.fromEntries(names.map(name => [name, total(name)]))
    expect(all).toEqual({ taken: 500, held: 333, heldWide: 100, entered: 123, admittedBySlots: 77, admittedByMoney: 50 })
    expect((await storage.ledger.balance('a')).held).toBe(3_330)
    expect((await storage.ledger.balance('x')).held).toBe(100)
    expect((await storage.ledger.balance('y')).held).toBe(700)
  })

  test('two processes that change one record and one audit chain lose no change, log each once and credit nothing twice', async () => {
    const { records, audit, ledger } = await opened()
    const total = await countsOf(['one', 'two'].map(name => start('agree', schema, name)))
    expect({ steps: total('steps'), gifts: total('gifts') }).toEqual({ steps: 200, gifts: 100 })
    expect(total('conflicts')).toBeGreaterThan(0)
    expect(await records.find('counter', 'ws_1', 'c')).toMatchObject({ version: 200, body: '200' })
    const chain = await audit.chain('ws_1', { after: 0, limit: 1_000 })
    expect(chain.map(({ place }) => place)).toEqual(Array.from({ length: 200 }, (_, n) => n + 1))
    for (const [index, row] of chain.entries()) expect(row.previousHash).toBe(chain[index - 1]?.hash ?? '')
    expect(new Set(chain.map(({ id }) => id)).size).toBe(200)
    expect((await ledger.balance('a')).credited).toBe(600)
    expect((await ledger.balance('b')).credited).toBe(100)
  })
})
