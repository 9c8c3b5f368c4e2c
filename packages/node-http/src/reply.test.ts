import { createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Source } from '@signalbox/dialects/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { sendReply } from './reply.ts'

/** A stream that pushes one text and ends in the same turn. */
const atOnce = (text: string): Source<string> => ({
  read(sink) {
    sink.next(text)
    sink.end()
  },
  pause: () => {},
  resume: () => {},
  cancel: () => {},
})

test('a client that reads a large last chunk slowly gets all of it', async () => {
  const size = 24_000_000
  const server = createServer((_, response) =>
    sendReply(response, { status: 200, headers: {}, body: atOnce('x'.repeat(size)) }, { onDisconnect: () => {}, drainMs: 1_000 }),
  )
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const begun = performance.now()
  const taken = await new Promise<number>((resolve, reject) => {
    let bytes = 0
    get({ host: '127.0.0.1', port: (server.address() as AddressInfo).port, agent: false }, response => {
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        response.pause()
        setTimeout(() => response.resume(), 5)
      })
      response.on('end', () => resolve(bytes)).on('error', reject)
    }).on('error', reject)
  })
  // Longer than `drainMs`, which is long enough for a busy machine to take a part.
  expect(performance.now() - begun).toBeGreaterThan(1_200)
  expect(taken).toBe(size)
})
