import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { sqliteStorage } from '@signalbox/storage-sql/sqlite'
import { afterAll, expect, inject, test } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'signalbox-kill-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Told {
  readonly url: string
  readonly secret: string
}

async function start(file: string): Promise<Told & { readonly kill: () => Promise<void> }> {
  const child = spawn(process.execPath, [inject('programs').kill, file], { stdio: ['ignore', 'pipe', 'inherit'] })
  const gone = new Promise<void>(done => child.once('exit', () => done()))
  const line = await new Promise<string>((done, fail) => {
    child.stdout.once('data', (data: Buffer) => done(data.toString()))
    child.once('exit', code => fail(new Error(`The gateway ended with ${code} before it listened.`)))
  })
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await gone
  }
  return { ...(JSON.parse(line) as Told), kill }
}

/** Resolves with the request id once the terminal event was read, or with nothing if the connection broke before. */
async function stream({ url, secret }: Told, model: string): Promise<string | undefined> {
  try {
    const response = await fetch(`${url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model,
        input: 'What now?',
        stream: true,
        max_output_tokens: 500,
        gateway: { routing: { deadline_ms: 20_000 } },
      }),
    })
    const text = await response.text()
    return text.includes('event: response.completed') ? (response.headers.get('x-request-id') ?? undefined) : undefined
  } catch {
    return undefined
  }
}

const count = inject('isLongRun') ? 200 : 80

test(`after a kill -9 during ${count} streams no settlement is lost, the ledger adds up, and each remaining hold is listed`, async () => {
  const file = join(folder, 'killed.db')
  const gateway = await start(file)
  const streams = Array.from({ length: count }, (_, at) => stream(gateway, at % 2 === 0 ? 'echo' : 'story'))
  await Promise.all(streams.filter((_, at) => at % 2 === 0))
  await gateway.kill()
  const finished = (await Promise.all(streams)).filter(id => id !== undefined)
  expect(finished.length).toBeGreaterThanOrEqual(count / 2)
  expect(finished.length).toBeLessThan(count)

  const storage = await sqliteStorage(file)
  const entries = await storage.ledger.entries('credit:w', { limit: 1_000 })
  const rows = await storage.usage.list({ workspaceId: 'w', from: 0, to: Number.MAX_SAFE_INTEGER, limit: 1_000 })
  const { balance, held } = await storage.ledger.balance('credit:w')
  expect(entries.reduce((sum, { amount }) => sum + amount, 0)).toBe(balance)
  expect(rows.reduce((sum, { cost }) => sum + cost, 0)).toBe(1_000_000_000 - balance)
  const settled = new Set(entries.map(({ id }) => id))
  const booked = new Set(rows.map(({ id }) => id))
  expect(finished.filter(id => !settled.has(id) || !booked.has(id))).toEqual([])
  const db = new DatabaseSync(file)
  const left = db.prepare('SELECT id FROM holds ORDER BY id').all()
  db.close()
  expect(left.filter(({ id }) => settled.has(String(id)))).toEqual([])
  expect(left.length + rows.length).toBe(count)
  expect(held).toBeGreaterThan(0)
  const listed = await storage.ledger.holds({ limit: 1_000 })
  expect(listed.map(({ id }) => id)).toEqual(left.map(({ id }) => id))
  await storage.close()

  const again = await start(file)
  expect(await stream(again, 'echo')).toBeDefined()
  await again.kill()
})
