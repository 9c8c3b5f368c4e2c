import { STATUS_CODES } from 'node:http'
import type { Frame, JsonObject } from '@signalbox/dialects/protocol'
import { type AnswerContent, type AnswerError, sse, type WrittenAnswer } from '../answers/answer.ts'
import type { Exchange } from './exchange.ts'

/** Writes the response to one request. */
export type Respond = (exchange: Exchange) => Promise<void>

export type Bytes = string | Uint8Array
export type HeaderFields = Readonly<Record<string, string>>

export const jsonType: HeaderFields = { 'content-type': 'application/json' }
const sseType: HeaderFields = { 'content-type': 'text/event-stream; charset=utf-8' }
export const chunkedType: HeaderFields = { ...sseType, 'transfer-encoding': 'chunked' }

export const sizeOf = (bytes: Bytes): number => (typeof bytes === 'string' ? Buffer.byteLength(bytes) : bytes.length)

export const head = (status: number, headers: HeaderFields): string =>
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

/** A body in one piece, with any status. */
export const whole =
  (status: number, headers: HeaderFields, body: Bytes): Respond =>
  async exchange => {
    await exchange.write(
      Buffer.concat([Buffer.from(head(status, { ...headers, 'content-length': String(sizeOf(body)) })), Buffer.from(body)]),
    )
  }

export const json = (status: number, body: JsonObject, headers: HeaderFields = {}): Respond =>
  whole(status, { ...jsonType, ...headers }, JSON.stringify(body))

/** Writes chunks of a body unchanged, then its end. False if the client disconnected. */
export async function writeChunks(exchange: Exchange, chunks: Iterable<Bytes>): Promise<boolean> {
  for (const bytes of chunks) if (!(await exchange.write(chunk(bytes)))) return false
  return true
}

/** A chunked body with a correct end. */
export const streamed =
  (chunks: Iterable<Bytes>, headers: HeaderFields = {}): Respond =>
  async exchange => {
    if ((await exchange.write(head(200, { ...chunkedType, ...headers }))) && (await writeChunks(exchange, chunks)))
      await exchange.write(lastChunk)
  }

export const allFrames = ({ answer }: Exchange): readonly Frame[] => [...answer.opening, ...answer.content, ...answer.closing]

/** The beginning of the response, with content but unfinished. */
export const halfFrames = ({ answer }: Exchange): readonly Frame[] => [
  ...answer.opening,
  ...answer.content.slice(0, Math.ceil(answer.content.length / 2)),
]

export const wholeText = (exchange: Exchange): string => JSON.stringify(exchange.answer.whole)

/** Frames in the format of this exchange's dialect. */
export const bytesOf = ({ writer }: Exchange, frames: readonly Frame[]): Bytes => writer.wire?.bytes(frames) ?? sse(frames)
export const typeOf = ({ writer }: Exchange): HeaderFields => (writer.wire ? { 'content-type': writer.wire.type } : sseType)

/** A stream in the exchange's dialect with a correct end, whatever its chunks contain. */
export const streaming =
  (chunks: (exchange: Exchange) => Iterable<Bytes>): Respond =>
  exchange =>
    streamed(chunks(exchange), typeOf(exchange))(exchange)

/** The correct response, in the requested delivery. */
export const answer: Respond = exchange =>
  (exchange.stream ? streaming(() => allFrames(exchange).map(frame => bytesOf(exchange, [frame]))) : json(200, exchange.answer.whole))(
    exchange,
  )

/** The correct response, modified. */
export const answeringWith =
  (tell: (exchange: Exchange) => WrittenAnswer): Respond =>
  exchange =>
    answer({ ...exchange, answer: tell(exchange) })

/** The correct response with other content. */
export const answering = (script: AnswerContent): Respond => answeringWith(({ writer, request }) => writer.write(script, request))

/** An error with its status, in the dialect of the request. */
export const refusing =
  (status: number, trouble: AnswerError, headers: () => HeaderFields = () => ({})): Respond =>
  exchange =>
    json(status, exchange.writer.error(trouble), headers())(exchange)

/** The first half of the correct response; the caller continues. False if the client disconnected. */
export async function begin(exchange: Exchange): Promise<boolean> {
  const text = wholeText(exchange)
  const half = text.slice(0, text.length / 2)
  const started = exchange.stream
    ? Buffer.concat([Buffer.from(head(200, { ...chunkedType, ...typeOf(exchange) })), chunk(bytesOf(exchange, halfFrames(exchange)))])
    : head(200, { ...jsonType, 'content-length': String(sizeOf(text)) }) + half
  // A failure now must not overtake what was already written.
  return (await exchange.write(started)) && exchange.wait(exchange.pace.beatMs)
}
