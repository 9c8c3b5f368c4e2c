import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { drive, world } from '../../test/journeys.ts'
import { traceWithEveryField } from '../../test/trace-with-every-field.ts'
import { createRouter } from '../router.ts'
import { counterfactualsOf } from './counterfactuals.ts'
import { evidenceOf } from './evidence.ts'
import type { DecisionRecord, Trace } from './records.ts'
import { replay } from './replay.ts'
import { checkTrace, decodeTrace, encodeTrace } from './trace.ts'

const some = (input = 1_000_000): Trace => {
  const price = { input, output: 3_000_000 }
  const router = createRouter({
    offers: [
      { id: 'a', price },
      { id: 'ü', price },
    ],
    clock: { now: () => 0 },
    decisionLog: {},
  })
  for (const inputTokens of [10, 2_000]) {
    const plan = router.plan({ inputTokens })
    for (let choice = plan.next(); choice; choice = plan.next()) router.failAttempt(router.startAttempt(choice), { kind: 'error' })
  }
  return router.trace()
}

test('a trace is restored unchanged from text and from bytes', () => {
  fc.assert(
    fc.property(world(20), each => {
      const { trace } = drive(each, { keep: 20 })
      const text = encodeTrace(trace)
      expect(decodeTrace(text)).toEqual(trace)
      expect(decodeTrace(new TextEncoder().encode(text))).toEqual(trace)
    }),
    { numRuns: 60 },
  )
})

test('the format is stable: a trace with every field and name is written as the same text as before, and can be read', () => {
  const text = encodeTrace(traceWithEveryField)
  expect(decodeTrace(text)).toEqual(traceWithEveryField)
  expect(createHash('sha256').update(text).digest('hex')).toBe('8354e8f70c1ffa83ff80df87d89e3da2af4e42ac7019cc8e2b19ae29d209d87a')
})

test('an offer with a changed price is a separate offer with the same id', () => {
  const trace = { ...some(), decisions: [...some().decisions, ...some(9).decisions, ...some().decisions] }
  expect(decodeTrace(encodeTrace(trace))).toEqual(trace)
})

test('a truncated trace is refused, wherever it is cut', () => {
  const text = encodeTrace(some())
  for (let length = 0; length < text.length; length += 7) {
    expect(() => decodeTrace(text.slice(0, length))).toThrow('This is not a trace: it is not JSON.')
  }
})

const refused =
  /^(This is not a trace: it is not JSON|This trace has version .*; this version reads version 2|`trace[\w.[\]]*` takes .*)\.$/s

test('bytes, texts and JSON of other kinds are refused', () => {
  const from = fc.oneof(
    fc.uint8Array(),
    fc.string(),
    fc.json(),
    fc.object().map(each => JSON.stringify({ version: 2, ...each })),
  )
  fc.assert(
    fc.property(from, each => {
      expect(() => decodeTrace(each)).toThrow(TypeError)
      expect(() => decodeTrace(each)).toThrow(refused)
    }),
  )
})

/** Paths to every value in a trace. */
const pathsIn = (value: unknown): readonly (readonly string[])[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, its]) => [[name], ...pathsIn(its).map(path => [name, ...path])])
    : []

function forged(value: unknown, [name = '', ...rest]: readonly string[], put: unknown): unknown {
  const copy = Object.assign(Array.isArray(value) ? [] : {}, value) as Record<string, unknown>
  if (rest.length > 0) copy[name] = forged(copy[name], rest, put)
  else if (put === undefined) delete copy[name]
  else copy[name] = put
  return copy
}

const everyPath = pathsIn(traceWithEveryField)
const hostile = fc.constantFrom<unknown>(
  undefined,
  null,
  -1,
  0,
  0.5,
  1e308,
  '',
  'x',
  'constructor',
  '__proto__',
  true,
  [],
  {},
  [null],
  { length: 1e9 },
  2 ** 53,
)

test('a trace with forged values is either replayed or refused with the name of the field, without side effects', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom(...everyPath), hostile), { minLength: 1, maxLength: 3 }), changes => {
      const made = changes.reduce<unknown>(
        (trace, [path, put]) => (hasPath(trace, path) ? forged(trace, path, put) : trace),
        traceWithEveryField,
      )
      let trace: Trace
      try {
        trace = decodeTrace(JSON.stringify(made))
      } catch (error) {
        expect(error).toBeInstanceOf(TypeError)
        expect((error as Error).message).toMatch(refused)
        return
      }
      expect(replay(trace, 'cost').decisions).toHaveLength(trace.decisions.length)
      expect(JSON.stringify(evidenceOf(trace))).toContain('decisions')
      for (const decision of trace.decisions) expect(counterfactualsOf(decision).cheapest.offer).toBeDefined()
    }),
    { numRuns: 1_000 },
  )
})

const hasPath = (value: unknown, [name, ...rest]: readonly string[]): boolean =>
  name === undefined ||
  (typeof value === 'object' && value !== null && Object.hasOwn(value, name) && hasPath((value as Record<string, unknown>)[name], rest))

test('numbers too large for JSON, names of built-in fields and deep nesting are refused', () => {
  const text = encodeTrace(some())
  expect(() => decodeTrace(text.replace('"waitMs":0', '"waitMs":1e999'))).toThrow('`trace.decisions[0].waitMs` takes a finite number')
  expect(() => decodeTrace('{"__proto__":{"version":2,"seed":1,"dropped":0,"decisions":[]}}')).toThrow('This trace has version undefined')
  expect(() => decodeTrace(`{"version":2,"decisions":${'['.repeat(200_000)}${']'.repeat(200_000)}}`)).toThrow(TypeError)
})

test('the check ends at the first invalid field and reads each field once, so it takes linear time', () => {
  const [full] = traceWithEveryField.decisions
  const readsOf = (decisions: number, candidates: number): number => {
    let reads = 0
    const counted = <Value extends object>(value: Value): Value =>
      new Proxy(value, {
        get(target, name, receiver) {
          reads += 1
          const its: unknown = Reflect.get(target, name, receiver)
          return typeof its === 'object' && its !== null ? counted(its) : its
        },
      })
    const wide = { ...full, candidates: Array.from({ length: candidates }, () => full?.candidates[0]), chosen: 1 } as DecisionRecord
    checkTrace(counted({ ...traceWithEveryField, decisions: Array.from({ length: decisions }, () => wide) }))
    return reads
  }
  expect(readsOf(200, 10)).toBeLessThan(20.5 * readsOf(10, 10))
  expect(readsOf(10, 200)).toBeLessThan(20.5 * readsOf(10, 10))
})

test('a trace of another version is refused with its number', () => {
  expect(() => decodeTrace(JSON.stringify({ ...some(), version: 9 }))).toThrow('This trace has version 9; this version reads version 2.')
  expect(() => replay({ ...some(), version: 1 } as unknown as Trace)).toThrow('This trace has version 1; this version reads version 2.')
})

test.each<[string, (trace: Trace) => unknown, string]>([
  ['null', () => null, '`trace` takes an object'],
  ['a list', () => [], '`trace` takes an object'],
  ['decisions that are none', trace => ({ ...trace, decisions: 1 }), '`trace.decisions` takes a list'],
  [
    'a choice beyond the candidates',
    trace => changed(trace, { chosen: 2 }),
    '`trace.decisions[0].chosen` takes an index of its 2 candidates',
  ],
  ['no candidates', trace => changed(trace, { candidates: [] }), '`trace.decisions[0].chosen`'],
  [
    'an unknown reason',
    trace => changed(trace, { reason: 'whim' }),
    '`trace.decisions[0].reason` takes one of best, exploration, fallback, last_resort',
  ],
  ['a number that JSON lost', trace => changed(trace, { waitMs: null }), '`trace.decisions[0].waitMs` takes a finite number'],
  ['no weights', trace => changed(trace, { prices: undefined }), '`trace.decisions[0].prices` takes the weights of its strategy'],
  ['a choice before the candidates', trace => changed(trace, { chosen: -1 }), '`trace.decisions[0].chosen` takes a whole number'],
  ['a choice between two candidates', trace => changed(trace, { chosen: 0.5 }), '`trace.decisions[0].chosen` takes a whole number'],
  [
    'an exploration beyond the candidates',
    trace => changed(trace, { exploration: explorationAt(trace, 2) }),
    '`trace.decisions[0].exploration.at` takes an index',
  ],
  [
    'a probe of another than was explored',
    trace => changed(trace, { reason: 'exploration', exploration: explorationAt(trace, 1) }),
    '`trace.decisions[0].exploration.at` takes the candidate that was chosen as an exploration',
  ],
  ['an attempt before the first', trace => changed(trace, { attempt: -1 }), '`trace.decisions[0].attempt` takes a whole number, 0 or more'],
  ['too many omitted', trace => changed(trace, { omitted: 2 ** 53 }), '`trace.decisions[0].omitted` takes a whole number'],
  ['a request that is null', trace => changed(trace, { request: null }), '`trace.decisions[0].request` takes an object'],
  [
    'a flag that is none',
    trace => changed(trace, { request: { ...trace.decisions[0]?.request, stream: 1 } }),
    '`trace.decisions[0].request.stream` takes a boolean',
  ],
  ['a score that is a text', trace => changed(trace, { score: '1' }), '`trace.decisions[0].score` takes a finite number'],
  [
    'a probe without an exploration',
    trace => changed(trace, { reason: 'exploration', exploration: undefined }),
    '`trace.decisions[0].exploration.at`',
  ],
])('%s is refused with the name of the invalid field', (_, spoil, message) => {
  const spoiled = spoil(some()) as Trace
  expect(() => replay(spoiled)).toThrow(message)
  expect(() => encodeTrace(spoiled)).toThrow(message)
})

const explorationAt = (trace: Trace, at: number) => ({ at, estimate: trace.decisions[0]?.candidates[0]?.estimate, score: 1 })

const changed = (trace: Trace, changes: object): unknown => ({
  ...trace,
  decisions: trace.decisions.map((decision, at) => (at === 0 ? { ...decision, ...changes } : decision)),
})

test('the largest whole numbers are valid', () => {
  const [first] = some().decisions
  if (!first) throw new Error('There is a decision.')
  const large: Trace = {
    ...some(),
    dropped: Number.MAX_SAFE_INTEGER,
    decisions: [{ ...first, attempt: Number.MAX_SAFE_INTEGER, omitted: Number.MAX_SAFE_INTEGER, chosen: 1 }],
  }
  expect(decodeTrace(encodeTrace(large))).toEqual(large)
})
