import { isObject, type JsonObject } from '@signalbox/core/protocol'
import { nodeTransport, serve } from '@signalbox/node-http'
import type { UsageRow } from '@signalbox/storage'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestGateway, testGateway } from '../src/gateway.ts'
import {
  addressFaults,
  type ChaosProvider,
  chaosProvider,
  type Expected,
  type Fault,
  faults,
  leakedSecret,
  type Mode,
} from '../src/index.ts'
import { defaultText } from '../src/speech/speech.ts'
import type { SpokenDialect } from '../src/speech/tongues.ts'
import { readEvents, terminals } from './read-events.ts'

/** Faults that last until the gateway gives up are given this long; all others have time, however busy the machine is. */
const hangingMs = 700
const timeouts = { firstByteMs: 20_000, wholeMs: 20_000, idleMs: 4_000, deadlineMs: 25_000 }
const pace = { dripMs: 200, pingMs: 20, lateMs: 2_500, beatMs: 25 }

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

interface House {
  readonly broken: ChaosProvider
  readonly sound: ChaosProvider
  readonly test: TestGateway
  readonly url: string
  close(): Promise<void>
}

async function build(dialect: SpokenDialect, fallback: boolean): Promise<House> {
  const [broken, sound] = await Promise.all([chaosProvider({ pace }), chaosProvider({ pace })])
  const test = await testGateway({
    servers: fallback ? [broken, sound] : [broken],
    dialect,
    timeouts,
    transport: nodeTransport(),
    limits: { inferenceRpm: 100_000, concurrentRequests: 1_000 },
  })
  const server = await serve(test.gateway, { port: 0 })
  return {
    broken,
    sound,
    test,
    url: server.url,
    close: async () => {
      await server.close()
      await test.close()
      await Promise.all([broken.close(), sound.close()])
    },
  }
}

async function ask(house: House, fault: Fault, mode: Mode): Promise<Answer> {
  const response = await fetch(`${house.url}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${house.test.secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: `fault:${fault.name}`,
      input: 'Tell me about signals.',
      stream: mode === 'stream',
      ...(fault.hangs && { gateway: { routing: { timeout_ms: hangingMs } } }),
    }),
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** What the answer says in the end, whole or streamed; every promise about form is checked on the way. */
function endOf({ status, headers, text }: Answer): JsonObject {
  expect(text).not.toContain(leakedSecret)
  expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  expect(headers.get('set-cookie')).toBeNull()
  if (!headers.get('content-type')?.startsWith('text/event-stream')) return JSON.parse(text) as JsonObject
  expect(status).toBe(200)
  const { events } = readEvents(text)
  expect(events.map(event => event.sequence_number)).toEqual(events.map((_, at) => at))
  expect(events.filter(({ type }) => terminals.includes(type))).toHaveLength(1)
  const last = events.at(-1)
  expect(terminals).toContain(last?.type)
  return isObject(last?.response) ? last.response : {}
}

const textOf = (response: JsonObject): string =>
  (Array.isArray(response.output) ? (response.output as readonly JsonObject[]) : [])
    .flatMap(item => (Array.isArray(item.content) ? (item.content as readonly JsonObject[]) : []))
    .map(part => (typeof part.text === 'string' ? part.text : ''))
    .join('')

async function rowOf(house: House, answer: Answer): Promise<UsageRow> {
  const id = answer.headers.get('x-request-id') ?? ''
  const row = await house.test.storage.usage.find(house.test.caller.workspaceId, id)
  if (!row) throw new Error('The request left no usage record.')
  return row
}

const usageKinds: Readonly<Record<Expected['usage'], (row: UsageRow) => boolean>> = {
  UR: row => !row.estimated && row.cost > 0,
  UE: row => row.estimated && row.cost > 0,
  U0: row => row.cost === 0 && row.outputTokens === 0,
  'UR or UE': row => row.cost > 0,
}

function checkAsWritten(answer: Answer, row: UsageRow, expected: Expected): void {
  expect(expected.status).toContain(answer.status)
  const end = endOf(answer)
  const error = isObject(end.error) ? end.error : undefined
  if (answer.status !== 200)
    expect(error).toMatchObject({ message: expect.any(String), type: expect.any(String), code: expect.any(String) })
  if (error && expected.code && expected.code.length > 0) expect(expected.code).toContain(error.code)
  if (answer.status === 200) {
    expect(end.status).toBe(expected.ends ?? 'completed')
    if (expected.exact) expect(textOf(end)).toBe(defaultText)
    if (expected.ends === 'failed') expect(error).toMatchObject({ provider: 'server-1' })
  }
  if (expected.retryAfter) {
    const wait = Number(answer.headers.get('retry-after'))
    expect(wait).toBeGreaterThanOrEqual(expected.retryAfter[0])
    expect(wait).toBeLessThanOrEqual(expected.retryAfter[1])
  }
  if (answer.status === 429) expect(answer.headers.get('x-rate-limit-source')).toBe('provider')
  // Refusing and reading are both right for some; the bill then follows from which it was.
  const usage = answer.status === 200 ? expected.usage : 'U0'
  expect({ row, fits: usageKinds[usage](row) }).toMatchObject({ fits: true })
}

function checkFallenBack(answer: Answer, row: UsageRow): void {
  expect(answer.status).toBe(200)
  const end = endOf(answer)
  expect(end.status).toBe('completed')
  expect(textOf(end)).toBe(defaultText)
  expect(end.routing_metadata).toMatchObject({ provider: 'server-2', provider_model_id: 'test-model' })
  expect(row).toMatchObject({ provider: 'server-2', result: 'ok', estimated: false })
  expect(row.attempts).toBeGreaterThanOrEqual(2)
}

/** Those that disturb other requests of the same connection are played in a house of their own. */
const sharedFaults = faults.filter(({ needs }) => needs === undefined)
const modes: readonly Mode[] = ['whole', 'stream']
const dialects: readonly SpokenDialect[] = ['responses', 'chat']

describe.each(dialects)('the fault catalogue, a provider speaking %s', dialect => {
  describe.each([false, true])('another provider behind it: %s', fallback => {
    // One house per mode: what a fault taught the gateway about a provider must not change the next answer.
    describe.each(modes)('%s', mode => {
      let house: House
      beforeAll(async () => {
        house = await build(dialect, fallback)
      })
      afterAll(async () => {
        const { workspaceId, keyId } = house.test.caller
        const { balance, held } = await house.test.gateway.billing.balance(workspaceId)
        const entries = await house.test.storage.ledger.entries(`credit:${workspaceId}`, { limit: 10_000 })
        const sum = entries.reduce((total, { amount }) => total + amount, 0)
        const free = await house.test.storage.counters.enter({ key: `slots:${keyId}`, slot: 'probe', limit: 1, ttlMs: 1 }, Date.now())
        await house.close()
        expect({ held, sum, free }).toEqual({ held: 0, sum: balance, free: true })
        expect([...house.broken.strayed, ...house.sound.strayed]).toEqual([])
      })

      const cases = sharedFaults
        .filter(fault => fault.dialects.includes(dialect))
        .filter(fault => fault.applies.includes(mode))
        .map(fault => ({ row: fault.row, name: fault.name, fault }))

      test.concurrent.for(cases)('row $row, $name', async ({ fault }) => {
        const expected = fault.expect[mode]
        if (!expected) throw new Error(`The fault ${fault.name} does not say what is expected of ${mode}.`)
        const answer = await ask(house, fault, mode)
        const row = await rowOf(house, answer)
        if (fallback && expected.fallback === true) checkFallenBack(answer, row)
        else if (!fallback || expected.fallback === false) checkAsWritten(answer, row, expected)
        else expect([200, ...expected.status]).toContain(answer.status)
      })
    })
  })
})

describe.each(dialects)('rows that ask for a connection of their own, a provider speaking %s', dialect => {
  const own = faults.filter(
    ({ needs, dialects }) => (needs === 'warm connection' || needs === 'own connection') && dialects.includes(dialect),
  )
  const cases = own.flatMap(fault => fault.applies.map(mode => ({ row: fault.row, name: fault.name, mode, fault })))

  test.for(cases)('row $row, $name, $mode: both requests get their own answer', async ({ fault, mode }) => {
    const house = await build(dialect, false)
    for (let request = 0; request < 3; request += 1) {
      const answer = await ask(house, fault, mode)
      const expected = fault.expect[mode]
      if (expected) checkAsWritten(answer, await rowOf(house, answer), expected)
      // Longer than the beat after which the provider misbehaves.
      await new Promise(resolve => setTimeout(resolve, 100))
    }
    await house.close()
  })
})

describe.each(dialects)('rows of addresses where nobody answers, for a provider speaking %s', dialect => {
  test.for(addressFaults.flatMap(fault => modes.map(mode => ({ row: fault.row, name: fault.name, mode, fault }))))(
    'row $row, $name, $mode',
    async ({ fault, mode }) => {
      const [deadEnd, sound] = await Promise.all([fault.open(), chaosProvider()])
      const routing = fault.hangs ? { timeout_ms: hangingMs } : {}
      for (const servers of [[deadEnd], [deadEnd, sound]]) {
        const house = await testGateway({ servers, dialect, timeouts, transport: nodeTransport() })
        const server = await serve(house.gateway, { port: 0 })
        const response = await fetch(`${server.url}/v1/responses`, {
          method: 'POST',
          headers: { authorization: `Bearer ${house.secret}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'test-model', input: 'Hello.', stream: mode === 'stream', gateway: { routing } }),
        })
        const answer = { status: response.status, headers: response.headers, text: await response.text() }
        const row = await house.storage.usage.find(house.caller.workspaceId, answer.headers.get('x-request-id') ?? '')
        if (!row) throw new Error('The request left no usage record.')
        const expected = fault.expect[mode]
        if (servers.length > 1) {
          expect(endOf(answer).routing_metadata).toMatchObject({ provider: 'server-2' })
          expect(row).toMatchObject({ provider: 'server-2', result: 'ok', attempts: 2 })
        } else if (expected) checkAsWritten(answer, row, expected)
        await server.close()
        await house.close()
      }
      await Promise.all([deadEnd.close(), sound.close()])
    },
  )
})
