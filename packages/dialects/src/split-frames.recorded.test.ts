import { describe, expect, inject, test } from 'vitest'
import { recordings } from '../test/recordings.ts'
import type { Frame } from './protocol/wire.ts'
import { readFrames } from './sse/read.ts'

// Decoders see frames, never bytes, so decoding cannot depend on how bytes were split if the frames do not. After a complete frame the
// reader holds nothing, so each split only has to be tried within its frame. That way every split of every recording is tried in linear
// time instead of quadratic.

const framesOf = (pieces: readonly Uint8Array[]): readonly Frame[] => {
  const reader = readFrames()
  return [...pieces.flatMap(piece => reader.push(piece)), ...reader.end()]
}

const near = 300
/** The default run tries a sixteenth of the splits, different ones in each frame, plus those inside multi-byte characters and near line ends. */
const stride = inject('isLongRun') ? 1 : 16

/** Whether a split is far from the frame's ends, line ends and multi-byte characters. */
function isWithinPlainText(window: Uint8Array, cut: number): boolean {
  if (cut < near || cut > window.length - near) return false
  for (let at = cut - 4; at < cut + 4; at += 1) if ((window[at] ?? 0) >= 0x80 || (window[at] ?? 0) < 0x20) return false
  return true
}

const isPlain = (window: Uint8Array, cut: number): boolean =>
  [window[cut - 1] ?? 0, window[cut] ?? 0].every(byte => byte >= 0x20 && byte < 0x80)

describe('every recording split at every byte', () => {
  test.each(recordings.map(recording => [recording.name, recording] as const))('%s', (_, { text, frames }) => {
    const bytes = new TextEncoder().encode(text)
    const received: Frame[] = []
    let start = 0
    for (let end = 2; end <= bytes.length; end += 1) {
      if (end < bytes.length && !(bytes[end - 1] === 0x0a && bytes[end - 2] === 0x0a)) continue
      const window = bytes.subarray(start, end)
      const whole = framesOf([window])
      received.push(...whole)
      const expected = JSON.stringify(whole)
      for (let cut = 1; cut < window.length; cut += 1) {
        if (isWithinPlainText(window, cut) && cut % 211 !== 0) continue
        if ((start + cut) % stride !== 0 && isPlain(window, cut)) continue
        const found = JSON.stringify(framesOf([window.subarray(0, cut), window.subarray(cut)]))
        if (found !== expected) expect({ cut: start + cut, found }).toEqual({ cut: start + cut, found: expected })
      }
      start = end
    }
    expect(received).toEqual(frames)
  })

  test.each(recordings.map(recording => [recording.name, recording] as const))(
    '%s, in many pieces of seeded sizes',
    (_, { text, frames }) => {
      const bytes = new TextEncoder().encode(text)
      let seed = bytes.length
      for (let round = 0; round < Math.max(2, 20 / stride); round += 1) {
        const pieces: Uint8Array[] = []
        for (let at = 0; at < bytes.length; ) {
          seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
          const size = 1 + (seed % 2_000)
          pieces.push(bytes.subarray(at, at + size))
          at += size
        }
        expect(framesOf(pieces)).toEqual(frames)
      }
    },
  )
})
