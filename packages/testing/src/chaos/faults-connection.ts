import { frameText, sse } from '../speech/speech.ts'
import {
  allFrames,
  answer,
  begin,
  chunk,
  chunkedType,
  type Headers,
  head,
  json,
  jsonType,
  type Play,
  sizeOf,
  streamed,
  wholeText,
  writeChunks,
} from './acts.ts'
import { alike, both, broken, brokenByTime, type Expectation, e502, e504, type Fault, fine, type Mode, spoken } from './expect.ts'
import type { Line } from './line.ts'

const headersOf = (line: Line): Headers => (line.stream ? chunkedType : { ...jsonType, 'content-length': String(sizeOf(wholeText(line))) })

const reset: Play = async line => line.reset()

const resetAfterHeaders: Play = async line => {
  await line.write(head(200, headersOf(line)))
  await line.wait(line.pace.beatMs)
  line.reset()
}

const resetInTheMiddle: Play = async line => {
  if (await begin(line)) line.reset()
}

const finInTheMiddle: Play = async line => {
  if (await begin(line)) line.fin()
}

/** Chunks of what is there, and then the end without the chunk that says so. */
const finWithoutLastChunk =
  (share: number): Play =>
  async line => {
    const text = line.stream ? sse(allFrames(line)) : wholeText(line)
    await line.write(head(200, line.stream ? chunkedType : { ...jsonType, 'transfer-encoding': 'chunked' }))
    await writeChunks(line, [text.slice(0, text.length * share)])
    await line.wait(line.pace.beatMs)
    line.fin()
  }

const staleKeepAlive: Play = async line => {
  if (line.seen.reused) return line.reset()
  await answer(line)
  line.spoil()
}

const silence: Play = line => line.gone

const headersThenSilence: Play = async line => {
  await line.write(head(200, headersOf(line)))
  await line.gone
}

const stall: Play = async line => {
  await begin(line)
  await line.gone
}

const drip: Play = async line => {
  const began = line.stream ? await begin(line) : await line.write(head(200, headersOf(line)))
  const rest = line.stream
    ? Buffer.from(sse(line.told.content.slice(Math.ceil(line.told.content.length / 2))))
    : Buffer.from(wholeText(line))
  if (!began) return
  for (const byte of rest) {
    const bytes = Uint8Array.of(byte)
    if (!(await line.write(line.stream ? chunk(bytes) : bytes)) || !(await line.wait(line.pace.dripMs))) return
  }
  await line.gone
}

/** Comments keep a stream awake, blank lines a body that is to be JSON. */
const pingsForEver: Play = async line => {
  await line.write(head(200, line.stream ? chunkedType : { ...jsonType, 'transfer-encoding': 'chunked' }))
  while ((await line.write(chunk(line.stream ? ': ping\n\n' : '\n'))) && (await line.wait(line.pace.pingMs)));
}

const hintFirst =
  (hint: string): Play =>
  async line => {
    await line.write(hint)
    await answer(line)
  }

/** A second answer that nobody asked for: whoever takes it for the next request's tells one caller another's words. */
const extraAnswer: Play = async line => {
  await answer(line)
  if (!(await line.wait(line.pace.beatMs))) return
  const told = line.tongue.tell({ text: unsolicitedText }, line.asked)
  await (line.stream ? streamed([told.opening, told.content, told.closing].flat().map(frameText)) : json(200, told.whole))(line)
}

/** What the answer of row 17 that belongs to nobody says. */
export const unsolicitedText = 'This was meant for nobody.'

const late: Play = async line => {
  if (await line.wait(line.pace.lateMs)) await answer(line)
}

interface Row {
  readonly row: number
  readonly name: string
  readonly play: Play
  readonly expect: Expectation
  readonly applies?: readonly Mode[]
  readonly needs?: NonNullable<Fault['needs']>
  readonly hangs?: true
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
  { row: 14, name: 'pings-for-ever', play: pingsForEver, expect: alike(e504), hangs: true },
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

export const connectionFaults: readonly Fault[] = rows.map(row => ({ applies: both, dialects: spoken, ...row }))
