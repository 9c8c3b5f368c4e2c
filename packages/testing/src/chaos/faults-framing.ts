import type { Frame } from '@signalbox/core/protocol'
import { frameText, sse, type Trouble } from '../speech/speech.ts'
import { allFrames, type Bytes, begin, halfFrames, type Play, streamed } from './acts.ts'
import { broken, type Expected, e400, e429, e502, e503, spoken as everyDialect, type Fault, fine, fineInOtherWords } from './expect.ts'
import { troubles } from './faults-status.ts'
import type { Line } from './line.ts'
import { afterHalf, asBytes, cutBytes, cutInsideCharacters, escaped, lines, numbered, pretty } from './shapes.ts'

const MiB = 1_048_576

/** The stream as the fault sends it, one string or array a chunk. */
type Shape = (line: Line) => Iterable<Bytes>

const text = (line: Line): string => sse(allFrames(line))

/** The whole stream as text, reworked. */
const reworked =
  (rework: (text: string) => Bytes): Shape =>
  line => [rework(text(line))]

const inserted =
  (make: (line: Line) => readonly Bytes[]): Shape =>
  line =>
    afterHalf(line, make(line))

/** Words of its own, told rightly. */
const words = (count: number, perChunk: number): Shape =>
  function* (line) {
    const { opening, content, closing } = line.tongue.tell({ text: 'word ' }, line.asked)
    const at = content.findIndex(({ data }) => data.includes('"word '))
    const word = frameText(content[at] ?? { data: '' })
    yield sse([...opening, ...content.slice(0, at)])
    for (let sent = 0; sent < count; sent += perChunk) yield word.repeat(Math.min(perChunk, count - sent))
    yield sse([...content.slice(at + 1), ...closing])
  }

const bigEvent = (size: number): Shape => inserted(line => [frameText(line.tongue.textFrame('x'.repeat(size), line.asked))])

const bigEventFirst =
  (size: number): Shape =>
  line => [
    sse(line.told.opening),
    frameText(line.tongue.textFrame('x'.repeat(size), line.asked)),
    sse([...line.told.content, ...line.told.closing]),
  ]

/** A line without an end, as far as the other side will read it: it stops at 100 MiB, or when the other side leaves. */
function* endlessLine(): Iterable<Bytes> {
  yield 'data: {"endless":"'
  const block = 'y'.repeat(65_536)
  for (let sent = 0; sent < 100 * MiB; sent += block.length) yield block
}

const invalidJson = 'data: {"oops": nope}\n\n'

/** Stops in the middle of the frame that would have finished the answer. */
const truncated: Shape = line => {
  const last = frameText(line.told.closing[0] ?? { data: '' })
  return [sse([...line.told.opening, ...line.told.content]) + last.slice(0, last.length / 2)]
}

const withoutDone = (frames: readonly Frame[]): readonly Frame[] => frames.filter(({ data }) => data !== '[DONE]')

/** All but the last `count` characters; `[DONE]` is left out, so that the cut strikes an event that matters. */
const withoutTail =
  (count: number): Shape =>
  line => [sse(withoutDone(allFrames(line))).slice(0, -count)]

const nothingFinished: Shape = line => [sse([...line.told.opening, ...line.told.content])]
const finishedWithoutDone: Shape = line => [sse(withoutDone(allFrames(line)))]
const doneOnly: Shape = line => [sse([...line.told.opening, ...line.told.content, ...line.told.closing.slice(-1)])]
const doneWithoutUsage: Shape = line => [
  sse([...line.told.opening, ...line.told.content, ...line.told.closing.slice(0, 1), ...line.told.closing.slice(-1)]),
]

const afterTheEnd =
  (make: (line: Line) => string): Shape =>
  line => [text(line), make(line)]

const errorFirst =
  (trouble: Trouble): Shape =>
  line => [sse([...(line.dialect === 'responses' ? line.told.opening : []), ...line.tongue.errorFrames(trouble, line.asked)])]

const errorAfterContent =
  (trouble: Trouble): Shape =>
  line => [sse(halfFrames(line)), sse(line.tongue.errorFrames(trouble, line.asked))]

const strange = inserted(line => [
  frameText(line.tongue.strangeFrame(line.asked)),
  ...(line.dialect === 'responses' ? [sse([{ event: 'keepalive', data: '{"type":"keepalive","sequence_number":9}' }])] : []),
])

const noise = ': a comment\n:\n\n\nretry: 10\nid: 7\nfuture-field: x\n\n'

const invalidUtf8 = inserted(line => {
  const [before = '', after = ''] = frameText(line.tongue.textFrame('§§', line.asked)).split('§§')
  return [Buffer.concat([Buffer.from(before), Buffer.from([0xff, 0xc3, 0x28, 0xed, 0xa0, 0x80]), Buffer.from(after)])]
})

const resetAfterTerminal: Play = async line => {
  // Without its last chunk the body is not over, so the RST is met while the reader still reads.
  await streamed([text(line)])({ ...line, write: bytes => (bytes === '0\r\n\r\n' ? Promise.resolve(true) : line.write(bytes)) })
  await line.wait(line.pace.beatMs)
  line.reset()
}

/** Content first, read and passed on; then the rest. */
const afterContent =
  (chunks: () => Iterable<Bytes>): Play =>
  async line => {
    if (!(await begin(line))) return
    for (const bytes of chunks())
      if (
        !(await line.write(
          Buffer.concat([Buffer.from(`${Buffer.byteLength(bytes).toString(16)}\r\n`), Buffer.from(bytes), Buffer.from('\r\n')]),
        ))
      )
        return
    await line.write('0\r\n\r\n')
  }

interface Row {
  readonly row: number
  readonly name: string
  readonly expect: Expected
  readonly shape?: Shape
  readonly play?: Play
  readonly dialects?: Fault['dialects']
}

const chatOnly = ['chat'] as const
const responsesOnly = ['responses'] as const
const late = (trouble: Trouble, code: readonly string[]): Pick<Row, 'expect' | 'play'> => ({
  expect: { ...broken, code, usage: 'UR or UE' },
  play: line => streamed(errorAfterContent(trouble)(line))(line),
})

const rows: readonly Row[] = [
  { row: 47, name: 'crlf', expect: fine, shape: reworked(lines('\r\n')) },
  { row: 47, name: 'cr', expect: fine, shape: reworked(lines('\r')) },
  { row: 47, name: 'mixed-line-ends', expect: fine, shape: reworked(lines('\r\n', '\n', '\r')) },
  { row: 47, name: 'crlf-split', expect: fine, shape: line => cutBytes(asBytes(lines('\r\n')(text(line))), byte => byte === 0x0d) },
  { row: 48, name: 'bom-first', expect: fine, shape: reworked(whole => `\ufeff${whole}`) },
  { row: 48, name: 'bom-split', expect: fine, shape: line => cutBytes(asBytes(`\ufeff${text(line)}`), (_, at) => at < 3) },
  {
    row: 48,
    name: 'bom-in-text',
    expect: fineInOtherWords,
    shape: inserted(line => [frameText(line.tongue.textFrame('\ufeff', line.asked))]),
  },
  { row: 49, name: 'noise', expect: fine, shape: line => [noise, ...allFrames(line).map(frame => noise + frameText(frame))] },
  { row: 50, name: 'data-without-space', expect: fine, shape: reworked(whole => whole.replaceAll(/^(data|event): /gm, '$1:')) },
  { row: 50, name: 'data-over-lines', expect: fine, shape: line => allFrames(line).map(pretty) },
  { row: 51, name: 'byte-by-byte', expect: fine, shape: line => cutBytes(asBytes(text(line)), () => true) },
  { row: 51, name: 'characters-split', expect: fine, shape: line => cutInsideCharacters(asBytes(text(line))) },
  {
    row: 51,
    name: 'escapes-split',
    expect: fine,
    shape: line => cutBytes(asBytes(escaped(text(line))), (byte, at, all) => byte === 0x5c || all[at - 1] === 0x75),
  },
  { row: 52, name: 'invalid-utf8', expect: fineInOtherWords, shape: invalidUtf8 },
  { row: 53, name: 'many-events-a-chunk', expect: fineInOtherWords, shape: words(200, 200) },
  { row: 54, name: 'event-of-3-mib', expect: fineInOtherWords, shape: bigEvent(3 * MiB) },
  {
    row: 54,
    name: 'event-of-5-mib',
    expect: broken,
    play: line => afterContent(() => [frameText(line.tongue.textFrame('x'.repeat(5 * MiB), line.asked))])(line),
  },
  { row: 54, name: 'event-of-5-mib-first', expect: e502, shape: bigEventFirst(5 * MiB) },
  { row: 54, name: 'endless-line', expect: broken, play: afterContent(endlessLine) },
  { row: 54, name: 'endless-line-first', expect: e502, shape: endlessLine },
  { row: 55, name: 'invalid-json', expect: broken, play: afterContent(() => [invalidJson]) },
  {
    row: 55,
    name: 'invalid-json-first',
    expect: e502,
    shape: line => [sse(line.told.opening), invalidJson, sse([...line.told.content, ...line.told.closing])],
  },
  { row: 56, name: 'truncated-json', expect: broken, shape: truncated },
  { row: 57, name: 'no-final-blank-line', expect: fine, shape: withoutTail(1) },
  { row: 57, name: 'no-final-newline', expect: fine, shape: withoutTail(2) },
  { row: 58, name: 'no-terminal', expect: broken, shape: nothingFinished },
  { row: 58, name: 'opening-only', expect: e502, shape: line => [sse(line.told.opening)] },
  { row: 58, name: 'finish-without-done', expect: fine, shape: finishedWithoutDone, dialects: chatOnly },
  { row: 59, name: 'done-only', expect: { ...fine, usage: 'UE' }, shape: doneOnly, dialects: chatOnly },
  { row: 59, name: 'done-without-usage', expect: { ...fine, usage: 'UE' }, shape: doneWithoutUsage, dialects: chatOnly },
  { row: 60, name: 'terminal-twice', expect: fine, shape: afterTheEnd(line => sse(line.told.closing)) },
  {
    row: 60,
    name: 'content-after-terminal',
    expect: fine,
    shape: afterTheEnd(line => sse([line.tongue.textFrame('too late', line.asked)])),
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
  { row: 63, name: 'sequence-missing', expect: fine, shape: numbered(() => undefined), dialects: responsesOnly },
  { row: 63, name: 'sequence-repeated', expect: fine, shape: numbered(() => 3), dialects: responsesOnly },
  { row: 63, name: 'sequence-descending', expect: fine, shape: numbered(at => 1_000 - at), dialects: responsesOnly },
  { row: 64, name: 'reset-after-terminal', expect: fine, play: resetAfterTerminal },
  { row: 65, name: 'many-tokens', expect: fineInOtherWords, shape: words(200_000, 100) },
]

const playing =
  (shape: Shape): Play =>
  line =>
    streamed(shape(line))(line)

export const framingFaults: readonly Fault[] = rows.map(({ row, name, expect, shape, play, dialects }) => ({
  row,
  name,
  applies: ['stream'],
  dialects: dialects ?? everyDialect,
  play: play ?? playing(shape ?? reworked(whole => whole)),
  expect: { stream: expect },
}))
