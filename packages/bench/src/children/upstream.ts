import { type AddressInfo, createServer, type Socket } from 'node:net'
import { serve } from '../ipc.ts'
import { deltas, type Language, paths, type Speech, speeches } from '../speech.ts'

/**
 * The provider: as little HTTP as will do, so that both cores are left to what is measured. Whole answers are one write.
 * A stream is one write per delta, in one of three manners, by the model asked for:
 *
 * - `bench`: 2 ms from delta to delta, so that a server that keeps up reads them one by one;
 * - `bench-burst`: as fast as the event loop turns, so that a busy server reads several at once;
 * - `bench-slow`: 20 ms from delta to delta, each of which tells when it was written.
 */
export type UpstreamVerbs = { listen: (input: Record<string, never>) => Promise<number> }

const slowDeltas = 250
const slowMs = 20
const pacedMs = 2

const chunk = (text: string): Buffer => Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`)

interface Canned {
  readonly whole: Buffer
  /** Head, deltas, tail. */
  readonly writes: readonly Buffer[]
  readonly speech: Speech
}

const streamHead = Buffer.from('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n')
const streamEnd = '0\r\n\r\n'

function can(speech: Speech): Canned {
  const words = Array.from({ length: deltas }, (_, at) => speech.delta(` word${at}`))
  const whole = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(speech.whole)}\r\n\r\n${speech.whole}`
  return {
    whole: Buffer.from(whole),
    writes: [
      Buffer.concat([streamHead, chunk(speech.head)]),
      ...words.map(chunk),
      Buffer.concat([chunk(speech.tail), Buffer.from(streamEnd)]),
    ],
    speech,
  }
}

const canned: Readonly<Record<Language, Canned>> = { responses: can(speeches.responses), chat: can(speeches.chat) }

const server = createServer({ noDelay: true }, socket => {
  let unread = ''
  socket.on('error', () => socket.destroy())
  socket.on('data', (bytes: Buffer) => {
    unread += bytes.toString('latin1')
    const end = unread.indexOf('\r\n\r\n')
    if (end === -1) return
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(unread.slice(0, end + 2))?.[1] ?? 0)
    const whole = end + 4 + length
    if (unread.length < whole) return
    const path = unread.slice(unread.indexOf(' ') + 1, unread.indexOf(' HTTP/'))
    const body = unread.slice(end + 4, whole)
    unread = unread.slice(whole)
    reply(socket, path === paths.chat ? canned.chat : canned.responses, body)
  })
})

function reply(socket: Socket, { whole, writes, speech }: Canned, body: string): void {
  if (!body.includes('"stream":true')) socket.write(whole)
  else if (body.includes('"bench-slow"')) speak(socket, slowMs, at => slowly(speech, at))
  else if (body.includes('"bench-burst"')) burst(socket, writes)
  else speak(socket, pacedMs, at => writes[at])
}

function burst(socket: Socket, writes: readonly Buffer[]): void {
  let at = 0
  const step = (): void => {
    const bytes = writes[at]
    at += 1
    if (bytes === undefined || socket.destroyed) return
    socket.write(bytes)
    setImmediate(step)
  }
  step()
}

/** The monotonic clock of the machine, which all processes share. */
const stamp = (): string => ` @${(Number(process.hrtime.bigint()) / 1e6).toFixed(3)}@`

function slowly(speech: Speech, at: number): Buffer | undefined {
  if (at === 0) return Buffer.concat([streamHead, chunk(speech.head)])
  if (at <= slowDeltas) return chunk(speech.delta(stamp()))
  return at === slowDeltas + 1 ? Buffer.concat([chunk(speech.tail), Buffer.from(streamEnd)]) : undefined
}

interface Speaking {
  readonly socket: Socket
  readonly everyMs: number
  readonly write: (at: number) => Buffer | undefined
  at: number
  next: number
}

let speaking: Speaking[] = []

/** The first write at once, then one every so often; streams do not march in step. */
function speak(socket: Socket, everyMs: number, write: Speaking['write']): void {
  const first = write(0)
  if (first) socket.write(first)
  speaking.push({ socket, everyMs, write, at: 1, next: performance.now() + everyMs * (0.5 + Math.random() / 2) })
}

setInterval(() => {
  if (speaking.length === 0) return
  const now = performance.now()
  speaking = speaking.filter(stream => stream.next > now || say(stream))
}, 1)

/** False: that was the last. */
function say(stream: Speaking): boolean {
  const bytes = stream.socket.destroyed ? undefined : stream.write(stream.at)
  if (bytes === undefined) return false
  stream.socket.write(bytes)
  stream.at += 1
  stream.next += stream.everyMs
  return true
}

serve({
  listen: () => new Promise<number>(resolve => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))),
} satisfies UpstreamVerbs)
