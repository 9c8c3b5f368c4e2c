import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { TextBuffer, textDelta } from '../protocol/text-delta.ts'
import { jsonText, SentText } from './stream-encoder.ts'

const deltas = fc.array(
  fc.record({ text: fc.string(), change: fc.constantFrom('none', 'none', 'none', 'shortened', 'dropped', 'replaced') }),
)

describe('the sent text of a part', () => {
  test('is what was sent, whatever the decoder has read since and however deltas were changed on the way', () => {
    fc.assert(
      fc.property(deltas, fc.boolean(), (pieces, isBatch) => {
        const sent = new SentText()
        const expected: string[] = []
        let source = new TextBuffer()
        const events = pieces.map(({ text, change }) => () => {
          if (change === 'replaced') source = new TextBuffer('another text')
          source.append(text)
          return { text, change, event: textDelta(0, { kind: 'text', part: 0, text }, source) }
        })
        const read = isBatch ? events.map(next => next()).map(event => () => event) : events
        for (const next of read) {
          const { text, change, event } = next()
          if (change === 'dropped') continue
          const isShortened = change === 'shortened'
          const words = isShortened ? text.slice(0, -1) : text
          sent.add(words, isShortened ? { ...event, delta: { kind: 'text', part: 0, text: words } } : event)
          expected.push(words)
        }
        expect([sent.toString(), sent.sent]).toEqual([expected.join(''), expected.join('').length])
      }),
    )
  })

  test('is kept once, by the decoder, while its deltas are unchanged', () => {
    const sent = new SentText()
    const source = new TextBuffer()
    for (const text of ['a', 'b', 'c']) {
      source.append(text)
      sent.add(text, textDelta(0, { kind: 'text', part: 0, text }, source))
    }
    expect(sent.buffer).toBe(source)
    sent.add('d')
    expect([sent.buffer === source, sent.toString(), source.length]).toEqual([false, 'abcd', 3])
  })
})

test('a text is written like JSON.stringify writes it, without its quotes', () => {
  const odd = ['', ' word', '"', '\\', '\n', '\u0000', '\u007f', '\u009f', '\u2028', '🚂', '\ud83d', 'a\ude82', '日本', '\ud83d"']
  const check = (text: string): void => {
    expect(`"${jsonText(text)}"`).toBe(JSON.stringify(text))
  }
  for (const text of odd) check(text)
  const unit = fc.integer({ min: 0, max: 0xffff }).map(code => String.fromCharCode(code))
  for (const texts of [fc.string({ unit: 'binary' }), fc.string({ unit })]) fc.assert(fc.property(texts, check))
})
