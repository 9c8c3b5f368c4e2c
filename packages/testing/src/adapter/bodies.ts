import { expect, test } from 'vitest'
import { ask, below, dial, hear } from './client.ts'
import { type Fixture, inferencePath, question } from './fixture.ts'

const MiB = 1_048_576

/** Large bodies under the default limit. */
export function describeLargeBodies(fixture: () => Fixture): void {
  test('a body of 30 MB is passed on unchanged', { timeout: 300_000 }, async () => {
    const { url, headers, upstream } = fixture()
    const content = 'Grüße '.repeat((30 * 1_000_000) / 8)
    const body = JSON.stringify({ model: 'test-model', input: content })
    const answer = await ask({ url, path: inferencePath, headers, body })
    expect(answer.status).toBe(200)
    const sent = JSON.parse(upstream.requests.at(-1)?.body ?? '{}').messages[0].content
    expect(sent === content || sent?.[0]?.text === content).toBe(true)
  })

  test('a character split across two packets arrives intact', async () => {
    const { url, secret, upstream } = fixture()
    const body = Buffer.from(JSON.stringify({ model: 'test-model', input: 'Ein 🚂 fährt' }))
    const head = `POST ${below(url, inferencePath)} HTTP/1.1\r\nhost: h\r\nauthorization: Bearer ${secret}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`
    const socket = await dial(url)
    socket.setNoDelay(true)
    const cut = body.indexOf(Buffer.from('🚂')) + 2
    socket.write(head)
    socket.write(body.subarray(0, cut))
    await new Promise(resolve => setTimeout(resolve, 30))
    socket.write(body.subarray(cut))
    expect((await hear(socket, { enough: text => text.includes('output') })).text).toContain('200 OK')
    socket.destroy()
    expect(upstream.requests.at(-1)?.body).toContain('Ein 🚂 fährt')
  })
}

export const smallLimit = 100_000

/** A limit of {@link smallLimit}: larger bodies are rejected without being read. */
export function describeBodyLimit(fixture: () => Fixture): void {
  const oversized = 64 * MiB
  const lengthHeaders = { 'with a Content-Length': `content-length: ${oversized}`, 'with chunked encoding': 'transfer-encoding: chunked' }

  test.each(Object.entries(lengthHeaders))(
    'a body that is too large, %s, gets 413 and is not read',
    { timeout: 300_000 },
    async (_, length) => {
      const { url, secret, upstream } = fixture()
      const known = upstream.requests.length
      const socket = await dial(url)
      const block = length.startsWith('content') ? 'x'.repeat(65_536) : `10000\r\n${'x'.repeat(65_536)}\r\n`
      let sent = 0
      const push = (): void => {
        while (sent < oversized && socket.writable && socket.write(block)) sent += 65_536
      }
      socket.on('drain', push)
      const heard = hear(socket)
      socket.write(
        `POST ${below(url, inferencePath)} HTTP/1.1\r\nhost: h\r\nauthorization: Bearer ${secret}\r\ncontent-type: application/json\r\n${length}\r\n\r\n`,
      )
      push()
      const { text, ended } = await heard
      socket.destroy()
      expect(text).toMatch(/^HTTP\/1\.1 413 /)
      expect(JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)).error).toMatchObject({ code: 'request_too_large' })
      // The rest was not read, so this connection cannot be reused.
      expect(ended).toBe(true)
      expect(sent).toBeLessThan(oversized / 2)
      expect(upstream.requests.length).toBe(known)
    },
  )

  test('a body of exactly the limit is accepted, one byte more is not', async () => {
    const { url, headers } = fixture()
    const base = question('test-model', false)
    const exact = base + ' '.repeat(smallLimit - Buffer.byteLength(base))
    expect((await ask({ url, path: inferencePath, headers, body: exact })).status).toBe(200)
    expect((await ask({ url, path: inferencePath, headers, body: `${exact} ` })).status).toBe(413)
  })
}
