import { expect, test } from 'vitest'
import { base64Of, mediaTypeOf } from './media.ts'

test.each([
  ['image/png', undefined, 'image/png'],
  ['image', 'iVBORw0KGgoAAAA', 'image/png'],
  ['image/*', '/9j/4AAQ', 'image/jpeg'],
  ['image', 'R0lGODlh', 'image/gif'],
  ['image', btoa('RIFF0000WEBPVP8 '), 'image/webp'],
  ['audio', btoa('RIFF0000WAVEfmt '), 'audio/wav'],
  ['application', 'JVBERi0xLjc', 'application/pdf'],
  ['text', 'SGVsbG8', 'text/plain'],
  // The bytes contradict the declared kind.
  ['audio', 'iVBORw0KGgo', 'audio/wav'],
  ['image', undefined, 'image/png'],
  ['image', 'UklGR!!!!!!!!!!!!', 'image/png'],
])('%s with the bytes %s is %s', (declared, data, mediaType) => {
  expect(mediaTypeOf(declared, data)).toBe(mediaType)
})

test('bytes of any length become base64', () => {
  for (const length of [0, 1, 2, 3, 0x8000, 0x8001, 100_000]) {
    const bytes = Uint8Array.from({ length }, (_, at) => at % 256)
    expect(base64Of(bytes)).toBe(Buffer.from(bytes).toString('base64'))
  }
})
