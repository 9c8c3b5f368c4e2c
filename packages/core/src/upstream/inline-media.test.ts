import { GatewayError } from '@signalbox/dialects/errors'
import type { InferenceRequest, Part } from '@signalbox/dialects/protocol'
import { describe, expect, test } from 'vitest'
import type { ClaimMemory, MediaReader } from '../runtime/ports.ts'
import { inlineMedia, type MediaToRead } from './inline-media.ts'

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
  expect(await inlineMedia(request, { kinds, read: bytes, signal })).toMatchObject({ ok: true, request, bytes: 0 })
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

/** Counts claims, of which those not released are above 0. */
const claimsOf =
  (claims: number[]): ClaimMemory =>
  bytes => {
    const at = claims.push(bytes) - 1
    return () => {
      claims[at] = 0
    }
  }

test('what is put into a request counts as often as it is named, and is claimed before it is encoded', async () => {
  const named = (times: number) => requestWith(...Array.from({ length: times }, () => image('https://a.example/1')))
  const limits: number[] = []
  const claims: number[] = []
  const read: MediaReader = async (_, { maxBytes }) => {
    limits.push(maxBytes)
    return { ok: true, mediaType: 'image/png', base64: 'A'.repeat(1_000_000) }
  }
  const options = { kinds, read, signal, claimMemory: claimsOf(claims) }
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

describe('the memory of an image', () => {
  const mebibyte = 1_048_576
  const namedTwice = requestWith(image('https://a.example/1'))

  /** A server that sends a mebibyte at a time: each call sends one and tells whether it was wanted. */
  function slowServer() {
    const claims: number[] = []
    const held = (): number => claims.reduce((sum, bytes) => sum + bytes, 0)
    let arrived = 0
    let send = (): boolean => false
    let end = (_ok: boolean): void => {}
    const read: MediaReader = (_, { onBytes }) => {
      send = () => {
        arrived += mebibyte
        return onBytes(arrived)
      }
      return new Promise(resolve => {
        end = ok => resolve(ok ? { ok, mediaType: 'image/png', base64: 'A'.repeat((arrived / 3) * 4) } : { ok, why: 'it broke off' })
      })
    }
    const options: MediaToRead = { kinds, read, signal, claimMemory: claimsOf(claims) }
    return { options, claims, held, send: () => send(), end: (ok: boolean) => end(ok) }
  }

  test('is claimed while its bytes arrive, for each place where it is named, and released when the request is', async () => {
    const { options, held, send, end } = slowServer()
    const inlining = inlineMedia(namedTwice, options)
    const seen = [1, 2, 3].map(() => [send(), held()])
    const most = (count: number) => 2 * 4 * Math.ceil((count * mebibyte) / 3)
    expect(seen).toEqual([1, 2, 3].map(count => [true, most(count)]))
    end(true)
    const inlined = await inlining
    if (!inlined.ok) throw new Error(inlined.why)
    expect(held()).toBeGreaterThanOrEqual(inlined.bytes)
    inlined.release()
    expect([held(), send()]).toEqual([0, false])
  })

  test('is released if its download fails', async () => {
    const { options, held, send, end } = slowServer()
    const inlining = inlineMedia(namedTwice, options)
    expect([send(), held() > 0]).toEqual([true, true])
    end(false)
    expect(await inlining).toMatchObject({ ok: false })
    expect(held()).toBe(0)
  })

  test('is refused in the middle of its download, and what was claimed is released', async () => {
    const { options, claims, held, send, end } = slowServer()
    const full = new GatewayError('service_unavailable', { message: 'Wait for one to finish.' })
    const claimMemory: ClaimMemory = bytes => {
      if (claims.length === 2) throw full
      return claimsOf(claims)(bytes)
    }
    const inlining = inlineMedia(namedTwice, { ...options, claimMemory })
    expect([send(), send(), send(), send()]).toEqual([true, true, false, false])
    end(false)
    expect(await inlining).toEqual({ ok: false, why: full.message, refusal: full })
    expect(held()).toBe(0)
  })

  test('is claimed in large steps if it arrives byte by byte', async () => {
    const claims: number[] = []
    const read: MediaReader = async (_, { onBytes }) => {
      for (let bytes = 1; bytes <= 100_000; bytes++) onBytes(bytes)
      return { ok: true, mediaType: 'image/png', base64: 'AAAA' }
    }
    await inlineMedia(namedTwice, { kinds, read, signal, claimMemory: claimsOf(claims) })
    expect(claims.length).toBe(Math.ceil((2 * 133_336) / 65_536))
  })
})
