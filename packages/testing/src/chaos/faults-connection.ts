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
  type Play,
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

const reset: Play = async exchange => exchange.reset()

const resetAfterHeaders: Play = async exchange => {
  await exchange.write(head(200, headersOf(exchange)))
  await exchange.wait(exchange.pace.beatMs)
  exchange.reset()
}

const resetInTheMiddle: Play = async exchange => {
  if (await begin(exchange)) exchange.reset()
}

const finInTheMiddle: Play = async exchange => {
  if (await begin(exchange)) exchange.fin()
}

/** Chunks, then the end of the connection without the final chunk. */
const finWithoutLastChunk =
  (share: number): Play =>
  async exchange => {
    const bytes = rightBytes(exchange)
    await exchange.write(head(200, chunkedHeadersOf(exchange)))
    await writeChunks(exchange, [bytes.subarray(0, bytes.length * share)])
    await exchange.wait(exchange.pace.beatMs)
    exchange.fin()
  }

const staleKeepAlive: Play = async exchange => {
  if (exchange.seen.reused) return exchange.reset()
  await answer(exchange)
  exchange.spoil()
}

const silence: Play = exchange => exchange.gone

const headersThenSilence: Play = async exchange => {
  await exchange.write(head(200, headersOf(exchange)))
  await exchange.gone
}

const stall: Play = async exchange => {
  await begin(exchange)
  await exchange.gone
}

const drip: Play = async exchange => {
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
  (one: (exchange: Exchange) => Bytes): Play =>
  async exchange => {
    await exchange.write(head(200, chunkedHeadersOf(exchange)))
    while ((await exchange.write(chunk(one(exchange)))) && (await exchange.wait(exchange.pace.pingMs)));
  }

const pingEvent = (exchange: Exchange): Bytes => bytesOf(exchange, [{ event: 'ping', data: '{"type":"ping"}' }])

const hintFirst =
  (hint: string): Play =>
  async exchange => {
    await exchange.write(hint)
    await answer(exchange)
  }

/** An unsolicited second response. If it were taken as the response to the next request, one client would see another's text. */
const extraAnswer: Play = async exchange => {
  await answer(exchange)
  if (!(await exchange.wait(exchange.pace.beatMs))) return
  await answering({ text: unsolicitedText })(exchange)
}

/** The text of the unsolicited response. */
export const unsolicitedText = 'This was meant for nobody.'

const late: Play = async exchange => {
  if (await exchange.wait(exchange.pace.lateMs)) await answer(exchange)
}

const rows: readonly Row[] = [
  { row: 5, name: 'reset-before-answer', play: reset, expect: alike(e502) },
  { row: 6, name: 'stale-keep-alive', play: staleKeepAlive, expect: alike(fine), needs: 'warm connection' },
  { row: 7, name: 'reset-after-headers', play: resetAfterHeaders, expect: alike(e502) },
  { row: 8, name: 'reset-mid-stream', play: resetInTheMiddle, expect: { whole: e502, stream: broken } },
  { row: 9, name: 'fin-mid-stream', play: finInTheMiddle, expect: { whole: e502, stream: broken } },
  { row: 9, name: 'fin-without-last-chunk', play: finWithoutLastChunk(0.5), expect: { whole: e502, stream: broken } },
  { row: 9, name: 'fin-after-terminal', play: finWithoutLastChunk(1), expect: { stream: fine }, applies: ['stream'] },
  { row: 10, name: 'half-open', play: silence, expect: alike(e504), hangs: true },
  { row: 11, name: 'headers-then-silence', play: headersThenSilence, expect: alike(e504), hangs: true },
  { row: 12, name: 'stall-mid-stream', play: stall, expect: { stream: brokenByTime }, applies: ['stream'], hangs: true },
  { row: 13, name: 'drip', play: drip, expect: { whole: e504, stream: brokenByTime }, hangs: true },
  { row: 14, name: 'pings-for-ever', play: pingsForEver(ping), expect: alike(e504), hangs: true },
  {
    row: 14,
    name: 'ping-events-for-ever',
    play: pingsForEver(pingEvent),
    expect: { stream: e504 },
    applies: ['stream'],
    hangs: true,
    lacks: onlyIn(['messages'], 'It has no event that says nothing.'),
  },
  { row: 15, name: 'continue-first', play: hintFirst('HTTP/1.1 100 Continue\r\n\r\n'), expect: alike(fine) },
  {
    row: 15,
    name: 'early-hints-first',
    play: hintFirst('HTTP/1.1 103 Early Hints\r\nlink: </style.css>; rel=preload\r\n\r\n'),
    expect: alike(fine),
  },
  { row: 17, name: 'unsolicited-answer', play: extraAnswer, expect: alike(fine), needs: 'own connection' },
  { row: 19, name: 'late-answer', play: late, expect: alike(e504), hangs: true },
]

export const connectionFaults: readonly Fault[] = rows.map(faultOf)
