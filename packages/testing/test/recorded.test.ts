import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { cuts } from '../src/chunkings.ts'
import { asSse, isSse, recordings } from '../src/recorded.ts'
import { replayProvider } from '../src/replay-provider.ts'
import { rawExchange, requestText, unchunk } from './raw-client.ts'

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString()

describe('recordings of any folder', () => {
  let folder = ''
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'recordings-'))
    mkdirSync(join(folder, 'acme'))
    const write = (name: string, body: string): void => writeFileSync(join(folder, 'acme', name), body)
    write('talk.chunks.txt', '{"object":"chat.completion.chunk","choices":[]}\n{"object":"chat.completion.chunk","choices":[{}]}\n')
    write('talk.json', '{"object":"chat.completion","choices":[]}')
    write('answer.1.chunks.txt', '{"type":"response.created","response":{}}\n{"type":"response.completed","response":{}}')
    write('claude.chunks.txt', '{"type":"message_start"}\n{"type":"message_stop"}')
    write('raw.sse', 'data: {"choices":[]}\r\n\r\n')
    write('aws.chunks.txt', '{"messageStart":{"role":"assistant"}}')
    write('notes.md', 'not a recording')
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  const find = (name: string) => recordings(folder).all.find(recording => recording.name === name) ?? expect.fail(name)

  test('are listed by vendor, the parts of one call together', () => {
    const { byVendor, missing } = recordings(folder)
    expect(missing).toBeUndefined()
    expect(Object.keys(byVendor)).toEqual(['acme'])
    expect(byVendor.acme?.map(({ name, dialect }) => [name, dialect])).toEqual([
      ['answer.1', 'responses'],
      ['aws', 'bedrock'],
      ['claude', 'messages'],
      ['raw', 'chat'],
      ['talk', 'chat'],
    ])
    expect(find('talk')).toMatchObject({ chunks: [expect.any(String), expect.any(String)], whole: { object: 'chat.completion' } })
  })

  test('are framed as the vendor frames them', () => {
    expect(text(asSse(find('talk')))).toBe(
      'data: {"object":"chat.completion.chunk","choices":[]}\n\ndata: {"object":"chat.completion.chunk","choices":[{}]}\n\ndata: [DONE]\n\n',
    )
    expect(text(asSse(find('answer.1')))).toMatch(/^event: response\.created\ndata: .*\n\nevent: response\.completed\ndata: .*\n\n$/)
    expect(text(asSse(find('claude')))).toMatch(/^event: message_start\ndata: /)
    expect(text(asSse(find('raw')))).toBe('data: {"choices":[]}\r\n\r\n')
    expect(isSse(find('aws'))).toBe(false)
    expect(() => asSse(find('aws'))).toThrow(/acme\/aws/)
  })

  test('can be replayed by a real server, in any chunks', async () => {
    const bytes = asSse(find('talk'))
    const [pieces = []] = cuts(bytes, { max: 1 })
    const server = await replayProvider(find('talk'), { pieces })
    try {
      const streamed = await rawExchange(server.port, requestText('/v1/chat/completions', { model: 'any', stream: true }))
      expect(unchunk(streamed.body)).toBe(text(bytes))
      const whole = await rawExchange(server.port, requestText('/v1/chat/completions', { model: 'any' }))
      expect(JSON.parse(whole.body)).toEqual({ object: 'chat.completion', choices: [] })
    } finally {
      await server.close()
    }
  })
})

test('a missing folder is reported, not thrown', () => {
  const { all, missing } = recordings('/nowhere/at/all')
  expect(all).toEqual([])
  expect(missing).toContain('/nowhere/at/all')
})

const shared = recordings()
if (!shared.missing)
  describe('the recordings at hand', () => {
    test('all have a dialect and content', () => {
      expect(shared.all.length).toBeGreaterThan(40)
      for (const { dialect, chunks, bytes, whole } of shared.all) {
        expect(dialect).toBeTruthy()
        expect(chunks ?? bytes ?? whole).toBeDefined()
      }
      expect(new Set(shared.all.map(({ dialect }) => dialect))).toEqual(
        new Set(['responses', 'chat', 'completions', 'messages', 'gemini', 'bedrock', 'error']),
      )
    })

    test('have one payload a line, with its name if the dialect names its events', () => {
      for (const recording of shared.all.filter(isSse)) {
        const framed = text(asSse(recording))
        if (!recording.bytes) expect(framed.endsWith('\n\n')).toBe(true)
        expect(framed.startsWith('event: ')).toBe(
          recording.bytes === undefined && (recording.dialect === 'responses' || recording.dialect === 'messages'),
        )
      }
    })
  })

describe('chunkings', () => {
  const glue = (pieces: readonly Uint8Array[]): string => Buffer.concat(pieces).toString()

  test('every single split of a short text', () => {
    const bytes = Buffer.from('abcd')
    expect([...cuts(bytes)].map(pieces => pieces.map(text))).toEqual([
      ['a', 'bcd'],
      ['ab', 'cd'],
      ['abc', 'd'],
    ])
  })

  test('as many as requested, spread over the whole', () => {
    const points = [...cuts(Buffer.alloc(10_001), { max: 10 })].map(([first]) => first?.length)
    expect(points).toEqual([1, 1001, 2001, 3001, 4001, 5001, 6001, 7001, 8001, 9001])
  })

  test('seeded pieces of a long text, the same each time', () => {
    const bytes = Buffer.from('0123456789'.repeat(10_000))
    const once = [...cuts(bytes, { max: 20, seed: 7 })]
    expect(once).toHaveLength(20)
    for (const pieces of once) {
      expect(glue(pieces)).toBe(bytes.toString())
      expect(pieces.length).toBeGreaterThan(1)
    }
    expect([...cuts(bytes, { max: 20, seed: 7 })].map(pieces => pieces.length)).toEqual(once.map(pieces => pieces.length))
  })
})
