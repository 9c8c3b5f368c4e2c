import type { BuiltInDialect } from '@signalbox/dialects'
import type { Frame } from '@signalbox/dialects/protocol'
import { type AnswerError, frameText } from '../answers/answer.ts'
import { allFrames, type Bytes, begin, bytesOf, halfFrames, lastChunk, type Respond, streaming, writeChunks } from './acts.ts'
import type { Exchange } from './exchange.ts'
import {
  broken,
  type Expectation,
  type Expected,
  e400,
  e429,
  e502,
  e503,
  type Fault,
  faultOf,
  fine,
  fineInOtherWords,
  type Lacks,
  onlyIn,
  type Row,
} from './expect.ts'
import { troubles } from './faults-status.ts'
import { afterHalf, asBytes, cutBytes, cutInsideCharacters, escaped, lines, numbered, pretty } from './shapes.ts'

const MiB = 1_048_576

/** The stream as the fault sends it: one string or array per chunk. */
type Shape = (exchange: Exchange) => Iterable<Bytes>

const wholeStream = (exchange: Exchange): Bytes => bytesOf(exchange, allFrames(exchange))

/** The whole stream as text, transformed. */
const reworked =
  (rework: (text: string) => Bytes): Shape =>
  exchange => [rework(String(wholeStream(exchange)))]

const inserted =
  (make: (exchange: Exchange) => readonly Bytes[]): Shape =>
  exchange =>
    afterHalf(exchange, make(exchange))

/** Custom content, correctly encoded. */
const words = (count: number, perChunk: number): Shape =>
  function* (exchange) {
    const { opening, content, closing } = exchange.writer.write({ text: 'word ' }, exchange.request)
    const at = content.findIndex(({ data }) => data.includes('"word '))
    const word = content[at] ?? { data: '' }
    const chunkOf = (size: number): Bytes =>
      bytesOf(
        exchange,
        Array.from({ length: size }, () => word),
      )
    const full = chunkOf(perChunk)
    yield bytesOf(exchange, [...opening, ...content.slice(0, at)])
    for (let sent = 0; sent < count; sent += perChunk) yield count - sent < perChunk ? chunkOf(count - sent) : full
    yield bytesOf(exchange, [...content.slice(at + 1), ...closing])
  }

/** One text event of about this size. */
const bigText = (exchange: Exchange, size: number): Bytes =>
  bytesOf(exchange, [exchange.writer.textFrame('x'.repeat(size), exchange.request)])

const bigEvent = (size: number): Shape => inserted(exchange => [bigText(exchange, size)])

const bigEventFirst =
  (size: number): Shape =>
  exchange => [
    bytesOf(exchange, exchange.answer.opening),
    bigText(exchange, size),
    bytesOf(exchange, [...exchange.answer.content, ...exchange.answer.closing]),
  ]

/** A line without an end. Stops at 100 MiB, or when the client disconnects. */
function* endlessLine(): Iterable<Bytes> {
  yield 'data: {"endless":"'
  const block = 'y'.repeat(65_536)
  for (let sent = 0; sent < 100 * MiB; sent += block.length) yield block
}

/** Uses the name of a content event, if events have names. */
const invalidJson = (exchange: Exchange): Bytes => {
  const { event } = exchange.writer.textFrame('', exchange.request)
  return bytesOf(exchange, [{ ...(exchange.writer.wire && event !== undefined && { event }), data: '{"oops": nope}' }])
}

/** Stops in the middle of the frame that would have finished the response. */
const truncated: Shape = exchange => {
  const last = Buffer.from(bytesOf(exchange, exchange.answer.closing.slice(0, 1)))
  return [bytesOf(exchange, [...exchange.answer.opening, ...exchange.answer.content]), last.subarray(0, last.length / 2)]
}

const withoutDone = (frames: readonly Frame[]): readonly Frame[] => frames.filter(({ data }) => data !== '[DONE]')

/** Everything but the last `count` characters. `[DONE]` is left out, so that an event that matters is cut. */
const withoutTail =
  (count: number): Shape =>
  exchange => [String(bytesOf(exchange, withoutDone(allFrames(exchange)))).slice(0, -count)]

const nothingFinished: Shape = exchange => [bytesOf(exchange, [...exchange.answer.opening, ...exchange.answer.content])]
/** The finish reason without the events that should follow. */
const endOnly: Shape = exchange => [
  bytesOf(exchange, [...exchange.answer.opening, ...exchange.answer.content, ...exchange.answer.closing.slice(0, -1)]),
]
const doneOnly: Shape = exchange => [
  bytesOf(exchange, [...exchange.answer.opening, ...exchange.answer.content, ...exchange.answer.closing.slice(-1)]),
]
const doneWithoutUsage: Shape = exchange => [
  bytesOf(exchange, [
    ...exchange.answer.opening,
    ...exchange.answer.content,
    ...exchange.answer.closing.slice(0, 1),
    ...exchange.answer.closing.slice(-1),
  ]),
]

const afterTheEnd =
  (make: (exchange: Exchange) => Bytes): Shape =>
  exchange => [wholeStream(exchange), make(exchange)]

const errorFirst =
  (trouble: AnswerError): Shape =>
  exchange => [
    bytesOf(exchange, [
      ...(exchange.dialect === 'responses' ? exchange.answer.opening : []),
      ...exchange.writer.errorFrames(trouble, exchange.request),
    ]),
  ]

const errorAfterContent =
  (trouble: AnswerError): Shape =>
  exchange => [bytesOf(exchange, halfFrames(exchange)), bytesOf(exchange, exchange.writer.errorFrames(trouble, exchange.request))]

const strange = inserted(exchange => [
  bytesOf(exchange, [
    exchange.writer.unknownFrame(exchange.request),
    ...(exchange.dialect === 'responses' ? [{ event: 'keepalive', data: '{"type":"keepalive","sequence_number":9}' }] : []),
  ]),
])

const noise = ': a comment\n:\n\n\nretry: 10\nid: 7\nfuture-field: x\n\n'

const escapesSplit: Shape = exchange => {
  const frames = allFrames(exchange).map(frame => ({ ...frame, data: escaped(frame.data) }))
  return cutBytes(Buffer.from(bytesOf(exchange, frames)), (byte, at, all) => byte === 0x5c || all[at - 1] === 0x75)
}

const invalidUtf8 = inserted(exchange => {
  const [before = '', after = ''] = frameText(exchange.writer.textFrame('§§', exchange.request)).split('§§')
  return [Buffer.concat([Buffer.from(before), Buffer.from([0xff, 0xc3, 0x28, 0xed, 0xa0, 0x80]), Buffer.from(after)])]
})

const resetAfterTerminal: Respond = async exchange => {
  // Without its last chunk the body is incomplete, so the RST arrives while the client is still reading.
  await streaming(() => [wholeStream(exchange)])({
    ...exchange,
    write: bytes => (bytes === lastChunk ? Promise.resolve(true) : exchange.write(bytes)),
  })
  await exchange.wait(exchange.pace.beatMs)
  exchange.reset()
}

/** First content, which is read and forwarded; then the rest. */
const afterContent =
  (chunks: (exchange: Exchange) => Iterable<Bytes>): Respond =>
  async exchange => {
    if ((await begin(exchange)) && (await writeChunks(exchange, chunks(exchange)))) await exchange.write(lastChunk)
  }

/** Faults that only streams have; most concern their bytes. */
export interface StreamRow extends Omit<Row, 'expect' | 'respond' | 'applies' | 'but'> {
  readonly expect: Expected
  readonly shape?: Shape
  readonly respond?: Respond
  readonly but?: Readonly<Partial<Record<BuiltInDialect, Expected>>>
}

/** Faults of lines and fields. */
const noLines: Lacks = { bedrock: 'Its stream has no lines and no fields: each message says its length before it begins.' }
const noMark = (dialects: readonly BuiltInDialect[]): Lacks =>
  onlyIn(dialects, 'One event says why it ended, what it used, and that it is over.')

const late = (trouble: AnswerError, code: readonly string[]): Pick<StreamRow, 'expect' | 'respond'> => ({
  expect: { ...broken, code, usage: 'UR or UE' },
  respond: streaming(errorAfterContent(trouble)),
})

const rows: readonly StreamRow[] = [
  { row: 47, name: 'crlf', expect: fine, shape: reworked(lines('\r\n')), lacks: noLines },
  { row: 47, name: 'cr', expect: fine, shape: reworked(lines('\r')), lacks: noLines },
  { row: 47, name: 'mixed-line-ends', expect: fine, shape: reworked(lines('\r\n', '\n', '\r')), lacks: noLines },
  {
    row: 47,
    name: 'crlf-split',
    expect: fine,
    shape: exchange => cutBytes(asBytes(lines('\r\n')(String(wholeStream(exchange)))), byte => byte === 0x0d),
    lacks: noLines,
  },
  { row: 48, name: 'bom-first', expect: fine, shape: reworked(whole => `\ufeff${whole}`), lacks: noLines },
  {
    row: 48,
    name: 'bom-split',
    expect: fine,
    shape: exchange => cutBytes(asBytes(`\ufeff${wholeStream(exchange)}`), (_, at) => at < 3),
    lacks: noLines,
  },
  {
    row: 48,
    name: 'bom-in-text',
    expect: fineInOtherWords,
    shape: inserted(exchange => [bytesOf(exchange, [exchange.writer.textFrame('\ufeff', exchange.request)])]),
  },
  {
    row: 49,
    name: 'noise',
    expect: fine,
    shape: exchange => [noise, ...allFrames(exchange).map(frame => noise + frameText(frame))],
    lacks: noLines,
  },
  {
    row: 50,
    name: 'data-without-space',
    expect: fine,
    shape: reworked(whole => whole.replaceAll(/^(data|event): /gm, '$1:')),
    lacks: noLines,
  },
  { row: 50, name: 'data-over-lines', expect: fine, shape: exchange => allFrames(exchange).map(pretty), lacks: noLines },
  { row: 51, name: 'byte-by-byte', expect: fine, shape: exchange => cutBytes(Buffer.from(wholeStream(exchange)), () => true) },
  { row: 51, name: 'characters-split', expect: fine, shape: exchange => cutInsideCharacters(Buffer.from(wholeStream(exchange))) },
  { row: 51, name: 'escapes-split', expect: fine, shape: escapesSplit },
  { row: 52, name: 'invalid-utf8', expect: fineInOtherWords, shape: invalidUtf8, lacks: noLines },
  { row: 53, name: 'many-events-a-chunk', expect: fineInOtherWords, shape: words(200, 200) },
  { row: 54, name: 'event-of-3-mib', expect: fineInOtherWords, shape: bigEvent(3 * MiB), large: true },
  { row: 54, name: 'event-of-5-mib', expect: broken, respond: afterContent(exchange => [bigText(exchange, 5 * MiB)]), large: true },
  { row: 54, name: 'event-of-5-mib-first', expect: fineInOtherWords, shape: bigEventFirst(5 * MiB), but: { bedrock: e502 }, large: true },
  { row: 54, name: 'event-of-25-mib-first', expect: e502, shape: bigEventFirst(25 * MiB), heavy: true },
  { row: 54, name: 'endless-line', expect: broken, respond: afterContent(endlessLine), lacks: noLines },
  { row: 54, name: 'endless-line-first', expect: e502, shape: endlessLine, lacks: noLines },
  { row: 55, name: 'invalid-json', expect: broken, respond: afterContent(exchange => [invalidJson(exchange)]) },
  {
    row: 55,
    name: 'invalid-json-first',
    expect: e502,
    shape: exchange => [
      bytesOf(exchange, exchange.answer.opening),
      invalidJson(exchange),
      bytesOf(exchange, [...exchange.answer.content, ...exchange.answer.closing]),
    ],
  },
  { row: 56, name: 'truncated-json', expect: broken, shape: truncated },
  { row: 57, name: 'no-final-blank-line', expect: fine, shape: withoutTail(1), lacks: noLines },
  { row: 57, name: 'no-final-newline', expect: fine, shape: withoutTail(2), lacks: noLines },
  { row: 58, name: 'no-terminal', expect: broken, shape: nothingFinished },
  { row: 58, name: 'opening-only', expect: e502, shape: exchange => [bytesOf(exchange, exchange.answer.opening)] },
  {
    row: 58,
    name: 'finish-without-done',
    expect: fine,
    shape: endOnly,
    lacks: noMark(['chat', 'messages', 'bedrock']),
    // Bedrock's usage comes last.
    but: { bedrock: { ...fine, usage: 'UE' } },
  },
  {
    row: 59,
    name: 'done-only',
    expect: { ...fine, usage: 'UE' },
    shape: doneOnly,
    lacks: noMark(['chat', 'messages', 'bedrock']),
    // The last event is about usage, and does not say that the message is complete.
    but: { bedrock: { ...broken, usage: 'UR' } },
  },
  {
    row: 59,
    name: 'done-without-usage',
    expect: { ...fine, usage: 'UE' },
    shape: doneWithoutUsage,
    lacks: onlyIn(['chat'], 'No event but the last two is there to be left out; without its usage the answer is that of row 74.'),
  },
  { row: 60, name: 'terminal-twice', expect: fine, shape: afterTheEnd(exchange => bytesOf(exchange, exchange.answer.closing)) },
  {
    row: 60,
    name: 'content-after-terminal',
    expect: fine,
    shape: afterTheEnd(exchange => bytesOf(exchange, [exchange.writer.textFrame('too late', exchange.request)])),
    // Every chunk of Gemini may have a finish reason; only the end of the stream ends the response.
    but: { gemini: fineInOtherWords },
  },
  { row: 60, name: 'garbage-after-terminal', expect: fine, shape: afterTheEnd(() => 'data: {"trailing": garb\n\n\u0000\u0001<html>') },
  { row: 61, name: 'error-first', expect: e502, shape: errorFirst(troubles.serverError) },
  { row: 61, name: 'overload-first', expect: e503, shape: errorFirst(troubles.overloaded) },
  { row: 61, name: 'rate-limit-first', expect: e429, shape: errorFirst(troubles.limited) },
  { row: 61, name: 'quota-first', expect: e502, shape: errorFirst(troubles.quota) },
  { row: 61, name: 'policy-first', expect: { ...e400, code: ['content_policy_violation'] }, shape: errorFirst(troubles.policy) },
  { row: 61, name: 'error-after-content', ...late(troubles.serverError, ['provider_error']) },
  { row: 61, name: 'overload-after-content', ...late(troubles.overloaded, ['provider_error', 'server_is_overloaded']) },
  { row: 61, name: 'rate-limit-after-content', ...late(troubles.limited, ['rate_limit_exceeded', 'tokens_per_min_exceeded']) },
  { row: 61, name: 'policy-after-content', ...late(troubles.policy, ['content_policy_violation']) },
  { row: 62, name: 'unknown-events', expect: fine, shape: strange },
  ...[
    { name: 'sequence-missing', shape: numbered(() => undefined) },
    { name: 'sequence-repeated', shape: numbered(() => 3) },
    { name: 'sequence-descending', shape: numbered(at => 1_000 - at) },
  ].map((row): StreamRow => ({ ...row, row: 63, expect: fine, lacks: onlyIn(['responses'], 'Its events have no numbers.') })),
  { row: 64, name: 'reset-after-terminal', expect: fine, respond: resetAfterTerminal },
  { row: 65, name: 'many-tokens', expect: fineInOtherWords, shape: words(200_000, 100), heavy: true },
]

const streamed = (expected: Expected): Expectation => ({ stream: expected })

export const streamFault = ({ shape = exchange => [wholeStream(exchange)], respond, expect, but = {}, ...row }: StreamRow): Fault =>
  faultOf({
    ...row,
    applies: ['stream'],
    respond: respond ?? streaming(shape),
    expect: streamed(expect),
    but: Object.fromEntries(Object.entries(but).map(([dialect, expected]) => [dialect, streamed(expected)])),
  })

export const framingFaults: readonly Fault[] = rows.map(streamFault)
