import { STATUS_CODES } from 'node:http'
import type { Frame, JsonObject } from '@signalbox/core/protocol'
import { type Speech, sse, type Told, type Trouble } from '../speech/speech.ts'
import type { Line } from './line.ts'

/** What happens to one request. */
export type Play = (line: Line) => Promise<void>

export type Bytes = string | Uint8Array
export type Headers = Readonly<Record<string, string>>

export const jsonType: Headers = { 'content-type': 'application/json' }
const sseType: Headers = { 'content-type': 'text/event-stream; charset=utf-8' }
export const chunkedType: Headers = { ...sseType, 'transfer-encoding': 'chunked' }

export const sizeOf = (bytes: Bytes): number => (typeof bytes === 'string' ? Buffer.byteLength(bytes) : bytes.length)

export const head = (status: number, headers: Headers): string =>
  [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Unknown'}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    '',
    '',
  ].join('\r\n')

/** One chunk of a chunked body. */
export const chunk = (bytes: Bytes): Uint8Array =>
  Buffer.concat([
    Buffer.from(`${sizeOf(bytes).toString(16)}\r\n`),
    typeof bytes === 'string' ? Buffer.from(bytes) : bytes,
    Buffer.from('\r\n'),
  ])

export const lastChunk = '0\r\n\r\n'

/** A body in one piece, under any status. */
export const whole =
  (status: number, headers: Headers, body: Bytes): Play =>
  async line => {
    await line.write(Buffer.concat([Buffer.from(head(status, { ...headers, 'content-length': String(sizeOf(body)) })), Buffer.from(body)]))
  }

export const json = (status: number, body: JsonObject, headers: Headers = {}): Play =>
  whole(status, { ...jsonType, ...headers }, JSON.stringify(body))

/** Chunks of a body as they are, then its end. False: the other side left. */
export async function writeChunks(line: Line, chunks: Iterable<Bytes>): Promise<boolean> {
  for (const bytes of chunks) if (!(await line.write(chunk(bytes)))) return false
  return true
}

/** A chunked body that ends as it should. */
export const streamed =
  (chunks: Iterable<Bytes>, headers: Headers = {}): Play =>
  async line => {
    if ((await line.write(head(200, { ...chunkedType, ...headers }))) && (await writeChunks(line, chunks))) await line.write(lastChunk)
  }

export const allFrames = ({ told }: Line): readonly Frame[] => [...told.opening, ...told.content, ...told.closing]

/** The beginning of the answer, something said, nothing finished. */
export const halfFrames = ({ told }: Line): readonly Frame[] => [
  ...told.opening,
  ...told.content.slice(0, Math.ceil(told.content.length / 2)),
]

export const wholeText = (line: Line): string => JSON.stringify(line.told.whole)

/** Frames as the language of this line sends them. */
export const bytesOf = ({ tongue }: Line, frames: readonly Frame[]): Bytes => tongue.wire?.bytes(frames) ?? sse(frames)
export const typeOf = ({ tongue }: Line): Headers => (tongue.wire ? { 'content-type': tongue.wire.type } : sseType)

/** A stream of the line's language that ends as it should, whatever its chunks say. */
export const streaming =
  (chunks: (line: Line) => Iterable<Bytes>): Play =>
  line =>
    streamed(chunks(line), typeOf(line))(line)

/** The right answer, the way it was asked for. */
export const answer: Play = line =>
  (line.stream ? streaming(() => allFrames(line).map(frame => bytesOf(line, [frame]))) : json(200, line.told.whole))(line)

/** The right answer, told otherwise. */
export const telling =
  (tell: (line: Line) => Told): Play =>
  line =>
    answer({ ...line, told: tell(line) })

/** The right answer in other words. */
export const saying = (speech: Speech): Play => telling(({ tongue, asked }) => tongue.tell(speech, asked))

/** An error under its status, in the dialect of the request. */
export const refusing =
  (status: number, trouble: Trouble, headers: () => Headers = () => ({})): Play =>
  line =>
    json(status, line.tongue.error(trouble), headers())(line)

/** The first half of the right answer; then it is up to the caller. False: the other side left. */
export async function begin(line: Line): Promise<boolean> {
  const text = wholeText(line)
  const half = text.slice(0, text.length / 2)
  const started = line.stream
    ? Buffer.concat([Buffer.from(head(200, { ...chunkedType, ...typeOf(line) })), chunk(bytesOf(line, halfFrames(line)))])
    : head(200, { ...jsonType, 'content-length': String(sizeOf(text)) }) + half
  // What breaks now must not overtake what was said.
  return (await line.write(started)) && line.wait(line.pace.beatMs)
}
