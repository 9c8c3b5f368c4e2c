import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { BodyText } from '@signalbox/api'
import { largeBody } from '@signalbox/dialects/protocol'
import { expect, test } from 'vitest'
import { readRequestBody } from './request-body.ts'

const clock = { now: Date.now, monotonic: () => performance.now(), setTimeout, clearTimeout }
const pace = { clock, idleMs: 60_000, bytesPerSecond: 0 } as never
const limit = 10 * largeBody

/** Sends a body to a server that reads it, and returns what it read. */
async function readOf(body: BodyInit, prepare: (message: IncomingMessage) => void = () => {}): Promise<BodyText> {
  const read = Promise.withResolvers<BodyText>()
  const server = createServer((message, response) => {
    prepare(message)
    Promise.resolve(readRequestBody(message, { limit, pace, heard: undefined })).then(text => {
      response.end()
      read.resolve(text)
    }, read.reject)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const init = { method: 'POST', body, duplex: 'half' } as RequestInit
  await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, init)
  server.close()
  return read.promise
}

const large = 'é'.repeat(100) + 'A'.repeat(3 * largeBody)

test('a large body is read, with and without an announced length', async () => {
  expect(await readOf(large)).toEqual({ ok: true, text: large })
  expect(await readOf(new Blob([large]).stream())).toEqual({ ok: true, text: large })
})

test('a large body that is not UTF-8 is refused', async () => {
  const bytes = new Uint8Array(2 * largeBody).fill(0x41)
  bytes[largeBody] = 0xff
  expect(await readOf(bytes)).toEqual({ ok: false, why: 'not_utf8' })
})

test('another reader of a large body keeps its pieces', async () => {
  const pieces: Buffer[] = []
  expect(await readOf(large, message => message.on('data', piece => pieces.push(piece)))).toEqual({ ok: true, text: large })
  expect(Buffer.concat(pieces).toString()).toBe(large)
})

test('a large body that a framework made longer than announced is read whole', async () => {
  const read = await readOf(large, message => {
    message.headers['content-length'] = String(largeBody)
  })
  expect(read).toEqual({ ok: true, text: large })
})

test('a wrapped message keeps the pieces that pass through it', async () => {
  const pieces: Buffer[] = []
  const read = await readOf(large, message => {
    const { emit } = message
    message.emit = (event: string, ...values: unknown[]): boolean => {
      if (event === 'data') pieces.push(values[0] as Buffer)
      return emit.call(message, event, ...values)
    }
  })
  expect(read).toEqual({ ok: true, text: large })
  expect(Buffer.concat(pieces).toString()).toBe(large)
})
