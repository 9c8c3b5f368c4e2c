import fc from 'fast-check'
import { describe, expect, inject, test } from 'vitest'
import { maxTokensPerImage, tokensOfFile, tokensOfImage, tokensOfSound } from './count-blobs.ts'

const bytes = (...parts: readonly (string | readonly number[])[]): readonly number[] =>
  parts.flatMap(part => (typeof part === 'string' ? [...part].map(letter => letter.charCodeAt(0)) : part))
const big = (value: number, size: number): number[] => Array.from({ length: size }, (_, at) => (value >>> (8 * (size - 1 - at))) & 255)
const little = (value: number, size: number): number[] => big(value, size).reverse()
const url = (type: string, data: readonly number[]): string => `data:${type};base64,${btoa(String.fromCharCode(...data))}`
const rest = Array<number>(40).fill(0)

/** The first bytes of an image of every format, as their specifications say. */
const formats: Readonly<Record<string, (width: number, height: number) => string>> = {
  png: (w, h) => url('image/png', bytes('\x89PNG\r\n\x1a\n', big(13, 4), 'IHDR', big(w, 4), big(h, 4), rest)),
  gif: (w, h) => url('image/gif', bytes('GIF89a', little(w, 2), little(h, 2), rest)),
  jpeg: (w, h) =>
    url(
      'image/jpeg',
      bytes([0xff, 0xd8, 0xff, 0xe0, ...big(16, 2)], Array(14).fill(0), [0xff, 0xc2, ...big(17, 2), 8, ...big(h, 2), ...big(w, 2)], rest),
    ),
  'jpeg behind a preview of 60 kB': (w, h) =>
    url(
      'image/jpeg',
      bytes(
        [0xff, 0xd8, 0xff, 0xe1, ...big(60_001, 2)],
        Array(59_999).fill(7),
        [0xff, 0xc0, ...big(17, 2), 8, ...big(h, 2), ...big(w, 2)],
        rest,
      ),
    ),
  'webp, lossy': (w, h) =>
    url(
      'image/webp',
      bytes('RIFF', little(99, 4), 'WEBPVP8 ', little(80, 4), [0, 0, 0, 0x9d, 0x01, 0x2a], little(w, 2), little(h, 2), rest),
    ),
  'webp, lossless': (w, h) =>
    url('image/webp', bytes('RIFF', little(99, 4), 'WEBPVP8L', little(80, 4), [0x2f], little((w - 1) | ((h - 1) << 14), 4), rest)),
  'webp, extended': (w, h) =>
    url('image/webp', bytes('RIFF', little(99, 4), 'WEBPVP8X', little(10, 4), [0, 0, 0, 0], little(w - 1, 3), little(h - 1, 3), rest)),
}

describe.each(Object.entries(formats))('a %s', (_, image) => {
  test.each([
    [200, 200, 54],
    [750, 100, 100],
    [1_000, 1_000, 1_334],
    // Longer edges are scaled to 1,568 first.
    [3_136, 750, 784],
    [8_000, 8_000, maxTokensPerImage],
    [1, 1, 1],
  ])('of %d × %d pixels has its token count', (width, height, tokens) => {
    expect(tokensOfImage({ url: image(width, height) })).toBe(tokens)
  })
})

test('an image of unknown size counts as an average one; one with low detail counts little', () => {
  const unseen = tokensOfImage({ url: 'https://images.example/a.png' })
  expect(unseen).toBe(1_400)
  for (const odd of [
    '',
    'data:',
    'data:image/png;base64,',
    'data:image/png;base64,!!!!',
    url('image/svg+xml', bytes('<svg/>', rest)),
    url('image/png', bytes('\x89PNG')),
  ])
    expect(tokensOfImage({ url: odd })).toBe(unseen)
  expect(tokensOfImage({ url: formats.png?.(4_000, 4_000) ?? '', detail: 'low' })).toBe(85)
})

test('an image counts between one token and the maximum, whatever its bytes are', () => {
  const heads = fc.constantFrom('\x89PNG', 'GIF8', '\xff\xd8', 'RIFFxxxxWEBPVP8 ', 'RIFFxxxxWEBPVP8L', 'RIFFxxxxWEBPVP8X', '')
  fc.assert(
    fc.property(heads, fc.uint8Array({ maxLength: 200 }), (head, tail) => {
      const tokens = tokensOfImage({ url: url('image/any', bytes(head, [...tail])) })
      expect(Number.isSafeInteger(tokens) && tokens >= 1 && tokens <= maxTokensPerImage).toBe(true)
    }),
    { numRuns: inject('isLongRun') ? 2_000 : 200 },
  )
})

test('files and audio are counted by size', () => {
  const base64 = (length: number): string => 'A'.repeat(Math.ceil((length * 4) / 3))
  expect(tokensOfFile({ url: `data:application/pdf;base64,${base64(10_000)}` })).toBe(2_000)
  expect(tokensOfFile({ url: `data:application/pdf;base64,${base64(490_000)}` })).toBe(20_000)
  expect(tokensOfFile({ url: `data:text/plain;charset=utf-8;base64,${base64(4_000)}` })).toBe(1_000)
  expect(tokensOfFile({ url: 'https://files.example/a.pdf' })).toBe(2_000)
  expect(tokensOfSound({ data: base64(48_000 * 60), format: 'wav' })).toBe(1_500)
  expect(tokensOfSound({ data: base64(16_000 * 60), format: 'mp3' })).toBe(1_500)
})

test.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])(
  'audio of a format called %s counts like any unknown format',
  format => {
    expect(tokensOfSound({ data: 'A'.repeat(8_000), format })).toBe(tokensOfSound({ data: 'A'.repeat(8_000), format: 'opus' }))
  },
)
