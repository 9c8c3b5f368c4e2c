import type { Frame } from '@signalbox/dialects/protocol'
import { eventMessage, type HeaderValue, prelude } from '../answers/event-stream.ts'
import { allFrames, type Bytes, begin, bytesOf, lastChunk, type Respond, streaming, writeChunks } from './acts.ts'
import type { Exchange } from './exchange.ts'
import { broken, e429, e502, type Fault, fine, fineInOtherWords, onlyIn } from './expect.ts'
import { type StreamRow, streamFault } from './faults-framing.ts'
import { afterHalf } from './shapes.ts'

// Faults of the AWS framing, in place of those of text lines and fields.

const MiB = 1_048_576

/** A message with this frame. */
const message = ({ event = '', data }: Frame, headers: Readonly<Record<string, HeaderValue>> = {}): Buffer =>
  eventMessage({ ':event-type': event, ':content-type': 'application/json', ':message-type': 'event', ...headers }, Buffer.from(data))

const sound = (exchange: Exchange): Buffer => message(exchange.writer.textFrame('never to be seen', exchange.request))

/** A valid message with one byte changed. */
const flipped =
  (at: (size: number) => number) =>
  (exchange: Exchange): Buffer => {
    const bytes = sound(exchange)
    const place = at(bytes.length)
    bytes[place] = (bytes[place] ?? 0) ^ 0x40
    return bytes
  }

/** Valid checksums around headers that end in the middle of one. */
const brokenHeaders = ({ writer, request }: Exchange): Buffer =>
  eventMessage({ ':event-type': Uint8Array.of(7, 0xff, 0xff, 0x61) }, Buffer.from(writer.textFrame('', request).data))

/** A message of an excessive length, which it announces and has, as far as it is read. */
function* tooLong(): Iterable<Bytes> {
  yield prelude(64 * MiB, 0)
  const block = Buffer.alloc(65_536, 'y')
  for (let sent = 0; sent < 64 * MiB; sent += block.length) yield block
}

/** The correct response with something between its halves. */
const within =
  (make: (exchange: Exchange) => readonly Bytes[]): Respond =>
  exchange =>
    streaming(() => afterHalf(exchange, make(exchange)))(exchange)

/** First content, which is read and forwarded; then this. */
const afterContent =
  (make: (exchange: Exchange) => Iterable<Bytes>): Respond =>
  async exchange => {
    if ((await begin(exchange)) && (await writeChunks(exchange, make(exchange)))) await exchange.write(lastChunk)
  }

const first = (make: (exchange: Exchange) => readonly Bytes[]): Respond =>
  streaming(exchange => [...make(exchange), bytesOf(exchange, allFrames(exchange))])

const error = (code: string, words: string): Bytes =>
  eventMessage({ ':message-type': 'error', ':error-code': code, ':error-message': words }, new Uint8Array())

const exception = (name: string): Bytes =>
  eventMessage(
    { ':message-type': 'exception', ':exception-type': name, ':content-type': 'application/json' },
    Buffer.from('{"message":"It broke."}'),
  )

/** A header of every non-text type. */
const everyHeader: Readonly<Record<string, HeaderValue>> = {
  yes: Uint8Array.of(0),
  no: Uint8Array.of(1),
  byte: Uint8Array.of(2, 1),
  short: Uint8Array.of(3, 0, 1),
  integer: Uint8Array.of(4, 0, 0, 0, 1),
  long: Uint8Array.of(5, 0, 0, 0, 0, 0, 0, 0, 1),
  bytes: Uint8Array.of(6, 0, 2, 0xff, 0xfe),
  time: Uint8Array.of(8, 0, 0, 0, 0, 0, 0, 0, 1),
  uuid: Uint8Array.of(9, ...Array.from({ length: 16 }, (_, index) => index)),
  future: 'x',
}

const invalidUtf8 = ({ writer, request }: Exchange): Buffer => {
  const { event = '', data } = writer.textFrame('§§', request)
  const [before = '', after = ''] = data.split('§§')
  const payload = Buffer.concat([Buffer.from(before), Buffer.from([0xff, 0xc3, 0x28, 0xed, 0xa0, 0x80]), Buffer.from(after)])
  return eventMessage({ ':event-type': event, ':content-type': 'application/json', ':message-type': 'event' }, payload)
}

const rows: readonly Omit<StreamRow, 'lacks'>[] = [
  { row: 49, name: 'strange-headers', expect: fine, shape: exchange => allFrames(exchange).map(frame => message(frame, everyHeader)) },
  { row: 52, name: 'invalid-utf8-in-a-message', expect: fineInOtherWords, respond: within(exchange => [invalidUtf8(exchange)]) },
  { row: 54, name: 'message-too-long', expect: broken, respond: afterContent(tooLong) },
  { row: 54, name: 'message-too-long-first', expect: e502, shape: tooLong },
  { row: 55, name: 'checksum-wrong', expect: broken, respond: afterContent(exchange => [flipped(size => size - 6)(exchange)]) },
  { row: 55, name: 'checksum-wrong-first', expect: e502, respond: first(exchange => [flipped(size => size - 6)(exchange)]) },
  { row: 55, name: 'prelude-checksum-wrong', expect: broken, respond: afterContent(exchange => [flipped(() => 9)(exchange)]) },
  { row: 55, name: 'lengths-contradict', expect: broken, respond: afterContent(() => [prelude(64, 4_096), Buffer.alloc(52)]) },
  { row: 55, name: 'headers-broken', expect: broken, respond: afterContent(exchange => [brokenHeaders(exchange)]) },
  { row: 56, name: 'prelude-truncated', expect: broken, respond: afterContent(exchange => [sound(exchange).subarray(0, 7)]) },
  {
    row: 60,
    name: 'broken-message-after-terminal',
    expect: fine,
    shape: exchange => [bytesOf(exchange, allFrames(exchange)), flipped(() => 9)(exchange)],
  },
  { row: 61, name: 'unknown-exception-first', expect: e502, respond: first(() => [exception('somethingNewException')]) },
  {
    row: 61,
    name: 'unknown-exception',
    expect: { ...broken, usage: 'UE' },
    respond: afterContent(() => [exception('somethingNewException')]),
  },
  { row: 61, name: 'error-message-first', expect: e429, respond: first(() => [error('ThrottlingException', 'Too many requests.')]) },
  { row: 61, name: 'error-message', expect: broken, respond: afterContent(() => [error('InternalError', 'It broke.')]) },
  {
    row: 62,
    name: 'initial-response',
    expect: fine,
    shape: exchange => [message({ event: 'initial-response', data: '{}' }), bytesOf(exchange, allFrames(exchange))],
  },
]

export const eventStreamFaults: readonly Fault[] = rows.map(row =>
  streamFault({
    ...row,
    lacks: onlyIn(['bedrock'], 'Its stream consists of server-sent events, not of messages with lengths and checksums.'),
  }),
)
