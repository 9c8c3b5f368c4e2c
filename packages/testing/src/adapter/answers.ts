import { expect, test } from 'vitest'
import { defaultText } from '../answers/answer.ts'
import { ask, below, dial, hear, later, post } from './client.ts'
import { type Fixture, inferencePath, question } from './fixture.ts'

const MiB = 1_048_576

/** Whole and streamed responses, and backpressure of long ones. */
export function describeAnswers(fixture: () => Fixture): void {
  test('a whole response is returned as JSON', async () => {
    const { url, headers } = fixture()
    const answer = await ask({ url, path: inferencePath, headers, body: question('test-model', false) })
    expect(answer.status).toBe(200)
    expect(answer.headers['content-type']).toMatch(/^application\/json/)
    expect(JSON.parse(answer.text).output[0].content[0].text).toBe(defaultText)
  })

  test('a streamed response is returned as events', async () => {
    const { url, headers } = fixture()
    const answer = await ask({ url, path: inferencePath, headers, body: question('test-model', true) })
    expect(answer.status).toBe(200)
    expect(answer.headers['content-type']).toMatch(/^text\/event-stream/)
    expect(answer.headers['content-encoding']).toBeUndefined()
    expect(saidIn(answer.text)).toBe(defaultText)
    expect(answer.text).toMatch(/event: response\.completed\ndata: .*\n\n$/)
  })

  test('the first text arrives before the provider has sent the last', async () => {
    const { url, secret, upstream } = fixture()
    const socket = await dial(url)
    socket.write(post(below(url, inferencePath), secret, question('fault:stall-mid-stream', true)))
    const { text } = await hear(socket, { enough: seen => seen.includes('"delta":"Signals ') })
    expect(text).toContain('"delta":"Signals ')
    expect(upstream.requests.at(-1)?.closedAt).toBeUndefined()
    socket.destroy()
  })

  test('a write never ends in the middle of an event', async () => {
    const { url, secret, upstream } = fixture()
    upstream.next(async line => {
      const { opening, content, closing } = line.answer
      const texts = [...opening, ...content, ...closing].map(({ data }) => `data: ${data}\n\n`)
      await line.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n')
      // Half an event, a rest, and the other half: an event that arrives in pieces must not be forwarded in pieces.
      for (const text of texts.flatMap(whole => [whole.slice(0, 8), whole.slice(8)])) {
        await line.write(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`)
        await line.wait(2)
      }
      await line.write('0\r\n\r\n')
    })
    const socket = await dial(url)
    socket.write(post(below(url, inferencePath), secret, question('test-model', true)))
    const { text } = await hear(socket, { enough: seen => seen.endsWith('\r\n0\r\n\r\n') })
    socket.destroy()
    const chunks = chunksOf(afterHead(text))
    expect(chunks.length).toBeGreaterThan(1)
    for (const chunk of chunks) expect(chunk.endsWith('\n\n')).toBe(true)
  })

  test('a stream that breaks upstream ends with an error event and a failed response', async () => {
    const { url, headers } = fixture()
    const answer = await ask({ url, path: inferencePath, headers, body: question('fault:reset-mid-stream', true) })
    expect(answer.status).toBe(200)
    expect(answer.text).toMatch(/event: error\n[\s\S]*event: response\.failed\ndata: .*\n\n$/)
    const whole = await ask({ url, path: inferencePath, headers, body: question('fault:reset-mid-stream', false) })
    expect(whole.status).toBe(502)
  })

  test('a client that does not read slows the provider down, and receives everything in the end', { timeout: 300_000 }, async () => {
    const { url, secret, upstream } = fixture()
    const size = 18 * MiB
    const block = 'z'.repeat(8_192)
    upstream.next(async line => {
      const { opening, content, closing } = line.writer.write({ text: block }, line.request)
      const chunk = (data: string): string => `${Buffer.byteLength(data).toString(16)}\r\n${data}\r\n`
      const frames = (list: typeof opening): string => list.map(({ data }) => `data: ${data}\n\n`).join('')
      await line.write(`HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n${chunk(frames(opening))}`)
      const words = chunk(frames(content))
      for (let sent = 0; sent < size; sent += block.length) if (!(await line.write(words))) return
      await line.write(`${chunk(frames(closing))}0\r\n\r\n`)
    })
    const socket = await dial(url)
    const read: Buffer[] = []
    socket.pause()
    socket.write(post(below(url, inferencePath), secret, question('test-model', true)))
    const written = (): number => upstream.requests.at(-1)?.written ?? 0
    await upstream.until('the provider is held back', ({ requests }) => requests.at(-1)?.stalled === true, 120_000)
    let before = -1
    while (before !== written()) {
      before = written()
      await later(300)
    }
    // What is not held back is in the socket buffers of the two connections, which belong to the system.
    expect(written()).toBeLessThan(16 * MiB)
    socket.on('data', (chunk: Buffer) => read.push(chunk)).resume()
    await upstream.until('all of it has arrived', () => read.at(-1)?.toString('latin1').endsWith('0\r\n\r\n') === true, 120_000)
    socket.destroy()
    const text = chunksOf(afterHead(Buffer.concat(read).toString('latin1'))).join('')
    expect(saidIn(text).length).toBe(size)
    expect(text.slice(-200)).toMatch(/\n\n$/)
  })
}

const afterHead = (text: string): string => text.slice(text.indexOf('\r\n\r\n') + 4)

const saidIn = (text: string): string =>
  [...text.matchAll(/^event: response\.output_text\.delta\ndata: (.*)$/gm)].map(([, data = '{}']) => JSON.parse(data).delta).join('')

function chunksOf(body: string): readonly string[] {
  const chunks: string[] = []
  for (let rest = body; ; ) {
    const line = rest.indexOf('\r\n')
    const size = Number.parseInt(rest.slice(0, line), 16)
    if (line === -1 || !(size > 0)) return chunks
    chunks.push(rest.slice(line + 2, line + 2 + size))
    rest = rest.slice(line + 4 + size)
  }
}
