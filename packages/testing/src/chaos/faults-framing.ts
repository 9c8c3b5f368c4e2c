import type { Frame } from '@signalbox/core/protocol'
import { frameText, type Trouble } from '../speech/speech.ts'
import type { SpokenDialect } from '../speech/tongues.ts'
import { allFrames, type Bytes, begin, bytesOf, halfFrames, lastChunk, type Play, streaming, writeChunks } from './acts.ts'
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
import type { Line } from './line.ts'
import { afterHalf, asBytes, cutBytes, cutInsideCharacters, escaped, lines, numbered, pretty } from './shapes.ts'

const MiB = 1_048_576

/** The stream as the fault sends it, one string or array a chunk. */
type Shape = (line: Line) => Iterable<Bytes>

const wholeStream = (line: Line): Bytes => bytesOf(line, allFrames(line))

/** The whole stream as text, reworked. */
const reworked =
  (rework: (text: string) => Bytes): Shape =>
  line => [rework(String(wholeStream(line)))]

const inserted =
  (make: (line: Line) => readonly Bytes[]): Shape =>
  line =>
    afterHalf(line, make(line))

/** Words of its own, told rightly. */
const words = (count: number, perChunk: number): Shape =>
  function* (line) {
    const { opening, content, closing } = line.tongue.tell({ text: 'word ' }, line.asked)
    const at = content.findIndex(({ data }) => data.includes('"word '))
    const word = content[at] ?? { data: '' }
    const chunkOf = (size: number): Bytes =>
      bytesOf(
        line,
        Array.from({ length: size }, () => word),
      )
    const full = chunkOf(perChunk)
    yield bytesOf(line, [...opening, ...content.slice(0, at)])
    for (let sent = 0; sent < count; sent += perChunk) yield count - sent < perChunk ? chunkOf(count - sent) : full
    yield bytesOf(line, [...content.slice(at + 1), ...closing])
  }

/** One event of text, of about this size. */
const bigText = (line: Line, size: number): Bytes => bytesOf(line, [line.tongue.textFrame('x'.repeat(size), line.asked)])

const bigEvent = (size: number): Shape => inserted(line => [bigText(line, size)])

const bigEventFirst =
  (size: number): Shape =>
  line => [bytesOf(line, line.told.opening), bigText(line, size), bytesOf(line, [...line.told.content, ...line.told.closing])]

/** A line without an end, as far as the other side will read it: it stops at 100 MiB, or when the other side leaves. */
function* endlessLine(): Iterable<Bytes> {
  yield 'data: {"endless":"'
  const block = 'y'.repeat(65_536)
  for (let sent = 0; sent < 100 * MiB; sent += block.length) yield block
}

/** Under the name of a piece of content, where events have names. */
const invalidJson = (line: Line): Bytes => {
  const { event } = line.tongue.textFrame('', line.asked)
  return bytesOf(line, [{ ...(line.tongue.wire && event !== undefined && { event }), data: '{"oops": nope}' }])
}

/** Stops in the middle of the frame that would have finished the answer. */
const truncated: Shape = line => {
  const last = Buffer.from(bytesOf(line, line.told.closing.slice(0, 1)))
  return [bytesOf(line, [...line.told.opening, ...line.told.content]), last.subarray(0, last.length / 2)]
}

const withoutDone = (frames: readonly Frame[]): readonly Frame[] => frames.filter(({ data }) => data !== '[DONE]')

/** All but the last `count` characters; `[DONE]` is left out, so that the cut strikes an event that matters. */
const withoutTail =
  (count: number): Shape =>
  line => [String(bytesOf(line, withoutDone(allFrames(line)))).slice(0, -count)]

const nothingFinished: Shape = line => [bytesOf(line, [...line.told.opening, ...line.told.content])]
/** Why it ended is said; what should follow is not. */
const endOnly: Shape = line => [bytesOf(line, [...line.told.opening, ...line.told.content, ...line.told.closing.slice(0, -1)])]
const doneOnly: Shape = line => [bytesOf(line, [...line.told.opening, ...line.told.content, ...line.told.closing.slice(-1)])]
const doneWithoutUsage: Shape = line => [
  bytesOf(line, [...line.told.opening, ...line.told.content, ...line.told.closing.slice(0, 1), ...line.told.closing.slice(-1)]),
]

const afterTheEnd =
  (make: (line: Line) => Bytes): Shape =>
  line => [wholeStream(line), make(line)]

const errorFirst =
  (trouble: Trouble): Shape =>
  line => [bytesOf(line, [...(line.dialect === 'responses' ? line.told.opening : []), ...line.tongue.errorFrames(trouble, line.asked)])]

const errorAfterContent =
  (trouble: Trouble): Shape =>
  line => [bytesOf(line, halfFrames(line)), bytesOf(line, line.tongue.errorFrames(trouble, line.asked))]

const strange = inserted(line => [
  bytesOf(line, [
    line.tongue.strangeFrame(line.asked),
    ...(line.dialect === 'responses' ? [{ event: 'keepalive', data: '{"type":"keepalive","sequence_number":9}' }] : []),
  ]),
])

const noise = ': a comment\n:\n\n\nretry: 10\nid: 7\nfuture-field: x\n\n'

const escapesSplit: Shape = line => {
  const frames = allFrames(line).map(frame => ({ ...frame, data: escaped(frame.data) }))
  return cutBytes(Buffer.from(bytesOf(line, frames)), (byte, at, all) => byte === 0x5c || all[at - 1] === 0x75)
}

const invalidUtf8 = inserted(line => {
  const [before = '', after = ''] = frameText(line.tongue.textFrame('§§', line.asked)).split('§§')
  return [Buffer.concat([Buffer.from(before), Buffer.from([0xff, 0xc3, 0x28, 0xed, 0xa0, 0x80]), Buffer.from(after)])]
})

const resetAfterTerminal: Play = async line => {
  // Without its last chunk the body is not over, so the RST is met while the reader still reads.
  await streaming(() => [wholeStream(line)])({ ...line, write: bytes => (bytes === lastChunk ? Promise.resolve(true) : line.write(bytes)) })
  await line.wait(line.pace.beatMs)
  line.reset()
}

/** Content first, read and passed on; then the rest. */
const afterContent =
  (chunks: (line: Line) => Iterable<Bytes>): Play =>
  async line => {
    if ((await begin(line)) && (await writeChunks(line, chunks(line)))) await line.write(lastChunk)
  }

/** These faults are a stream's alone; most are a matter of the bytes that it consists of. */
export interface StreamRow extends Omit<Row, 'expect' | 'play' | 'applies' | 'but'> {
  readonly expect: Expected
  readonly shape?: Shape
  readonly play?: Play
  readonly but?: Readonly<Partial<Record<SpokenDialect, Expected>>>
}

/** What is a matter of lines and fields. */
const noLines: Lacks = { bedrock: 'Its stream has no lines and no fields: each message says its length before it begins.' }
const noMark = (dialects: readonly SpokenDialect[]): Lacks =>
  onlyIn(dialects, 'One event says why it ended, what it used, and that it is over.')

const late = (trouble: Trouble, code: readonly string[]): Pick<StreamRow, 'expect' | 'play'> => ({
  expect: { ...broken, code, usage: 'UR or UE' },
  play: streaming(errorAfterContent(trouble)),
})

const rows: readonly StreamRow[] = [
  { row: 47, name: 'crlf', expect: fine, shape: reworked(lines('\r\n')), lacks: noLines },
  { row: 47, name: 'cr', expect: fine, shape: reworked(lines('\r')), lacks: noLines },
  { row: 47, name: 'mixed-line-ends', expect: fine, shape: reworked(lines('\r\n', '\n', '\r')), lacks: noLines },
  {
    row: 47,
    name: 'crlf-split',
    expect: fine,
    shape: line => cutBytes(asBytes(lines('\r\n')(String(wholeStream(line)))), byte => byte === 0x0d),
    lacks: noLines,
  },
  { row: 48, name: 'bom-first', expect: fine, shape: reworked(whole => `\ufeff${whole}`), lacks: noLines },
  {
    row: 48,
    name: 'bom-split',
    expect: fine,
    shape: line => cutBytes(asBytes(`\ufeff${wholeStream(line)}`), (_, at) => at < 3),
    lacks: noLines,
  },
  {
    row: 48,
    name: 'bom-in-text',
    expect: fineInOtherWords,
    shape: inserted(line => [bytesOf(line, [line.tongue.textFrame('\ufeff', line.asked)])]),
  },
  {
    row: 49,
    name: 'noise',
    expect: fine,
    shape: line => [noise, ...allFrames(line).map(frame => noise + frameText(frame))],
    lacks: noLines,
  },
  {
    row: 50,
    name: 'data-without-space',
    expect: fine,
    shape: reworked(whole => whole.replaceAll(/^(data|event): /gm, '$1:')),
    lacks: noLines,
  },
  { row: 50, name: 'data-over-lines', expect: fine, shape: line => allFrames(line).map(pretty), lacks: noLines },
  { row: 51, name: 'byte-by-byte', expect: fine, shape: line => cutBytes(Buffer.from(wholeStream(line)), () => true) },
  { row: 51, name: 'characters-split', expect: fine, shape: line => cutInsideCharacters(Buffer.from(wholeStream(line))) },
  { row: 51, name: 'escapes-split', expect: fine, shape: escapesSplit },
  { row: 52, name: 'invalid-utf8', expect: fineInOtherWords, shape: invalidUtf8, lacks: noLines },
  { row: 53, name: 'many-events-a-chunk', expect: fineInOtherWords, shape: words(200, 200) },
  { row: 54, name: 'event-of-3-mib', expect: fineInOtherWords, shape: bigEvent(3 * MiB) },
  { row: 54, name: 'event-of-5-mib', expect: broken, play: afterContent(line => [bigText(line, 5 * MiB)]) },
  { row: 54, name: 'event-of-5-mib-first', expect: e502, shape: bigEventFirst(5 * MiB) },
  { row: 54, name: 'endless-line', expect: broken, play: afterContent(endlessLine), lacks: noLines },
  { row: 54, name: 'endless-line-first', expect: e502, shape: endlessLine, lacks: noLines },
  { row: 55, name: 'invalid-json', expect: broken, play: afterContent(line => [invalidJson(line)]) },
  {
    row: 55,
    name: 'invalid-json-first',
    expect: e502,
    shape: line => [bytesOf(line, line.told.opening), invalidJson(line), bytesOf(line, [...line.told.content, ...line.told.closing])],
  },
  { row: 56, name: 'truncated-json', expect: broken, shape: truncated },
  { row: 57, name: 'no-final-blank-line', expect: fine, shape: withoutTail(1), lacks: noLines },
  { row: 57, name: 'no-final-newline', expect: fine, shape: withoutTail(2), lacks: noLines },
  { row: 58, name: 'no-terminal', expect: broken, shape: nothingFinished },
  { row: 58, name: 'opening-only', expect: e502, shape: line => [bytesOf(line, line.told.opening)] },
  {
    row: 58,
    name: 'finish-without-done',
    expect: fine,
    shape: endOnly,
    lacks: noMark(['chat', 'messages', 'bedrock']),
    // What Bedrock used comes last.
    but: { bedrock: { ...fine, usage: 'UE' } },
  },
  {
    row: 59,
    name: 'done-only',
    expect: { ...fine, usage: 'UE' },
    shape: doneOnly,
    lacks: noMark(['chat', 'messages', 'bedrock']),
    // There the last event is about usage, and does not say that the message is over.
    but: { bedrock: { ...broken, usage: 'UR' } },
  },
  {
    row: 59,
    name: 'done-without-usage',
    expect: { ...fine, usage: 'UE' },
    shape: doneWithoutUsage,
    lacks: onlyIn(['chat'], 'No event but the last two is there to be left out; without its usage the answer is that of row 74.'),
  },
  { row: 60, name: 'terminal-twice', expect: fine, shape: afterTheEnd(line => bytesOf(line, line.told.closing)) },
  {
    row: 60,
    name: 'content-after-terminal',
    expect: fine,
    shape: afterTheEnd(line => bytesOf(line, [line.tongue.textFrame('too late', line.asked)])),
    // There every piece may say why the answer ends; it ends with the stream.
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
  { row: 64, name: 'reset-after-terminal', expect: fine, play: resetAfterTerminal },
  { row: 65, name: 'many-tokens', expect: fineInOtherWords, shape: words(200_000, 100), heavy: true },
]

const streamed = (expected: Expected): Expectation => ({ stream: expected })

export const streamFault = ({ shape = line => [wholeStream(line)], play, expect, but = {}, ...row }: StreamRow): Fault =>
  faultOf({
    ...row,
    applies: ['stream'],
    play: play ?? streaming(shape),
    expect: streamed(expect),
    but: Object.fromEntries(Object.entries(but).map(([dialect, expected]) => [dialect, streamed(expected)])),
  })

export const framingFaults: readonly Fault[] = rows.map(streamFault)
