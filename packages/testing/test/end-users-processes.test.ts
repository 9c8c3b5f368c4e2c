import { spawn } from 'node:child_process'
import { makeSecret } from '@signalbox/core/access'
import { createGateway } from '@signalbox/gateway'
import { simulated } from '@signalbox/providers'
import { postgresStorage } from '@signalbox/storage-sql/postgres'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { describeWith, postgresUrl } from './services.ts'
import { dropSchema } from './stores.ts'

// Signed-in users and tokens of pages against several processes of one PostgreSQL.

const describePostgres = describeWith('postgres')
const schema = `end_user_processes_${process.pid}`
/** Microdollars; a request costs one for each word. */
const limit = 350
const ask = { model: 'small', input: 'hi', max_output_tokens: 100 }
const long = inject('isLongRun')
const processes = long ? 3 : 2

describePostgres('several processes', () => {
  const storage = postgresStorage(postgresUrl, { schema })
  const price = { input: 1_000_000, output: 1_000_000 }
  const offer = { provider: 'sim', model: 'echo', api: 'chat' as const, price, maxOutputTokens: 100 }
  const gateway = createGateway({
    providers: [simulated({ id: 'sim' })],
    models: [{ id: 'small', offers: [offer] }],
    storage,
    logger: { info() {}, warn() {}, error() {} },
  })
  const children: ReturnType<typeof spawn>[] = []
  let urls: readonly string[] = []

  const start = async (): Promise<string> => {
    const args = [inject('programs')['end-user'], postgresUrl, schema, String(limit)]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    children.push(child)
    const line = await new Promise<string>((done, fail) => {
      child.stdout.once('data', (data: Buffer) => done(data.toString()))
      child.once('exit', code => fail(new Error(`The server ended with ${code} before it listened.`)))
    })
    return (JSON.parse(line) as { url: string }).url
  }
  beforeAll(async () => {
    await gateway.workspaces.create({ id: 'app', name: 'App', billing: 'postpaid' })
    urls = await Promise.all(Array.from({ length: processes }, start))
  })
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL')
    await gateway.close()
    await dropSchema(schema)
  })

  const send = async (n: number, headers: Readonly<Record<string, string>>) => {
    const reply = await fetch(`${urls[n % processes]}/v1/responses`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(ask),
    })
    const { error } = (await reply.json()) as { error?: { code?: string } | null }
    return error?.code ?? reply.status
  }
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

  test('never exceed a user’s cap together, by sign-in and by token, and charge each response once', async () => {
    const users = Array.from({ length: long ? 1_000 : 10 }, (_, n) => `u${n}`)
    let answered = 0
    let refused = 0
    for (let at = 0; at < users.length; at += 10) {
      const racing = users.slice(at, at + 10).map(async user => {
        const { token } = await gateway.workspaces('app').sessions.create({ user, budgets: [{ limit, period: 'total' }] })
        const ends = await Promise.all(Array.from({ length: 12 }, (_, n) => send(n, n % 2 === 0 ? { 'x-user': user } : bearer(token))))
        const ok = ends.filter(end => end === 200).length
        expect(new Set(ends.filter(end => end !== 200))).toEqual(new Set(ok < ends.length ? ['budget_exceeded'] : []))
        answered += ok
        refused += ends.length - ok
        const { spent, held } = await storage.ledger.balance(`budget:app:user:${user}:total`)
        expect(ok).toBeGreaterThan(0)
        expect([held, spent > 0, spent <= limit]).toEqual([0, true, true])
      })
      await Promise.all(racing)
    }
    expect(refused).toBeGreaterThan(0)
    // Every answer has its entry on the account of the workspace, and is the cost of one.
    const { spent } = await storage.ledger.balance('credit:app')
    const own = await Promise.all(users.map(async user => (await storage.ledger.balance(`budget:app:user:${user}:total`)).spent))
    expect(own.reduce((sum, each) => sum + each, 0)).toBe(spent)
    expect(answered).toBeGreaterThan(0)
  }, 900_000)

  test('refuse a forged or revoked token, whichever process is called', async () => {
    const { sessions } = gateway.workspaces('app')
    const good = await sessions.create({ user: 'good' })
    const seen = await sessions.create({ user: 'seen' })
    const gone = await sessions.create({ user: 'gone' })
    for (let n = 0; n < processes; n++) expect(await send(n, bearer(seen.token))).toBe(200)
    await sessions.revoke(seen.id)
    await sessions.revoke(gone.id)
    const forged = (n: number): string => {
      const at = 3 + (n % (good.token.length - 3))
      return [
        () => makeSecret(gateway.ids, 'st_'),
        () => gone.token,
        () => `${good.token.slice(0, at)}${good.token.charAt(at) === 'a' ? 'b' : 'a'}${good.token.slice(at + 1)}`,
        () => good.token.slice(0, at),
        () => `st_${good.id}`,
      ][n % 5]?.() as string
    }
    const tries = long ? 30_000 : 150
    for (let n = 0; n < tries; n += 50) {
      const ends = await Promise.all(Array.from({ length: 50 }, (_, more) => send(n + more, bearer(forged(n + more)))))
      expect(new Set(ends)).toEqual(new Set(['invalid_api_key']))
    }
    for (let n = 0; n < processes; n++) expect(await send(n, bearer(good.token))).toBe(200)
    if (!long) return
    // A token that each process has in its cache is refused by all of them within a minute, whatever is sent meanwhile.
    const revokedAt = Date.now()
    let last: readonly unknown[] = []
    while (Date.now() - revokedAt < 60_000) {
      last = await Promise.all(urls.map((_, n) => send(n, bearer(seen.token))))
      if (last.every(end => end === 'invalid_api_key')) break
      await new Promise(done => setTimeout(done, 500))
    }
    expect(last).toEqual(urls.map(() => 'invalid_api_key'))
  }, 900_000)
})
