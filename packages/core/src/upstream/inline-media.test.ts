import { GatewayError } from '@signalbox/dialects/errors'
import type { InferenceRequest, Part } from '@signalbox/dialects/protocol'
import { expect, test } from 'vitest'
import type { MediaReader } from '../runtime/ports.ts'
import { inlineMedia } from './inline-media.ts'

const { signal } = new AbortController()
const requestWith = (...content: readonly Part[]): InferenceRequest => ({
  prompt: {
    input: [
      { type: 'message', role: 'user', content },
      { type: 'function_call_output', call_id: 'c', output: content },
    ],
  },
  routing: { models: ['m'], allow_fallbacks: true },
  delivery: 'whole',
})
const image = (url: string): Part => ({ type: 'image', url })
const kinds = ['image', 'file'] as const
const bytes: MediaReader = async () => ({ ok: true, mediaType: 'image/png', base64: 'AAAA' })

test('the bytes at a URL replace it, in messages and in tool results', async () => {
  const inlined = await inlineMedia(requestWith({ type: 'text', text: 'Look' }, image('https://a.example/1.png')), {
    kinds,
    read: bytes,
    signal,
  })
  const here = [{ type: 'text', text: 'Look' }, image('data:image/png;base64,AAAA')]
  expect(inlined).toMatchObject({ ok: true, request: { prompt: { input: [{ content: here }, { output: here }] } } })
})

test('a URL is read once, however often it occurs', async () => {
  const read: string[] = []
  await inlineMedia(requestWith(image('https://a.example/1'), image('https://a.example/2'), image('https://a.example/1')), {
    kinds,
    read: async (url, wanted) => {
      read.push(url)
      return bytes(url, wanted)
    },
    signal,
  })
  expect(read).toEqual(['https://a.example/1', 'https://a.example/2'])
})

test('a request without URLs is returned as the same object', async () => {
  const request = requestWith(image('data:image/png;base64,AAAA'))
  expect(await inlineMedia(request, { kinds, read: bytes, signal })).toEqual({ ok: true, request, bytes: 0 })
  const inlined = await inlineMedia(request, { kinds, read: bytes, signal })
  expect(inlined.ok && inlined.request).toBe(request)
})

test('all bytes read count against one limit', async () => {
  const limits: number[] = []
  const large = 'A'.repeat(4_000_000)
  await inlineMedia(requestWith(image('https://a.example/1'), image('https://a.example/2')), {
    kinds,
    read: async (_, { maxBytes }) => {
      limits.push(maxBytes)
      return { ok: true, mediaType: 'image/png', base64: large }
    },
    signal,
  })
  // Each is named in a message and in a tool result.
  expect(limits).toEqual([10 * 1024 * 1024, 10 * 1024 * 1024 - 3_000_000])
})

test('a URL that cannot be read is reported, and so is too much content', async () => {
  const refusing: MediaReader = async () => ({ ok: false, why: 'it is gone' })
  expect(await inlineMedia(requestWith(image('https://a.example/1')), { kinds, read: refusing, signal })).toMatchObject({
    ok: false,
    why: expect.stringContaining('it is gone'),
  })
  const many = Array.from({ length: 21 }, (_, at) => image(`https://a.example/${at}`))
  expect(await inlineMedia(requestWith(...many), { kinds, read: bytes, signal })).toMatchObject({ ok: false })
  const long = image(`https://a.example/${'a'.repeat(8_192)}`)
  expect(await inlineMedia(requestWith(long), { kinds, read: bytes, signal })).toMatchObject({
    ok: false,
    why: expect.stringContaining('8192'),
  })
})

test('what is put into a request counts as often as it is named, and is claimed before it is encoded', async () => {
  const named = (times: number) => requestWith(...Array.from({ length: times }, () => image('https://a.example/1')))
  const limits: number[] = []
  const claims: number[] = []
  const read: MediaReader = async (_, { maxBytes }) => {
    limits.push(maxBytes)
    return { ok: true, mediaType: 'image/png', base64: 'A'.repeat(1_000_000) }
  }
  const options = { kinds, read, signal, claimMemory: (size: number) => void claims.push(size) }
  expect(await inlineMedia(named(10), options)).toMatchObject({ ok: true, bytes: 20 * (1_000_000 + 'data:image/png;base64,'.length) })
  expect([limits, claims]).toEqual([[Math.floor((20 * 1024 * 1024) / 20)], [20 * 1_000_022]])
  expect(await inlineMedia(named(51), options)).toEqual({
    ok: false,
    why: 'The request names images and files at URLs 102 times; the limit is 100.',
  })
  expect(await inlineMedia(named(40), options)).toMatchObject({
    ok: false,
    why: expect.stringContaining('more than 20971520 bytes together'),
  })
  const full = new GatewayError('concurrent_requests_exceeded', { message: 'Wait for one to finish.' })
  const refusing = {
    ...options,
    claimMemory: () => {
      throw full
    },
  }
  expect(await inlineMedia(named(1), refusing)).toEqual({ ok: false, why: 'Wait for one to finish.', refusal: full })
})
