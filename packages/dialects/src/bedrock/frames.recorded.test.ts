import { describe, expect, test } from 'vitest'
import { bedrockRecordings } from '../../test/bedrock-wire.ts'
import type { Frame } from '../protocol/wire.ts'
import { readEventStream } from './frames.ts'

const readAll = (pieces: readonly Uint8Array[]): readonly Frame[] => {
  const reader = readEventStream()
  return [...pieces.flatMap(piece => reader.push(piece)), ...reader.end()]
}

describe('recorded streams in the AWS framing', () => {
  test.each(bedrockRecordings)('$name: are read as they were written', ({ bytes, frames }) => {
    expect(readAll([bytes])).toEqual(frames)
  })

  test.each(bedrockRecordings)('$name: are the same however the bytes are split', ({ bytes, frames }) => {
    const expected = JSON.stringify(frames)
    for (let cut = 1; cut < bytes.length; cut += 1) {
      const found = JSON.stringify(readAll([bytes.subarray(0, cut), bytes.subarray(cut)]))
      if (found !== expected) expect({ cut, found }).toEqual({ cut, found: expected })
    }
  })

  test.each(bedrockRecordings)('$name: are the same byte by byte', ({ bytes, frames }) => {
    expect(readAll([...bytes].map(byte => Uint8Array.of(byte)))).toEqual(frames)
  })
})
