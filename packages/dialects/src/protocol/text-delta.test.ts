import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { TextBuffer } from './text-delta.ts'

describe('a text buffer', () => {
  test('contains what was appended to it, however it was split', () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { maxLength: 400 }), pieces => {
        const buffer = new TextBuffer()
        for (const piece of pieces) buffer.append(piece)
        const whole = pieces.join('')
        expect([buffer.toString(), buffer.length, buffer.toString()]).toEqual([whole, whole.length, whole])
      }),
    )
  })

  test('keeps few pieces, however many arrive', () => {
    const buffer = new TextBuffer()
    for (let at = 0; at < 10_000; at++) buffer.append('a')
    expect(buffer.pieces.length).toBeLessThanOrEqual(64)
  })

  test('keeps a long text in few groups', () => {
    const buffer = new TextBuffer('begun ')
    for (let at = 0; at < 10_000; at++) buffer.append('word ')
    expect(buffer.groups.length).toBeLessThanOrEqual(12)
    expect(buffer.toString()).toBe(`begun ${'word '.repeat(10_000)}`)
    expect(buffer.groups.length).toBe(1)
  })
})
