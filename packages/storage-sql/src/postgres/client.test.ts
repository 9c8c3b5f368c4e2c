import { expect, test } from 'vitest'
import { errorMessage, NotSentError, type PostgresPoolClient, poolClient, singleClient, sqlStateOf } from './client.ts'

/** A pool of one connection, and a log of what is done with it. */
function pooled(answer: (text: string) => unknown, { timeoutMs = 1_000, owned = true, fails = false } = {}) {
  const log: string[] = []
  const connection: PostgresPoolClient = {
    query: async ({ text }) => {
      log.push(text)
      return (await answer(text)) as { readonly rows: readonly [] }
    },
    release: destroy => void log.push(destroy ? 'destroy' : 'release'),
    on: () => void log.push('listen'),
  }
  const pool = {
    connect: async () => {
      if (fails) throw new Error('no server')
      return connection
    },
    end: async () => void log.push('end'),
  }
  return { client: poolClient(async () => pool, { timeoutMs, owned }), log }
}

const failing = (error: object) => () => Promise.reject(Object.assign(new Error('failed'), error))
const select = { text: 'SELECT', values: [] }

test('a connection is reused after a response, and after an error returned by the server', async () => {
  const good = pooled(() => ({ rows: [{ a: 1 }] }))
  expect(await good.client.run(select)).toEqual([{ a: 1 }])
  await good.client.run(select)
  expect(good.log).toEqual(['listen', 'SELECT', 'release', 'SELECT', 'release'])
  const refused = pooled(failing({ code: '23505', severity: 'ERROR' }))
  await expect(refused.client.run(select)).rejects.toThrow('failed')
  expect(refused.log).toEqual(['listen', 'SELECT', 'release'])
})

test.each([
  ['the server ends it', { code: '57P01', severity: 'FATAL' }],
  ['the server only reads', { code: '25006', severity: 'ERROR' }],
  ['it is lost', { code: 'ECONNRESET' }],
  ['nothing is known of the error', {}],
])('a connection is closed if %s', async (_, error) => {
  const { client, log } = pooled(failing(error))
  await expect(client.run(select)).rejects.toThrow('failed')
  expect(log).toEqual(['listen', 'SELECT', 'destroy'])
})

test('a statement that is too slow or aborted fails with its time limit, and its connection is closed', async () => {
  const slow = pooled(() => new Promise(() => {}), { timeoutMs: 30 })
  const error = (await slow.client.run(select).catch(each => each)) as Error
  const [, waited] = /^no answer within (\d+) ms$/.exec(error.message) ?? []
  expect(Number(waited)).toBeGreaterThanOrEqual(29)
  expect(Number(waited)).toBeLessThan(60_000)
  expect(slow.log).toEqual(['listen', 'SELECT', 'destroy'])
  const left = pooled(() => new Promise(() => {}))
  const abort = new AbortController()
  const running = left.client.run(select, abort.signal)
  setTimeout(() => abort.abort(), 5)
  await expect(running).rejects.toThrow('given up')
  expect(left.log).toEqual(['listen', 'SELECT', 'destroy'])
})

test('a statement aborted before it has a connection is not sent, nor is one without a server', async () => {
  const { client, log } = pooled(() => ({ rows: [] }))
  await expect(client.run(select, AbortSignal.abort())).rejects.toThrow(NotSentError)
  expect(log).toEqual(['listen', 'release'])
  await expect(pooled(() => ({ rows: [] }), { fails: true }).client.run(select)).rejects.toThrow(new NotSentError('no server'))
})

test('a transaction is committed after its work and before its connection is reused', async () => {
  const { client, log } = pooled(async text => {
    await new Promise(resolve => setImmediate(resolve))
    return text === 'two' ? [{ rows: [] }, { rows: [] }] : { rows: [{ text }] }
  })
  const rows: unknown[] = []
  await client.transaction(async run => {
    rows.push(await run('one'), await run('two'))
  })
  expect(rows).toEqual([[{ text: 'one' }], []])
  expect(log).toEqual(['listen', 'BEGIN', 'one', 'two', 'COMMIT', 'release'])
})

test('a transaction whose work or commit fails is rolled back by closing its connection', async () => {
  for (const text of ['one', 'COMMIT']) {
    const { client, log } = pooled(asked => (asked === text ? Promise.reject(new Error('failed')) : { rows: [] }))
    await expect(client.transaction(async run => void (await run('one')))).rejects.toThrow('failed')
    expect(log.at(-1)).toBe('destroy')
    expect(log.includes('release')).toBe(false)
  }
})

test('a pool is ended only by the storage that created it', async () => {
  const own = pooled(() => ({ rows: [] }))
  await own.client.close()
  const given = pooled(() => ({ rows: [] }), { owned: false })
  await given.client.close()
  expect([own.log, given.log]).toEqual([['end'], []])
})

test('one connection runs one statement at a time, and continues after one that failed', async () => {
  const log: string[] = []
  let running = 0
  const once = async <T>(text: string, answer: T): Promise<T> => {
    running += 1
    log.push(running > 1 ? 'two at once' : text)
    await new Promise(resolve => setImmediate(resolve))
    running -= 1
    if (text === 'bad') throw new Error('failed')
    return answer
  }
  const client = singleClient(
    {
      query: (text, values) => once(text, { rows: [{ text, values }] }),
      exec: text => once(text, [{ rows: [{ first: text }] }, { rows: [{ last: text }] }]),
    },
    { timeoutMs: 1_000 },
  )
  const rows: unknown[] = []
  const results = await Promise.allSettled([
    client.run({ text: 'a', values: [1] }),
    client.run({ text: 'bad', values: [] }),
    client.transaction(async run => void rows.push(await run('b'))),
    client.transaction(async () => {
      throw new Error('work')
    }),
    client.run({ text: 'c', values: [] }),
  ])
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled'])
  expect(results[0]).toEqual({ status: 'fulfilled', value: [{ text: 'a', values: [1] }] })
  expect(rows).toEqual([[{ last: 'b' }]])
  expect(log).toEqual(['a', 'bad', 'BEGIN', 'b', 'COMMIT', 'BEGIN', 'ROLLBACK', 'c'])
})

test('an SQLSTATE has five characters, and a system error code is not one', () => {
  const states = ['23505', '40P01', 'ECONN', 'EPIPE', '2350', '235055', '4000a', 7, undefined].map(code => sqlStateOf({ code }))
  expect(states).toEqual(['23505', '40P01', undefined, undefined, undefined, undefined, undefined, undefined, undefined])
  expect([sqlStateOf(undefined), sqlStateOf(null)]).toEqual([undefined, undefined])
})

test('an error without a message is described by its code', () => {
  expect([new Error('why'), Object.assign(new Error(''), { code: 'ECONNREFUSED' }), 'text', undefined].map(errorMessage)).toEqual([
    'why',
    'ECONNREFUSED',
    'text',
    'undefined',
  ])
})
