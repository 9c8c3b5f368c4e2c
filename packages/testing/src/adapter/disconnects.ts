import { expect, test } from 'vitest'
import { sse } from '../answers/answer.ts'
import type { Respond } from '../chaos/acts.ts'
import type { Script } from '../chaos-provider.ts'
import { below, dial, hear, later, post } from './client.ts'
import { type Fixture, inferencePath, question } from './fixture.ts'

/** Sends text until the client disconnects. */
const streamUntilDisconnect: Respond = async line => {
  const chunk = (data: string): string => `${Buffer.byteLength(data).toString(16)}\r\n${data}\r\n`
  await line.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n')
  await line.write(chunk(sse(line.answer.opening)))
  const frame = chunk(sse([line.writer.textFrame('and ', line.request)]))
  while ((await line.write(frame)) && (await line.wait(2)));
}

interface Phase {
  readonly phase: string
  readonly plays: Script
  readonly stream: boolean
  /** Text that the client has received when it disconnects. Absent: it disconnects once the provider has the request. */
  readonly seen?: string
}

const phases: readonly Phase[] = [
  { phase: 'before the provider has sent its headers', plays: 'half-open', stream: true },
  { phase: 'before the first content', plays: 'headers-then-silence', stream: true },
  { phase: 'while only comments are sent', plays: 'pings-for-ever', stream: true },
  { phase: 'in the middle of a stream', plays: 'stall-mid-stream', stream: true, seen: '"delta":"Signals ' },
  { phase: 'in the middle of an endless stream', plays: streamUntilDisconnect, stream: true, seen: '"delta":"and ' },
  { phase: 'before a whole response', plays: 'half-open', stream: false },
  { phase: 'during a slow whole response', plays: 'drip', stream: false },
]

/**
 * A disconnecting client stops the provider, in any phase. After content was received, a response is drained for its usage, for up to 5 s of
 * the gateway's clock.
 */
export function describeDisconnects(fixture: () => Fixture): void {
  test.each(phases)('a client that disconnects $phase closes the connection to the provider', async ({ plays, stream, seen }) => {
    const { url, secret, upstream } = fixture()
    const known = upstream.requests.length
    upstream.next(plays)
    const socket = await dial(url)
    socket.write(post(below(url, inferencePath), secret, question('test-model', stream)))
    await upstream.until('the provider has the request', ({ requests }) => requests[known]?.bodyAt !== undefined)
    if (seen === undefined) await later(50)
    else expect((await hear(socket, { enough: text => text.includes(seen) })).text).toContain(seen)
    socket.destroy()
    await upstream.until('the provider sees the close', ({ requests }) => requests[known]?.closedAt !== undefined, 30_000)
    expect(upstream.requests[known]?.left).toBe(true)
    await later(50)
    expect(upstream.requests.length).toBe(known + 1)
  })

  test('a client that disconnects during the upload causes no request to the provider', async () => {
    const { url, secret, upstream } = fixture()
    const known = upstream.requests.length
    const socket = await dial(url)
    socket.write(post(below(url, inferencePath), secret, question('test-model', false)).slice(0, -10))
    await later(50)
    socket.destroy()
    await later(100)
    expect(upstream.requests.length).toBe(known)
  })

  test('a disconnecting client does not affect other clients', async () => {
    const { url, secret, upstream } = fixture()
    const [leaver, stayer] = await Promise.all([dial(url), dial(url)])
    upstream.next('stall-mid-stream')
    leaver.write(post(below(url, inferencePath), secret, question('test-model', true)))
    await hear(leaver, { enough: text => text.includes('"delta":"Signals ') })
    const staying = hear(stayer, { enough: seen => seen.includes('event: response.completed') })
    stayer.write(post(below(url, inferencePath), secret, question('fault:byte-by-byte', true)))
    await upstream.until('both are being answered', ({ requests }) => (requests.at(-1)?.written ?? 0) > 0)
    leaver.destroy()
    const { text } = await staying
    stayer.destroy()
    expect(text).toContain('event: response.completed')
  })
}
