import {
  allFrames,
  answer,
  answering,
  type Bytes,
  begin,
  bytesOf,
  chunk,
  chunkedType,
  type HeaderFields,
  head,
  jsonType,
  type Respond,
  sizeOf,
  typeOf,
  wholeText,
  writeChunks,
} from './acts.ts'
import type { Exchange } from './exchange.ts'
import { alike, broken, brokenByTime, e502, e504, type Fault, faultOf, fine, onlyIn, type Row } from './expect.ts'

const headersOf = (exchange: Exchange): HeaderFields =>
  exchange.stream ? { ...chunkedType, ...typeOf(exchange) } : { ...jsonType, 'content-length': String(sizeOf(wholeText(exchange))) }
/** Headers of a body without a length. */
const chunkedHeadersOf = (exchange: Exchange): HeaderFields =>
  exchange.stream ? headersOf(exchange) : { ...jsonType, 'transfer-encoding': 'chunked' }
/** The bytes of the correct response. */
const rightBytes = (exchange: Exchange): Uint8Array =>
  Buffer.from(exchange.stream ? bytesOf(exchange, allFrames(exchange)) : wholeText(exchange))

const reset: Respond = async exchange => exchange.reset()

const resetAfterHeaders: Respond = async exchange => {
  await exchange.write(head(200, headersOf(exchange)))
  await exchange.wait(exchange.pace.beatMs)
  exchange.reset()
}

const resetInTheMiddle: Respond = async exchange => {
  if (await begin(exchange)) exchange.reset()
}

const finInTheMiddle: Respond = async exchange => {
  if (await begin(exchange)) exchange.fin()
}

/** Chunks, then the end of the connection without the final chunk. */
const finWithoutLastChunk =
  (share: number): Respond =>
  async exchange => {
    const bytes = rightBytes(exchange)
    await exchange.write(head(200, chunkedHeadersOf(exchange)))
    await writeChunks(exchange, [bytes.subarray(0, bytes.length * share)])
    await exchange.wait(exchange.pace.beatMs)
    exchange.fin()
  }

const staleKeepAlive: Respond = async exchange => {
  if (exchange.seen.reused) return exchange.reset()
  await answer(exchange)
  exchange.spoil()
}

const silence: Respond = exchange => exchange.gone

const headersThenSilence: Respond = async exchange => {
  await exchange.write(head(200, headersOf(exchange)))
  await exchange.gone
}

const stall: Respond = async exchange => {
  await begin(exchange)
  await exchange.gone
}

const drip: Respond = async exchange => {
  const began = exchange.stream ? await begin(exchange) : await exchange.write(head(200, headersOf(exchange)))
  const rest = Buffer.from(
    exchange.stream ? bytesOf(exchange, exchange.answer.content.slice(Math.ceil(exchange.answer.content.length / 2))) : wholeText(exchange),
  )
  if (!began) return
  for (const byte of rest) {
    const bytes = Uint8Array.of(byte)
    if (!(await exchange.write(exchange.stream ? chunk(bytes) : bytes)) || !(await exchange.wait(exchange.pace.dripMs))) return
  }
  await exchange.gone
}

/** A keep-alive: a comment, an ignored event if there are no comments, or a blank line in a JSON body. */
const ping = (exchange: Exchange): Bytes => {
  if (!exchange.stream) return '\n'
  return exchange.writer.wire ? bytesOf(exchange, [exchange.writer.unknownFrame(exchange.request)]) : ': ping\n\n'
}

const pingsForEver =
  (one: (exchange: Exchange) => Bytes): Respond =>
  async exchange => {
    await exchange.write(head(200, chunkedHeadersOf(exchange)))
    while ((await exchange.write(chunk(one(exchange)))) && (await exchange.wait(exchange.pace.pingMs)));
  }

const pingEvent = (exchange: Exchange): Bytes => bytesOf(exchange, [{ event: 'ping', data: '{"type":"ping"}' }])

const hintFirst =
  (hint: string): Respond =>
  async exchange => {
    await exchange.write(hint)
    await answer(exchange)
  }

/** An unsolicited second response. If it were taken as the response to the next request, one client would see another's text. */
const extraAnswer: Respond = async exchange => {
  await answer(exchange)
  if (!(await exchange.wait(exchange.pace.beatMs))) return
  await answering({ text: unsolicitedText })(exchange)
}

/** The text of the unsolicited response. */
export const unsolicitedText = 'This was meant for nobody.'

const late: Respond = async exchange => {
  if (await exchange.wait(exchange.pace.lateMs)) await answer(exchange)
}

const rows: readonly Row[] = [
  { row: 5, name: 'reset-before-answer', respond: reset, expect: alike(e502) },
  { row: 6, name: 'stale-keep-alive', respond: staleKeepAlive, expect: alike(fine), needs: 'warm connection' },
  { row: 7, name: 'reset-after-headers', respond: resetAfterHeaders, expect: alike(e502) },
  { row: 8, name: 'reset-mid-stream', respond: resetInTheMiddle, expect: { whole: e502, stream: broken } },
  { row: 9, name: 'fin-mid-stream', respond: finInTheMiddle, expect: { whole: e502, stream: broken } },
  { row: 9, name: 'fin-without-last-chunk', respond: finWithoutLastChunk(0.5), expect: { whole: e502, stream: broken } },
  { row: 9, name: 'fin-after-terminal', respond: finWithoutLastChunk(1), expect: { stream: fine }, applies: ['stream'] },
  { row: 10, name: 'half-open', respond: silence, expect: alike(e504), hangs: true },
  { row: 11, name: 'headers-then-silence', respond: headersThenSilence, expect: alike(e504), hangs: true },
  { row: 12, name: 'stall-mid-stream', respond: stall, expect: { stream: brokenByTime }, applies: ['stream'], hangs: true },
  { row: 13, name: 'drip', respond: drip, expect: { whole: e504, stream: brokenByTime }, hangs: true },
  { row: 14, name: 'pings-for-ever', respond: pingsForEver(ping), expect: alike(e504), hangs: true },
  {
    row: 14,
    name: 'ping-events-for-ever',
    respond: pingsForEver(pingEvent),
    expect: { stream: e504 },
    applies: ['stream'],
    hangs: true,
    lacks: onlyIn(['messages'], 'It has no event that says nothing.'),
  },
  { row: 15, name: 'continue-first', respond: hintFirst('HTTP/1.1 100 Continue\r\n\r\n'), expect: alike(fine) },
  {
    row: 15,
    name: 'early-hints-first',
    respond: hintFirst('HTTP/1.1 103 Early Hints\r\nlink: </style.css>; rel=preload\r\n\r\n'),
    expect: alike(fine),
  },
  { row: 17, name: 'unsolicited-answer', respond: extraAnswer, expect: alike(fine), needs: 'own connection' },
  { row: 19, name: 'late-answer', respond: late, expect: alike(e504), hangs: true },
]

export const connectionFaults: readonly Fault[] = rows.map(faultOf)
