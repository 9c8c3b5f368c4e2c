import { expect, test } from 'vitest'
import type { PostgresClient, SqlRow, SqlStatement } from './client.ts'
import { openPostgres } from './connection.ts'
import { faultOfVersion } from './migrations.ts'

/** The version that this program supports. */
const schemaVersion = Array.from({ length: 1_000 }, (_, version) => version).find(version => !faultOfVersion(version, 's')) ?? 0

const answers: Readonly<Record<string, SqlRow>> = {
  is_there: { is_there: true, encoding: 'UTF8', isolation: 'read committed' },
  'SELECT version': { version: schemaVersion },
}

/** A server with given responses that records the statements it received. */
function opened(played: (text: string, times: number) => readonly SqlRow[] | Error | undefined, { prepare = false } = {}) {
  const log: SqlStatement[] = []
  const client: PostgresClient = {
    isConcurrent: true,
    async run(statement) {
      const times = log.filter(({ text }) => text === statement.text).length
      log.push(statement)
      const answer = played(statement.text, times)
      if (answer instanceof Error) throw answer
      if (answer) return answer
      const [, row] = Object.entries(answers).find(([part]) => statement.text.includes(part)) ?? []
      return row ? [row] : [{ answer: 'done' }]
    },
    transaction: async () => {},
    close: async () => void log.push({ text: 'close', values: [] }),
  }
  const pool = { connections: 10, connectTimeoutMs: 5_000 }
  const connection = openPostgres(client, { schema: 's', migrate: false, prepare, isServerTime: false, secrets: ['password'], ...pool })
  return { connection, texts: () => log.map(({ text }) => text), log }
}

const isReadiness = (text: string): boolean => text.includes('is_there')
const lost = (): Error => new Error('socket hang up')
const withState = (code: string): Error => Object.assign(new Error('refused with the password'), { code })

test('the schema is checked once for all first calls, which then run its functions', async () => {
  const { connection, texts, log } = opened(() => undefined)
  const take = connection.caller('counters.take', 'take', ['text', 'bigint[]'])
  expect(connection.isReady()).toBe(false)
  expect(await Promise.all([take(['a', '{1}']), take(['b', '{2}'])])).toEqual(['done', 'done'])
  expect(await take(['c', '{3}'])).toBe('done')
  expect(connection.isReady()).toBe(true)
  expect(texts().filter(isReadiness)).toHaveLength(1)
  expect(log.at(-1)).toEqual({ text: 'SELECT s.take($1::text::text, $2::text::bigint[]) AS answer', values: ['c', '{3}'] })
})

test('a call whose schema check failed was not sent, and is retried whatever it does', async () => {
  for (const error of [lost(), withState('57P03')]) {
    const { connection, texts } = opened((text, times) => (isReadiness(text) && times === 0 ? error : undefined))
    expect(await connection.caller('counters.take', 'take', [])([])).toBe('done')
    expect(texts().filter(isReadiness)).toHaveLength(2)
    expect(texts().filter(text => text.includes('take'))).toHaveLength(1)
  }
})

test('a schema check that the server refuses is not repeated by one call, but by the next', async () => {
  const { connection, texts } = opened((text, times) => (isReadiness(text) && times === 0 ? withState('42501') : undefined))
  const take = connection.caller('counters.take', 'take', [])
  await expect(take([])).rejects.toThrow(/^postgresStorage: `s` cannot be made ready: refused/)
  expect(texts()).toHaveLength(1)
  expect(await take([])).toBe('done')
})

test.each([
  ['older', schemaVersion - 1],
  ['newer', schemaVersion + 1],
])('a schema of an %s version is refused', async (_, version) => {
  const { connection } = opened(text => (text.includes('SELECT version') ? [{ version }] : undefined))
  await expect(connection.caller('read', 'f', [])([])).rejects.toThrow(`\`s\` has schema ${version}`)
})

test('a call whose response was lost is resent if it is idempotent', async () => {
  const play = () => opened((text, times) => (text.includes('.f(') && times === 0 ? lost() : undefined))
  const again = play()
  expect(await again.connection.caller('ledger.settle', 'f', [])([])).toBe('done')
  const once = play()
  await expect(once.connection.caller('counters.take', 'f', [])([])).rejects.toThrow('counters.take: socket hang up')
  expect(once.texts().filter(text => text.includes('.f('))).toHaveLength(1)
})

test('an error has its SQLSTATE, and no secret', async () => {
  const { connection } = opened(text => (text.includes('.f(') ? withState('42501') : undefined))
  await expect(connection.caller('read', 'f', [])([])).rejects.toMatchObject({
    code: '42501',
    message: 'postgresStorage: read: refused with the *** (SQLSTATE 42501). Nothing was changed.',
  })
})

test('texts are prepared under their own names, five hundred of them, or none', () => {
  const { nameOf } = opened(() => undefined, { prepare: true }).connection
  const names = Array.from({ length: 501 }, (_, at) => nameOf(`SELECT ${at}`))
  expect(new Set(names).size).toBe(501)
  expect(names.indexOf(undefined)).toBe(500)
  expect([nameOf('SELECT 0'), nameOf('SELECT 499'), nameOf('SELECT 500')]).toEqual([names[0], names[499], undefined])
  expect(names[0]).toMatch(/^signalbox_[0-9a-f]{24}$/)
  expect(opened(() => undefined).connection.nameOf('SELECT 0')).toBeUndefined()
})

test('a storage is closed once, and refuses later calls', async () => {
  const { connection, texts } = opened(() => undefined)
  const batched = connection.batched({
    verb: 'read',
    name: 'f',
    types: [],
    toValues: () => [],
    toAnswers: (_, calls) => calls.map(() => 1),
  })
  await Promise.all([connection.close(), connection.close()])
  expect(texts()).toEqual(['close'])
  await expect(connection.run('read', { text: 'SELECT', values: [] })).rejects.toThrow('the storage is closed')
  await expect(batched(1)).rejects.toThrow('the storage is closed')
})
