import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { serve } from '../ipc.ts'
import { medianOf, percentile } from '../numbers.ts'
import { postBytes } from '../raw-http.ts'

/** The load generator: raw keep-alive sockets with one request at a time each, and a fixed total. */
export interface Job {
  readonly port: number
  readonly path: string
  readonly authorization: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
  readonly connections: number
  readonly requests: number
  /** Request rate. Absent: each request is sent as soon as the previous one is answered. */
  readonly perSecond?: number
  /** Every response must contain `mark` this many times. Only checked on demand, because it takes time. */
  readonly check?: { readonly mark: string; readonly times: number }
}

export interface Run {
  readonly seconds: number
  /** Milliseconds from the request to the end of its response. */
  readonly p50: number
  readonly p99: number
  /** Chunks of a streamed response, which is the number of the server's writes. Counted in some responses only. */
  readonly chunks: number
}

export interface Delays {
  readonly deltas: number
  /** Milliseconds from the provider's write to the client's read. */
  readonly p50: number
  readonly p99: number
}

export type LoadVerbs = {
  run: (job: Job) => Promise<Run>
  /** All streams at once; resolves when the last one ends. */
  streams: (job: Job) => Promise<Delays>
  /** All streams at once, as above: how even they are, whatever becomes of them. */
  sustain: (job: Job) => Promise<Sustained>
}

export interface Sustained {
  /** Streams that broke, or ended otherwise than with 200 and all marks of `check`. */
  readonly failed: number
  /** Milliseconds of the longest silence within a stream. */
  readonly longestGapMs: number
}

interface Reply {
  readonly status: string
  readonly bytes: readonly Buffer[]
}

interface Line {
  exchange(request: Buffer, look?: (bytes: Buffer) => void): Promise<Reply>
  close(): void
}

async function open(port: number): Promise<Line> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  return { exchange: (request, look) => exchange(socket, request, look), close: () => socket.destroy() }
}

const headEnd = Buffer.from('\r\n\r\n')
const lastChunk = '\r\n0\r\n\r\n'

function exchange(socket: Socket, request: Buffer, look?: (bytes: Buffer) => void): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const bytes: Buffer[] = []
    let received = 0
    let due: number | undefined
    let head = ''
    let tail = ''
    const done = (settle: () => void): void => {
      socket.off('data', read)
      socket.off('close', broken)
      settle()
    }
    const broken = (): void => done(() => reject(new Error(`The connection broke after ${received} bytes. ${head.slice(0, 200)}`)))
    const readHead = (): boolean => {
      const all = Buffer.concat(bytes)
      const end = all.indexOf(headEnd)
      if (end === -1) return false
      head = all.toString('latin1', 0, end + 2)
      const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
      if (length !== undefined) due = end + 4 + Number(length)
      return true
    }
    const read = (chunk: Buffer): void => {
      received += chunk.length
      bytes.push(chunk)
      look?.(chunk)
      if (head === '' && !readHead()) return
      tail = (tail + chunk.toString('latin1', Math.max(0, chunk.length - lastChunk.length))).slice(-lastChunk.length)
      if (due === undefined ? tail === lastChunk : received >= due) done(() => resolve({ status: head.slice(9, 12), bytes }))
    }
    socket.on('data', read)
    socket.on('close', broken)
    socket.write(request)
  })
}

const chunksOf = ({ bytes }: Reply): number =>
  Buffer.concat(bytes)
    .toString('latin1')
    .split(/\r\n[0-9a-f]+\r\n/).length - 2

function examine({ status, bytes }: Reply, check: Job['check']): void {
  if (status === '200' && check === undefined) return
  const text = Buffer.concat(bytes).toString()
  const found = check === undefined ? 0 : text.split(check.mark).length - 1
  if (status !== '200' || found !== check?.times)
    throw new Error(`Expected 200 and ${check?.times} marks, got ${status} and ${found}:\n${text.slice(0, 2_000)}`)
}

/** A delta that states when it was written. The whole text, which some dialects repeat at the end, does not match. */
const stamped = /"(?:delta|content)":" @([\d.]+)@"/g

const monotonic = (): number => Number(process.hrtime.bigint()) / 1e6

serve({
  async run(job) {
    const request = postBytes(job)
    const lines = await Promise.all(Array.from({ length: job.connections }, () => open(job.port)))
    const took: number[] = []
    const chunks: number[] = []
    let sentSoFar = 0
    const began = performance.now()
    await Promise.all(
      lines.map(async line => {
        while (sentSoFar < job.requests) {
          const due = began + (sentSoFar / (job.perSecond ?? Number.POSITIVE_INFINITY)) * 1000
          sentSoFar += 1
          if (due > performance.now()) await sleep(due - performance.now())
          const sent = performance.now()
          const reply = await line.exchange(request)
          took.push(performance.now() - sent)
          examine(reply, job.check)
          if (took.length % 64 === 1) chunks.push(chunksOf(reply))
        }
      }),
    )
    const seconds = (performance.now() - began) / 1000
    for (const line of lines) line.close()
    return { seconds, p50: medianOf(took), p99: percentile(took, 0.99), chunks: medianOf(chunks) }
  },
  async streams(job) {
    const request = postBytes(job)
    const delays: number[] = []
    const look = (bytes: Buffer): void => {
      const now = monotonic()
      for (const [, at] of bytes.toString('latin1').matchAll(stamped)) delays.push(now - Number(at))
    }
    const lines = await Promise.all(Array.from({ length: job.connections }, () => open(job.port)))
    const replies = await Promise.all(lines.map(line => line.exchange(request, look)))
    for (const reply of replies) examine(reply, undefined)
    for (const line of lines) line.close()
    return { deltas: delays.length, p50: medianOf(delays), p99: percentile(delays, 0.99) }
  },
  async sustain(job) {
    const request = postBytes(job)
    let longestGapMs = 0
    const lines = await Promise.all(Array.from({ length: job.connections }, () => open(job.port)))
    const ends = await Promise.allSettled(
      lines.map(async line => {
        let last: number | undefined
        const reply = await line.exchange(request, () => {
          const now = performance.now()
          if (last !== undefined) longestGapMs = Math.max(longestGapMs, now - last)
          last = now
        })
        examine(reply, job.check)
      }),
    )
    for (const line of lines) line.close()
    return { failed: ends.filter(({ status }) => status === 'rejected').length, longestGapMs }
  },
} satisfies LoadVerbs)
