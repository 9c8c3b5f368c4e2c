import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { Dialect } from '../dialects.ts'
import { deltas, type Speech, speeches } from '../fake-content.ts'
import { serve } from '../ipc.ts'
import { chunk, firstWrite, lastWrite, wholeWrite } from '../provider-writes.ts'
import { type Head, readHead } from '../raw-http.ts'
import { askedIn } from '../requests.ts'

/**
 * The provider: minimal HTTP, so that both cores are left to the measured server. Whole responses are one write. A stream is one write per
 * delta, paced by the requested model:
 *
 * - `bench`: 2 ms between deltas, so that a server that keeps up reads them one by one;
 * - `bench-burst`: as fast as the event loop turns, so that a busy server reads several at once;
 * - `bench-slow`: 20 ms between deltas, each of which states when it was written;
 * - `bench-board`: 64 deltas with 20 ms between them. A whole response comes after 20 ms; it is at once for the other models.
 */
export type UpstreamVerbs = { listen: (input: Record<string, never>) => Promise<number> }

const slowDeltas = 250
const slowMs = 20
const pacedMs = 2
const boardDeltas = 64
export const boardMs = 20

interface Canned {
  readonly whole: Buffer
  /** Head, deltas, tail. */
  readonly writes: readonly Buffer[]
  readonly speech: Speech
}

function can(speech: Speech): Canned {
  const words = Array.from({ length: deltas }, (_, index) => chunk(speech.delta(` word${index}`)))
  return { whole: wholeWrite(speech), writes: [firstWrite(speech), ...words, lastWrite(speech)], speech }
}

const canned: Readonly<Record<Dialect, Canned>> = {
  responses: can(speeches.responses),
  chat: can(speeches.chat),
}

/** A body may be tens of megabytes, so it is joined once when it is complete. */
const server = createServer({ noDelay: true }, socket => {
  let pieces: Buffer[] = []
  let size = 0
  let head: Head | undefined
  socket.on('error', () => socket.destroy())
  socket.on('data', (piece: Buffer) => {
    pieces.push(piece)
    size += piece.length
    head ??= readHead(Buffer.concat(pieces))
    if (head === undefined || size < head.size) return
    const { path, bodyAt } = head
    const body = Buffer.concat(pieces).toString('latin1', bodyAt, head.size)
    pieces = []
    size = 0
    head = undefined
    reply(socket, path, body)
  })
})

function reply(socket: Socket, path: string, body: string): void {
  const asked = askedIn(path, body)
  if (asked === undefined) {
    socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n')
    return
  }
  const { whole, writes, speech } = canned[asked.dialect]
  const isBoard = asked.model === 'bench-board'
  if (!asked.stream) isBoard ? setTimeout(() => socket.write(whole), boardMs) : socket.write(whole)
  else if (isBoard)
    speak(socket, boardMs, index => (index <= boardDeltas ? writes[index] : index === boardDeltas + 1 ? writes.at(-1) : undefined))
  else if (asked.model === 'bench-slow') speak(socket, slowMs, at => slowly(speech, at))
  else if (asked.model === 'bench-burst') burst(socket, writes)
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

/** The machine's monotonic clock, which all processes share. */
const stamp = (): string => ` @${(Number(process.hrtime.bigint()) / 1e6).toFixed(3)}@`

function slowly(speech: Speech, at: number): Buffer | undefined {
  if (at === 0) return firstWrite(speech)
  if (at <= slowDeltas) return chunk(speech.delta(stamp()))
  return at === slowDeltas + 1 ? lastWrite(speech) : undefined
}

interface Speaking {
  readonly socket: Socket
  readonly everyMs: number
  readonly write: (at: number) => Buffer | undefined
  at: number
  next: number
}

let speaking: Speaking[] = []

/** The first write at once, then one at a fixed interval; streams are not synchronized. */
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

/** False after the last write. */
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
