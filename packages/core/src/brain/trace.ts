import { fromBase64Url, toBase64Url } from '../runtime/base64.ts'
import { checkTrace } from './check-trace.ts'
import { type Draft, leastBytes, lengthOf, nameOffers, readRecord, writeOutcome, writeRecord } from './layout.ts'
import type { RouterOffer } from './port.ts'
import type { DecisionRecord, Trace } from './record.ts'

// A trace as bytes: how it begins and which version it is, a line of JSON with what all decisions share, the decisions one after
// the other, and a sum over all before it.

const beginning = [0x53, 0x42, 0x54] as const
const version = 1
const headBytes = 8
const sumBytes = 4

/**
 * At most 1 kB a decision, and the offers once. Throws a TypeError for what is no trace.
 * @example await writeFile('decisions.trace', encodeTrace(router.trace()))
 */
export function encodeTrace(trace: Trace): Uint8Array<ArrayBuffer> {
  checkTrace(trace)
  const offers = makeList()
  const records = trace.decisions.map(decision => encodeDecision(decision, offers))
  return bound(records, JSON.stringify({ seed: trace.seed, dropped: trace.dropped, offers: offers.all() }))
}

/** Decisions that are written, with the numbers of their offers in them, and what they share. */
export function bound(records: readonly DataView<ArrayBuffer>[], sharedText: string): Uint8Array<ArrayBuffer> {
  const shared = new TextEncoder().encode(sharedText)
  const length = records.reduce((sum, { byteLength }) => sum + byteLength, headBytes + shared.length + sumBytes)
  const bytes = new Uint8Array(length)
  const view = new DataView(bytes.buffer)
  bytes.set(beginning)
  bytes[beginning.length] = version
  view.setUint32(4, shared.length, true)
  bytes.set(shared, headBytes)
  let place = headBytes + shared.length
  for (const { buffer, byteOffset, byteLength } of records) {
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength), place)
    place += byteLength
  }
  view.setUint32(place, sumOf(bytes.subarray(0, place)), true)
  return bytes
}

/** The same as text, in base64url. */
export const encodeTraceText = (trace: Trace): string => toBase64Url(encodeTrace(trace))

/**
 * Reads what `encodeTrace` or `encodeTraceText` wrote. Throws a TypeError that says what is wrong with anything else.
 * @example replay(decodeTrace(await readFile('decisions.trace')), 'cost')
 */
export function decodeTrace(from: Uint8Array | string): Trace {
  const bytes = typeof from === 'string' ? fromBase64Url(from) : from
  if (!bytes) throw new TypeError('This is no trace: the text is no base64url.')
  if (bytes.length < headBytes + sumBytes || beginning.some((byte, at) => bytes[at] !== byte)) {
    throw new TypeError('This is no trace: it does not begin like one.')
  }
  if (bytes[beginning.length] !== version) {
    throw new TypeError(`This trace has version ${bytes[beginning.length]}; version ${version} can be read here.`)
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const end = bytes.length - sumBytes
  if (view.getUint32(end, true) !== sumOf(bytes.subarray(0, end))) {
    throw new TypeError('This trace is damaged: its sum is not that of its bytes.')
  }
  return readBody(bytes, end)
}

function readBody(bytes: Uint8Array, end: number): Trace {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const firstAt = headBytes + view.getUint32(4, true)
  try {
    const { seed, dropped, offers } = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(headBytes, firstAt)))
    const decisions: DecisionRecord[] = []
    for (let place = firstAt; place < end; ) {
      if (end - place < leastBytes) throw new RangeError('its last decision is cut off')
      const length = lengthOf(new DataView(bytes.buffer, bytes.byteOffset + place, end - place))
      const record = new DataView(bytes.buffer, bytes.byteOffset + place, length)
      decisions.push(readRecord(record, (_, number) => offers[number]))
      place += length
    }
    const trace: Trace = { version, seed, dropped, decisions }
    checkTrace(trace)
    return trace
  } catch (error) {
    throw error instanceof TypeError && error.message.startsWith('This is no trace')
      ? error
      : new TypeError('This is no trace: what stands in it is none of what a router writes.', { cause: error })
  }
}

interface List {
  /** The same for offers that say the same. */
  readonly numberOf: (offer: RouterOffer) => number
  readonly all: () => readonly RouterOffer[]
}

function makeList(): List {
  const numbers = new Map<string, number>()
  const offers: RouterOffer[] = []
  return {
    numberOf(offer) {
      const key = JSON.stringify(offer)
      const number = numbers.get(key) ?? offers.push(offer) - 1
      numbers.set(key, number)
      return number
    },
    all: () => offers,
  }
}

function encodeDecision(decision: DecisionRecord, offers: List): DataView<ArrayBuffer> {
  const bytes = writeRecord(draftOf(decision), length => new DataView(new ArrayBuffer(length)))
  if (decision.outcome) writeOutcome(bytes, decision.outcome)
  const numbers = decision.candidates.map(({ offer }) => offers.numberOf(offer))
  nameOffers(bytes, numbers)
  return bytes
}

const worst = Number.POSITIVE_INFINITY

function draftOf({ at, asked, candidates, hope, why, loss, waitMs, timeoutMs = worst, hedgeAfterMs, ...same }: DecisionRecord): Draft {
  return {
    ...same,
    worth: same.worth,
    looking: { ...asked, leftMs: asked.leftMs ?? Number.POSITIVE_INFINITY, now: at },
    choice: { why, loss: loss ?? worst, waitMs, timeoutMs, ...(hedgeAfterMs !== undefined && { hedgeAfterMs }) },
    sights: candidates.map(({ sight }) => sight),
    losses: candidates.map(each => each.loss ?? worst),
    ranks: candidates.some(({ rank }) => rank !== undefined) ? candidates.map(({ rank }) => rank ?? worst) : undefined,
    shunned: candidates.map(({ shunned }) => shunned),
    hope: hope && { ...hope, loss: hope.loss ?? worst },
  }
}

/** FNV-1a: a changed byte always shows, more of them nearly always. */
function sumOf(bytes: Uint8Array): number {
  let sum = 0x811c9dc5
  // Over indices: an iterator takes four times as long.
  for (let at = 0; at < bytes.length; at += 1) sum = Math.imul(sum ^ (bytes[at] as number), 0x01000193)
  return sum >>> 0
}
