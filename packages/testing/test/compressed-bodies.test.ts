import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { toFetchHandler } from '@signalbox/fetch-handler'
import { describe, expect, test } from 'vitest'
import { fakeGateway } from '../../api/test/fake-gateway.ts'
import { jsonHeaders, start } from '../../node-http/test/running.ts'

const body = JSON.stringify({ model: 'small', input: 'ü'.repeat(1_000) })
const encoders = { zstd: zstdCompressSync, br: brotliCompressSync, gzip: gzipSync, deflate: deflateSync } as const
const maxBodyBytes = 100_000

type Send = (coding: string, bytes: Uint8Array) => Promise<Response>

const post = (coding: string, bytes: Uint8Array) => ({
  method: 'POST',
  headers: { ...jsonHeaders, 'content-encoding': coding },
  body: new Uint8Array(bytes),
})

const adapters: readonly (readonly [
  name: string,
  codings: readonly (keyof typeof encoders)[],
  open: (maxBytes?: number) => Promise<Send>,
])[] = [
  [
    'node:http',
    ['zstd', 'br', 'gzip', 'deflate'],
    async (maxBytes = maxBodyBytes) => {
      const { url } = await start({ maxBodyBytes: maxBytes })
      return (coding, bytes) => fetch(`${url}/v1/responses`, post(coding, bytes))
    },
  ],
  [
    'fetch',
    ['gzip', 'deflate'],
    async (maxBytes = maxBodyBytes) => {
      const handler = toFetchHandler(fakeGateway().gateway, { maxBodyBytes: maxBytes })
      return async (coding, bytes) => handler(new Request('http://x/v1/responses', post(coding, bytes)))
    },
  ],
]

describe.each(adapters)('a compressed body over %s', (_, codings, open) => {
  test.each(codings)('in %s is read', async coding => {
    const send = await open()
    expect((await send(coding, encoders[coding](body))).status).toBe(200)
  })

  test.each(codings)('in %s is refused if it becomes larger than the limit, and if it is damaged', async coding => {
    const send = await open()
    const bomb = await send(coding, encoders[coding](Buffer.alloc(50 * maxBodyBytes, ' ')))
    expect([bomb.status, await bomb.json()]).toMatchObject([413, { error: { message: expect.stringContaining(`${maxBodyBytes} bytes`) } }])
    const damaged = await send(coding, Buffer.from('no compression at all'))
    expect([damaged.status, await damaged.json()]).toMatchObject([400, { error: { message: `The request body is not valid ${coding}.` } }])
  })

  test.each(codings)('in %s is refused if it is more than 100 times as large as what was sent', async coding => {
    const send = await open(8_000_000)
    const bomb = await send(coding, encoders[coding](`${body}${' '.repeat(4_000_000)}`))
    expect([bomb.status, await bomb.json()]).toMatchObject([413, { error: { message: expect.stringContaining('100 times') } }])
    const dense = Array.from({ length: 80_000 }, (_, at) => at.toString(36)).join(' ')
    expect((await send(coding, encoders[coding](JSON.stringify({ model: 'small', input: dense.repeat(3) })))).status).toBe(200)
  })

  test.each(codings)('in %s is refused if anything follows its end', async coding => {
    const send = await open()
    const whole = encoders[coding](body)
    const trailing = await send(coding, Buffer.concat([whole, Buffer.from('more')]))
    expect([trailing.status, await trailing.json()]).toMatchObject([
      400,
      { error: { message: `The request body is not valid ${coding}.` } },
    ])
    if (coding !== 'gzip') expect((await send(coding, Buffer.concat([whole, encoders[coding](body)]))).status).toBe(400)
  })

  test('in another coding is 415, which names what is read', async () => {
    const send = await open()
    const reply = await send('compress', Buffer.from(body))
    expect([reply.status, reply.headers.get('accept-encoding')]).toEqual([415, [...codings, 'identity'].join(', ')])
    expect(await reply.json()).toMatchObject({ error: { message: expect.stringContaining(`Send one of ${codings.join(', ')}`) } })
  })
})
