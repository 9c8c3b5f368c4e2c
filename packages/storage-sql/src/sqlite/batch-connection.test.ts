import { expect, test } from 'vitest'
import { type BatchDriver, namedRows, openBatchConnection } from './batch-connection.ts'
import { sqliteMigrations } from './migrate.ts'
import { type Rows, type Statement, statement, type Verb } from './verb.ts'

const migrated: Rows = [[], [], [{ version: sqliteMigrations.length }]]

/** A verb of one statement, whose result is the text that the driver returns. */
const verb = (sql: string): Verb<unknown> => ({ statements: [statement(sql)], answer: ([rows]) => rows?.[0]?.text })

interface Played {
  readonly fails?: (statements: readonly string[]) => Error | undefined
  readonly more?: Partial<BatchDriver>
  readonly timeoutMs?: number
}

/** A database that returns the text of each statement, and records the batches. `|` stands between statements. */
function opened({ fails = () => undefined, more = {}, timeoutMs = 10_000 }: Played = {}) {
  const log: string[] = []
  let running = 0
  const driver: BatchDriver = {
    name: 'testStorage',
    grouped: true,
    async batch(statements: readonly Statement[], mode) {
      const texts = statements.map(({ sql }) => sql)
      if (texts.some(sql => sql.includes('schema_version'))) {
        log.push('migrate')
        return migrated
      }
      log.push(`${mode} ${texts.join('|')}`)
      running += 1
      await new Promise(resolve => setImmediate(resolve))
      if (running > 1) log.push('two at once')
      running -= 1
      const error = fails(texts)
      if (error) throw error
      return texts.map(text => [{ text }])
    },
    isBusy: error => (error as Error).message === 'busy',
    isUndone: error => (error as Error).message === 'undone',
    close: () => void log.push('close'),
    ...more,
  }
  return { connection: openBatchConnection(driver, { timeoutMs }), log }
}

test('calls of one turn are one batch, each gets the rows of its own statements, and later ones wait for it', async () => {
  const { connection, log } = opened()
  const two: Verb<unknown> = { statements: [statement('b'), statement('c')], answer: rows => rows.map(each => each[0]?.text).join() }
  const first = [connection.write(verb('a')), connection.write(two), connection.write(verb('d'))]
  await new Promise(resolve => setImmediate(resolve))
  const second = connection.write(verb('e'))
  expect(await Promise.all([...first, second])).toEqual(['a', 'b,c', 'd', 'e'])
  expect(log).toEqual(['migrate', 'write a|b|c|d', 'write e'])
})

test('a batch has at most sixty-four calls', async () => {
  const { connection, log } = opened()
  await Promise.all(Array.from({ length: 65 }, (_, at) => connection.write(verb(`${at}`))))
  expect(log.slice(1).map(line => line.split('|').length)).toEqual([64, 1])
})

test('a batch rolled back by one statement runs again call by call, and only that call fails', async () => {
  const { connection, log } = opened({ fails: texts => (texts.includes('b') ? new Error('undone') : undefined) })
  const results = await Promise.allSettled(['a', 'b', 'c'].map(sql => connection.write(verb(sql))))
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(log).toEqual(['migrate', 'write a|b|c', 'write a', 'write b', 'write c'])
})

test('a batch that may have been applied is not run again, nor is a single call that was rolled back', async () => {
  const lost = opened({ fails: () => new Error('lost') })
  const results = await Promise.allSettled(['a', 'b'].map(sql => lost.connection.write(verb(sql))))
  expect(results).toMatchObject([{ reason: { message: expect.stringContaining('testStorage: lost') } }, { status: 'rejected' }])
  expect(lost.log).toEqual(['migrate', 'write a|b'])
  const alone = opened({ fails: () => new Error('undone') })
  await expect(alone.connection.write(verb('a'))).rejects.toThrow('undone')
  expect(alone.log).toEqual(['migrate', 'write a'])
})

test('a batch that another process kept from starting is resent until the timeout of a call', async () => {
  let times = 0
  const short = opened({ fails: () => (++times < 4 ? new Error('busy') : undefined) })
  expect(await short.connection.write(verb('a'))).toBe('a')
  expect(short.log.slice(1)).toEqual(Array(4).fill('write a'))
  const grouped = opened({ fails: () => new Error('busy'), timeoutMs: 10, more: { grouped: false } })
  await expect(grouped.connection.write(verb('a'))).rejects.toThrow(/busy|no answer within 10 ms/)
})

test('a call refused by its result fails alone, and an invalid argument keeps its own error', async () => {
  const { connection } = opened()
  const wrong = new RangeError('amount: no')
  const refused: Verb<unknown> = {
    statements: [statement('b')],
    answer() {
      throw wrong
    },
  }
  const results = await Promise.allSettled([connection.write(refused), connection.write(verb('a'))])
  expect(results).toEqual([
    { status: 'rejected', reason: wrong },
    { status: 'fulfilled', value: 'a' },
  ])
})

test('a driver without shared batches gets one per call; reads are sent as reads; an empty batch is not sent', async () => {
  const { connection, log } = opened({ more: { grouped: false } })
  expect(await connection.write(verb('a'))).toBe('a')
  expect(await connection.read(verb('b'))).toBe('b')
  expect(await connection.write({ statements: [], answer: rows => rows.length })).toBe(0)
  expect(log).toEqual(['migrate', 'write a', 'read b'])
})

test('the database is set up once, before the first call', async () => {
  const order: string[] = []
  const { connection, log } = opened({ more: { setUp: async () => void order.push(`after ${log.length}`) } })
  await connection.write(verb('a'))
  await connection.read(verb('b'))
  expect(order).toEqual(['after 0'])
})

test('a call without a response in time fails, and the error says that it may have been applied', async () => {
  const { connection } = opened({ timeoutMs: 20, more: { grouped: false, setUp: () => new Promise(() => {}) } })
  await expect(connection.read(verb('a'))).rejects.toThrow('testStorage: no answer within 20 ms; the change may have been made')
})

test('a database without its version has lost its tables', async () => {
  const { connection } = opened({ more: { batch: async statements => (statements.length === 1 ? [[]] : migrated) } })
  await expect(connection.ping()).rejects.toThrow('the database has lost its tables')
  await expect(opened({ more: { batch: async () => [...migrated].reverse() } }).connection.ping()).resolves.toBeUndefined()
})

test('closing waits for running calls, and refuses later ones', async () => {
  const { connection, log } = opened()
  const under = connection.write(verb('a'))
  await Promise.all([under, connection.close()])
  expect(log).toEqual(['migrate', 'write a', 'close'])
  await expect(connection.write(verb('b'))).rejects.toThrow('testStorage: the storage is closed')
  await expect(connection.read(verb('b'))).rejects.toThrow('the storage is closed')
})

test('rows sent as lists are returned with their column names', () => {
  expect(
    namedRows(
      ['a', 'b'],
      [
        [1, 2],
        [3, 4],
      ],
    ),
  ).toEqual([
    { a: 1, b: 2 },
    { a: 3, b: 4 },
  ])
})
