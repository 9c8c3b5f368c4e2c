import { availableParallelism, loadavg } from 'node:os'
import type { BuiltInDialect } from '@signalbox/dialects'
import { nodeTransport, serve } from '@signalbox/node-http'
import type { UsageRow } from '@signalbox/storage'
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import { defaultText } from '../src/answers/answer.ts'
import { type Expected, expectedOf, type Fault, type Mode } from '../src/chaos/expect.ts'
import { faults } from '../src/chaos/faults.ts'
import { type ChaosProvider, chaosProvider } from '../src/chaos-provider.ts'
import { type TestGateway, testGateway } from '../src/gateway.ts'
import { type Answer, type Client, type End, responsesCaller } from './callers.ts'

/** Most of a fault is waiting. */
const atOnce = 16
vi.setConfig({ maxConcurrency: atOnce })

/** Waits are wall-clock time, of which a busy machine gives each process less: they grow with its load. */
const stretch = Math.min(6, Math.max(1, (loadavg()[0] ?? 0) / availableParallelism()))
const stretched = (milliseconds: number): number => Math.round(stretch * milliseconds)

/** Faults that last until the gateway gives up are given this long, and longer if a second provider responds after them. All others have time. */
export const hangingMs = stretched(700)
const hangingMsOf = ({ fallback }: Setting): number => (fallback ? 2 * hangingMs : hangingMs)
const patient = { firstByteMs: stretched(20_000), wholeMs: stretched(20_000), idleMs: stretched(10_000), deadlineMs: stretched(25_000) }
/** Milliseconds for what only has to happen in the end. */
const settledMs = stretched(5_000)
export const impatient = { ...patient, idleMs: hangingMs }
/** A late answer comes after every limit, also those of a second try. */
const pace = { dripMs: 200, pingMs: 20, lateMs: stretched(4_000), beatMs: 25 }

export interface Setting {
  readonly dialect: BuiltInDialect
  /** A second provider is configured behind the faulty one. */
  readonly fallback: boolean
  readonly mode: Mode
  readonly caller: Client
}

export interface Testbed extends Setting {
  readonly broken: ChaosProvider
  readonly sound: ChaosProvider
  readonly test: TestGateway
  readonly url: string
  close(): Promise<void>
}

export async function build(setting: Setting, timeouts = patient): Promise<Testbed> {
  const [broken, sound] = await Promise.all([chaosProvider({ pace }), chaosProvider({ pace })])
  const test = await testGateway({
    servers: setting.fallback ? [broken, sound] : [broken],
    dialect: setting.dialect,
    timeouts,
    transport: nodeTransport(),
    // Some answers are megabytes long.
    limits: { inferenceRpm: 100_000, concurrentRequests: 1_000, maxOutputTokens: 1_000_000 },
  })
  // Where a busy machine takes long to read megabytes, their status is still awaited: opening such a stream early has tests of its own.
  const server = await serve(test.gateway, { port: 0, firstContentWaitMs: patient.deadlineMs })
  return {
    ...setting,
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

/** The limits in time that the caller of a fault sets. */
function limitsOf(testbed: Testbed, { hangs, deadlineMs }: Fault, patience: number): object {
  const limits = {
    ...(hangs && { timeout_ms: patience * hangingMsOf(testbed) }),
    ...(deadlineMs !== undefined && { deadline_ms: patience * stretched(deadlineMs) }),
  }
  return hangs || deadlineMs !== undefined ? { gateway: { routing: limits } } : {}
}

export async function ask(testbed: Testbed, fault: Fault, patience = 1): Promise<Answer> {
  const { url, test, mode, caller } = testbed
  const body = {
    model: `fault:${fault.name}`,
    ...caller.body,
    stream: mode === 'stream',
    ...fault.asks,
    ...limitsOf(testbed, fault, patience),
  }
  if (caller.ask) return caller.ask(url, test.secret, body)
  const response = await fetch(`${url}${caller.path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${test.secret}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

export async function rowOf({ test: { storage, caller } }: Pick<Testbed, 'test'>, answer: Answer): Promise<UsageRow> {
  const row = await storage.usage.find(caller.workspaceId, answer.headers.get('x-request-id') ?? '')
  if (!row) throw new Error(`The request left no usage record: ${answer.text.slice(0, 200)}`)
  return row
}

const usageKinds: Readonly<Record<Expected['usage'], (row: UsageRow) => boolean>> = {
  UR: row => !row.estimated && row.cost > 0,
  UE: row => row.estimated && row.cost > 0,
  U0: row => row.cost === 0 && row.outputTokens === 0,
  'UR or UE': row => row.cost > 0,
}

export function checkAsWritten(end: End, row: UsageRow, expected: Expected): void {
  const { status, error } = end
  expect(expected.status).toContain(status)
  if (error && expected.code && expected.code.length > 0) expect(expected.code).toContain(error.code)
  if (status === 200) checkEnd(end, row, expected)
  if (expected.retryAfter) {
    expect(end.retryAfter).toBeGreaterThanOrEqual(expected.retryAfter[0])
    expect(end.retryAfter).toBeLessThanOrEqual(expected.retryAfter[1])
  }
  // Refusing and reading are both right for some; the bill then follows from which it was.
  const usage = status === 200 ? expected.usage : 'U0'
  expect({ row, fits: usageKinds[usage](row) }).toMatchObject({ fits: true, row: expected.billed ?? {} })
}

const aboutItsBill: ReadonlySet<string> = new Set(['usage_estimated', 'usage_clamped', 'unpriced_tool'])

function checkEnd(end: End, row: UsageRow, expected: Expected): void {
  expect(end.ends).toBe(expected.ends ?? 'completed')
  expect(end.reason).toBe(expected.reason)
  if (expected.exact) expect(end.text).toBe(defaultText)
  if (expected.output && end.output) expect(end.output).toMatchObject(expected.output)
  if (expected.ends === 'failed') expect(end.error).toMatchObject({ provider: 'server-1' })
  const wanted = expected.warnings ?? []
  // Unless the fault expects otherwise, a response may warn that its counts are estimated or cut, or that a tool has no price.
  const isTold = (code: string): boolean => !aboutItsBill.has(code) || wanted.includes(code)
  expect(end.warnings.filter(isTold)).toEqual(wanted)
  if (end.warnings.includes('usage_estimated')) expect(row.estimated).toBe(true)
}

function checkFallenBack(end: End, row: UsageRow): void {
  expect(end).toMatchObject({ status: 200, ends: 'completed', text: defaultText })
  expect(end.routing).toMatchObject({ provider: 'server-2', provider_model_id: 'test-model' })
  expect(row).toMatchObject({ provider: 'server-2', result: 'ok', estimated: false })
  expect(row.attempts).toBeGreaterThanOrEqual(2)
}

/** Time for faults without waits on a busy machine. */
const busyMs = 2_000

/** A timing-dependent fault is retried with longer waits on a busy machine. A real failure fails again. */
async function meetInTime(testbed: Testbed, fault: Fault): Promise<void> {
  const startedAt = performance.now()
  try {
    await meet(testbed, fault)
  } catch (error) {
    // Of the others, one that took seconds may have met a limit of time that the gateway learned on a quieter machine.
    const isClocked = fault.hangs || fault.heavy || fault.deadlineMs !== undefined
    if (!isClocked && performance.now() - startedAt < busyMs) throw error
    await meet(testbed, fault, 2)
  }
}

/** One fault met by one caller, and all that must hold of its answer. */
async function meet(testbed: Testbed, fault: Fault, patience = 1): Promise<void> {
  const { dialect, mode, fallback, caller } = testbed
  const expected = expectedOf(fault, dialect, mode)
  if (!expected) throw new Error(`The fault ${fault.name} does not say what is expected of ${mode}.`)
  const answer = await ask(testbed, fault, patience)
  const row = await rowOf(testbed, answer)
  const end = caller.read(answer)
  if (fallback && expected.fallback === true) checkFallenBack(end, row)
  else if (!fallback || expected.fallback === false) checkAsWritten(end, row, expected)
  else expect([200, ...expected.status]).toContain(end.status)
}

/** No hold, slot, unfinished response, leaked connection or unexpected request remains. */
export async function checkAtRest({ test: { gateway, storage, caller }, broken, sound }: Testbed): Promise<void> {
  for (const server of [broken, sound]) {
    await server.until('all responses to be finished', ({ unfinished }) => unfinished() === 0, settledMs)
    // Those that can serve again are kept; one that is neither kept nor closed would be one more with every fault.
    await server.until('no more connections than requests at once', ({ connections }) => connections() <= atOnce, settledMs)
  }
  const { workspaceId, keyId } = caller
  const { balance, held } = await gateway.workspaces(workspaceId).billing.balance()
  const entries = await storage.ledger.entries(`credit:${workspaceId}`, { limit: 10_000 })
  const sum = entries.reduce((total, { amount }) => total + amount, 0)
  const free = await storage.counters.enter({ key: `${workspaceId}/slots:${keyId}`, slot: 'probe', limit: 1, ttlMs: 1 }, Date.now())
  expect({ held, sum, free }).toEqual({ held: 0, sum: balance, free: true })
  expect([...broken.unexpectedRequests, ...sound.unexpectedRequests]).toEqual([])
}

const allModes: readonly Mode[] = ['whole', 'stream']

interface Manner {
  /** Default: whole and streamed. */
  readonly modes?: readonly Mode[]
  readonly timeouts?: typeof patient
  /** Default: one of the responses API. */
  readonly caller?: Client
  /** Whether a second provider is configured behind the faulty one. Default: both ways. */
  readonly fallbacks?: readonly boolean[]
}

const isSent = ({ needs, hangs, asks, deadlineMs }: Fault): boolean =>
  needs === undefined && !hangs && asks === undefined && deadlineMs === undefined

/** The faults, each of which is the first with its key. */
function firstOfEach(keysOf: (fault: Fault) => readonly string[]): ReadonlySet<Fault> {
  const seen = new Set<string>()
  return new Set(
    faults.filter(isSent).filter(fault => {
      const keys = keysOf(fault).filter(key => !seen.has(key))
      for (const key of keys) seen.add(key)
      return keys.length > 0
    }),
  )
}

/** The first of each row without waits or preconditions. */
export const firstOfEachRow = firstOfEach(({ row }) => [`${row}`])

/** The first with each end of a response, without those that are megabytes long. What clients of other APIs receive depends on the end alone. */
export const firstOfEachEnd = firstOfEach(fault =>
  isSlow(fault)
    ? []
    : Object.values(fault.expect).map(({ status, code, ends, reason, warnings, fallback }) =>
        JSON.stringify([status, code, ends, reason, warnings, fallback]),
      ),
)

/** Whether it keeps the processor busy for long. */
function isSlow({ heavy, large }: Fault): boolean {
  return heavy === true || large === true
}

/** Where a fault is met: the long run meets each in all settings, the default run in one, another one for each fault after it. */
function settingsOf(fault: Fault, settings: readonly Setting[]): readonly Setting[] {
  const possible = settings.filter(setting => isPossible(fault, setting) && (!fault.heavy || canBeMadeGood(fault, setting)))
  return inject('isLongRun') ? possible : possible.filter((_, place) => place === faults.indexOf(fault) % possible.length)
}

/** Where nothing falls back, heavy faults are met with one provider only. */
const canBeMadeGood = (fault: Fault, { dialect, mode, fallback }: Setting): boolean =>
  !fallback || expectedOf(fault, dialect, mode)?.fallback === true

const isPossible = (fault: Fault, { dialect, mode }: Setting): boolean => fault.dialects.includes(dialect) && fault.applies.includes(mode)

/** Declares the faults that `wanted` selects, in these provider dialects, whole and streamed, with and without a second provider. */
export function describeCatalogue(dialects: readonly BuiltInDialect[], wanted: (fault: Fault) => boolean, manner: Manner = {}): void {
  const { timeouts = patient, caller = responsesCaller, modes = allModes, fallbacks = [false, true] } = manner
  const settings = dialects.flatMap(dialect =>
    fallbacks.flatMap(fallback => modes.map((mode): Setting => ({ dialect, fallback, mode, caller }))),
  )
  const named = settings.map(setting => ({ ...setting, name: setting.caller.name ?? setting.caller.path }))
  const met = faults.filter(wanted).map(fault => ({ fault, where: new Set(settingsOf(fault, named)) }))
  const casesOf = (setting: Setting, isAlone: boolean): readonly FaultCase[] =>
    met
      .filter(({ fault, where }) => where.has(setting) && isSlow(fault) === isAlone)
      .map(({ fault }) => ({ row: fault.row, name: fault.name, fault }))
  const title = '$name, a provider speaking $dialect, another behind it: $fallback, $mode'
  describe.concurrent.each(named.filter(setting => casesOf(setting, false).length > 0))(title, setting => {
    const testbed = testbedFor(setting, timeouts)
    test.concurrent.for(casesOf(setting, false))('row $row, $name', { timeout: stretched(90_000) }, ({ fault }) =>
      meetInTime(testbed(), fault),
    )
  })
  // What takes the processor for long is met alone: beside others of its kind each would wait for all of them.
  describe.each(named.filter(setting => casesOf(setting, true).length > 0))(`${title}, alone`, setting => {
    const testbed = testbedFor(setting, timeouts)
    test.for(casesOf(setting, true))('row $row, $name', { timeout: stretched(90_000) }, ({ fault }) => meetInTime(testbed(), fault))
  })
}

interface FaultCase {
  readonly row: number
  readonly name: string
  readonly fault: Fault
}

/** One for each setting: what a fault taught the gateway about a provider must not change the next answer. */
function testbedFor(setting: Setting, timeouts: typeof patient): () => Testbed {
  let testbed: Testbed
  beforeAll(async () => {
    testbed = await build(setting, timeouts)
  })
  afterAll(async () => {
    try {
      await checkAtRest(testbed)
    } finally {
      await testbed.close()
    }
  })
  return () => testbed
}
