import { type Api, createApi } from '@signalbox/api'
import { memoryStorage } from '@signalbox/storage-memory'
import { expect, test } from 'vitest'
import { fakeClock } from '../../src/fake-clock.ts'
import { testGateway } from '../../src/gateway.ts'

interface Line {
  readonly level: string
  readonly facts: Readonly<Record<string, unknown>>
  readonly message: string
}

interface Testbed {
  readonly api: Api
  readonly secret: string
  readonly lines: Line[]
  readonly clock: ReturnType<typeof fakeClock>
  /** Set: what every count of a rate rejects with. */
  readonly counting: { error: unknown }
}

async function testbed(): Promise<Testbed> {
  const lines: Line[] = []
  const log = (level: string) => (facts: Line['facts'], message: string) => void lines.push({ level, facts, message })
  const counting: Testbed['counting'] = { error: undefined }
  const storage = memoryStorage()
  const { counters } = storage
  const clock = fakeClock()
  const { gateway, secret } = await testGateway({
    clock,
    logger: { info: log('info'), warn: log('warn'), error: log('error') },
    storage: {
      ...storage,
      counters: {
        ...counters,
        take: (...given: Parameters<typeof counters.take>) =>
          counting.error === undefined ? counters.take(...given) : Promise.reject(counting.error),
      },
    },
  })
  lines.length = 0
  return { api: createApi(gateway), secret, lines, clock, counting }
}

async function list({ api, secret }: Testbed): Promise<{ readonly status: number; readonly code: string; readonly text: string }> {
  const { status, body } = await api({
    method: 'GET',
    path: '/v1/models',
    query: '',
    header: name => (name === 'authorization' ? `Bearer ${secret}` : undefined),
    text: async () => ({ ok: true, text: '' }),
    signal: new AbortController().signal,
  })
  const text = String(body)
  return { status, code: JSON.parse(text).error?.code, text }
}

test('an outage of the store is logged with its cause, at most once a second', async () => {
  const here = await testbed()
  here.counting.error = new Error('SQLITE_BUSY: database is locked')
  for (let at = 0; at < 50; at += 1) expect(await list(here)).toMatchObject({ status: 503, code: 'service_unavailable' })
  const told = (): Line[] => here.lines.filter(({ level }) => level === 'warn')
  expect(told()).toHaveLength(1)
  expect(told()[0]?.message).toContain('storage')
  expect(told()[0]?.facts.cause).toContain('SQLITE_BUSY: database is locked')
  await here.clock.advance(1_000)
  await list(here)
  expect(told()).toHaveLength(2)
})

test.each([
  new RangeError('counters.take: `amount` must be a whole number, got NaN.'),
  new TypeError("Cannot read properties of undefined (reading 'x')"),
  Object.assign(new Error('x is not defined'), { name: 'ReferenceError' }),
])('an internal error in a call of the store is a logged 500, and no outage: %s', async error => {
  const here = await testbed()
  here.counting.error = error
  const answer = await list(here)
  expect(answer).toMatchObject({ status: 500, code: 'internal_error' })
  expect(answer.text).not.toContain(error.message)
  expect(here.lines.map(({ level }) => level)).toEqual(['error'])
  expect(here.lines[0]?.facts.error).toContain(error.message)
})

test.each([
  new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') }),
  new TypeError('Failed to fetch'),
  new TypeError('NetworkError when attempting to fetch resource.'),
  'a text',
  undefined,
])('a lost connection to the store is an outage: %s', async error => {
  const here = await testbed()
  here.counting.error = error ?? null
  expect(await list(here)).toMatchObject({ status: 503, code: 'service_unavailable' })
})
