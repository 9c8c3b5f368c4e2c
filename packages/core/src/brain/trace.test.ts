import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { drive, world } from '../../test/brain/journeys.ts'
import { traceWithEveryField } from '../../test/brain/trace-with-every-field.ts'
import type { Trace } from './record.ts'
import { replay } from './replay.ts'
import { createRouter } from './router.ts'
import { decodeTrace, encodeTrace, encodeTraceText } from './trace.ts'

const some = (input = 1_000_000): Trace => {
  const price = { input, output: 3_000_000 }
  const router = createRouter({
    offers: [
      { id: 'a', price },
      { id: 'ü', price },
    ],
    clock: { now: () => 0 },
    record: {},
  })
  for (const inputTokens of [10, 2_000]) {
    const plan = router.plan({ inputTokens })
    for (let choice = plan.next(); choice; choice = plan.next()) router.failed(router.started(choice), { kind: 'error' })
  }
  return router.trace()
}

test('a trace comes back from bytes, from text and from JSON as it was', () => {
  fc.assert(
    fc.property(world(20), each => {
      const { trace } = drive(each, { keep: 20 })
      expect(decodeTrace(encodeTrace(trace))).toEqual(trace)
      expect(decodeTrace(encodeTraceText(trace))).toEqual(trace)
      expect(JSON.parse(JSON.stringify(trace))).toEqual(trace)
    }),
    { numRuns: 60 },
  )
})

test('the format is settled: a trace with every field and code is written as the same bytes as ever, and reads back', () => {
  const text = encodeTraceText(traceWithEveryField)
  expect(decodeTrace(text)).toEqual(traceWithEveryField)
  expect(createHash('sha256').update(text).digest('hex')).toBe('d98a6e7b53f9424717cf6b4580fdabbc69fac1cc1e0063b533d0177a2d5b7926')
})

test('the trace of a plan is read from the middle of a larger piece of memory, too', () => {
  const bytes = encodeTrace(some())
  const larger = new Uint8Array(bytes.length + 20)
  larger.set(bytes, 7)
  expect(decodeTrace(larger.subarray(7, 7 + bytes.length))).toEqual(some())
})

test('offers stand in the bytes once, however many decisions name them', () => {
  const text = new TextDecoder('latin1').decode(encodeTrace(some()))
  expect(text.match(/"id":"a"/g)).toHaveLength(1)
})

test('an offer that changed its price is another one, under the same id', () => {
  const trace = { ...some(), decisions: [...some().decisions, ...some(9).decisions, ...some().decisions] }
  expect(decodeTrace(encodeTrace(trace))).toEqual(trace)
})

test('a byte that changed is seen, wherever it stands', () => {
  const bytes = encodeTrace(some())
  fc.assert(
    fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
      const damaged = bytes.slice()
      damaged[at] = (damaged[at] ?? 0) ^ change
      expect(() => decodeTrace(damaged)).toThrow(/^This (is no trace|trace is damaged|trace has version)/)
    }),
  )
})

test('a trace that is cut off is refused, wherever it is', () => {
  const bytes = encodeTrace(some())
  for (let length = 0; length < bytes.length; length += 1) {
    expect(() => decodeTrace(bytes.subarray(0, length))).toThrow(/^This (is no trace|trace is damaged)/)
  }
})

test('bytes and texts from elsewhere are refused', () => {
  const refused = /^This (is no trace|trace)/
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array(), fc.string()), from => {
      expect(() => decodeTrace(from)).toThrow(refused)
    }),
  )
})

/** FNV-1a, as whoever forges a trace would reckon it. */
function sealed(bytes: Uint8Array): Uint8Array {
  let sum = 0x811c9dc5
  for (const byte of bytes.subarray(0, -4)) sum = Math.imul(sum ^ byte, 0x01000193)
  const whole = bytes.slice()
  new DataView(whole.buffer).setUint32(whole.length - 4, sum >>> 0, true)
  return whole
}

test('bytes with the right sum that no router wrote are read as a trace or refused as none, and never break anything else', () => {
  const bytes = encodeTrace(some())
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.integer({ min: 4, max: bytes.length - 5 }), fc.nat(255)), { minLength: 1 }), changes => {
      const forged = bytes.slice()
      for (const [at, byte] of changes) forged[at] = byte
      try {
        replay(decodeTrace(sealed(forged)))
      } catch (error) {
        expect(error).toBeInstanceOf(TypeError)
        expect((error as Error).message).toMatch(/^This is no trace/)
      }
    }),
    { numRuns: 500 },
  )
})

test('bytes with the right sum are refused if a choice in them is none of the candidates', () => {
  const bytes = encodeTrace({ ...traceWithEveryField, decisions: traceWithEveryField.decisions.slice(0, 1) })
  const chosenAt = bytes.length - 4 - (117 + 62 + 2 * 73) + 67
  expect(bytes[chosenAt]).toBe(1)
  bytes[chosenAt] = 2
  expect(() => decodeTrace(sealed(bytes))).toThrow('`decisions[0].chosen` takes a whole number from 0 to 1')
})

test('a trace of another version is refused by its number', () => {
  const bytes = encodeTrace(some())
  bytes[3] = 9
  expect(() => decodeTrace(bytes)).toThrow('This trace has version 9; version 1 can be read here.')
  expect(() => replay({ ...some(), version: 2 } as unknown as Trace)).toThrow('`version` is 2')
})

test.each<[string, (trace: Trace) => unknown, string]>([
  ['null', () => null, '`trace` takes an object'],
  ['a list', () => [], '`version` is undefined'],
  ['decisions that are none', trace => ({ ...trace, decisions: 1 }), '`decisions` takes a list'],
  ['a choice beyond the candidates', trace => changed(trace, { chosen: 2 }), '`decisions[0].chosen` takes a whole number from 0 to 1'],
  ['no candidates', trace => changed(trace, { candidates: [] }), '`decisions[0].chosen`'],
  ['an unknown reason', trace => changed(trace, { why: 'whim' }), '`decisions[0].why` takes one of best, probe, fallback, last_resort'],
  ['a number that JSON lost', trace => changed(trace, { waitMs: null }), '`decisions[0].waitMs` takes a number'],
  ['no weights', trace => changed(trace, { worth: undefined }), '`decisions[0].worth` takes the weights of its strategy'],
  ['a choice before the candidates', trace => changed(trace, { chosen: -1 }), '`decisions[0].chosen` takes a whole number'],
  ['a choice between two candidates', trace => changed(trace, { chosen: 0.5 }), '`decisions[0].chosen` takes a whole number'],
  ['a hope beyond the candidates', trace => changed(trace, { hope: hopeAt(trace, 2) }), '`decisions[0].hope.at` takes a whole number'],
  ['a probe of another than was hoped for', trace => changed(trace, { why: 'probe', hope: hopeAt(trace, 1) }), '`decisions[0].hope` takes'],
  ['a turn of no byte', trace => changed(trace, { turn: 256 }), '`decisions[0].turn` takes a whole number from 0 to 255'],
  ['too many omitted', trace => changed(trace, { omitted: 2 ** 32 }), '`decisions[0].omitted` takes a whole number from 0 to 4294967295'],
  ['a request that is null', trace => changed(trace, { asked: null }), '`decisions[0].asked` takes an object'],
  [
    'a flag that is none',
    trace => changed(trace, { asked: { ...trace.decisions[0]?.asked, stream: 1 } }),
    '`decisions[0].asked.stream` takes a boolean',
  ],
  ['a loss that is a text', trace => changed(trace, { loss: '1' }), '`decisions[0].loss` takes a number'],
  ['a probe without a hope', trace => changed(trace, { why: 'probe', hope: undefined }), '`decisions[0].hope`'],
])('%s is refused with the name of what is wrong', (_, spoil, message) => {
  const spoiled = spoil(some()) as Trace
  expect(() => replay(spoiled)).toThrow(message)
  expect(() => encodeTrace(spoiled)).toThrow(message)
})

const hopeAt = (trace: Trace, at: number) => ({ at, sight: trace.decisions[0]?.candidates[0]?.sight, loss: 1 })

const changed = (trace: Trace, changes: object): unknown => ({
  ...trace,
  decisions: trace.decisions.map((decision, at) => (at === 0 ? { ...decision, ...changes } : decision)),
})

test('the largest numbers that a record has room for are no fault', () => {
  const [first] = some().decisions
  if (!first) throw new Error('There is a decision.')
  const large: Trace = {
    ...some(),
    dropped: Number.MAX_SAFE_INTEGER,
    decisions: [{ ...first, turn: 255, omitted: 0xffff_ffff, chosen: 1 }],
  }
  expect(decodeTrace(encodeTrace(large))).toEqual(large)
})
