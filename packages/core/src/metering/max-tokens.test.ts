import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { encode as cl100k } from 'gpt-tokenizer/encoding/cl100k_base'
import { encode as o200k } from 'gpt-tokenizer/encoding/o200k_base'
import { expect, test } from 'vitest'
import { anyCharacter } from '../../../dialects/test/any-character.ts'
import { bytesOfText, likelyTokensOfText, maxTokensOfText } from './max-tokens.ts'

const source = readFileSync(new URL('./meter.ts', import.meta.url), 'utf8')
const page = readFileSync(new URL('../../../../docs/security.md', import.meta.url), 'utf8')
const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
const some = (count: number, from: number, range: number): string =>
  Array.from({ length: count }, (_, at) => String.fromCodePoint(from + ((at * 7_919) % range))).join('')

test.each([
  ['English prose', page],
  ['code', source],
  ['JSON', manifest],
  [
    'German',
    'Ein Stellwerk ist eine Bahnanlage zum Stellen von Weichen und Signalen. Fällt etwas aus, so zeigt das Signal Halt. '.repeat(9),
  ],
  ['Russian', 'Централизация стрелок и сигналов управляет движением поездов на станции. '.repeat(9)],
  ['Japanese', '信号扱所は、列車の運行を制御する建物である。今日では、すべてが電子化されている。'.repeat(9)],
  ['Chinese', '信号楼是铁路上用来控制道岔和信号的建筑。如今一切由计算机完成。'.repeat(9)],
  ['Korean', '신호소는 열차의 운행을 제어하는 건물이다. 오늘날에는 모든 것이 전자화되어 있다. '.repeat(9)],
  ['Arabic', 'صندوق الإشارات هو مبنى يتم من خلاله التحكم في حركة القطارات. '.repeat(9)],
  ['emoji', '😀😂🎉👍🔥👨‍👩‍👧‍👦'.repeat(50)],
])('the hold for %s is at least the larger count of two tokenizers, and at max four times it', (_, text) => {
  const max = maxTokensOfText(text)
  expect(max).toBeGreaterThanOrEqual(Math.max(o200k(text).length, cl100k(text).length))
  expect(max).toBeLessThanOrEqual(4 * o200k(text).length)
})

test.each([
  ['rare Chinese', some(2_000, 0x4e00, 20_900)],
  ['Chinese of an extension', some(2_000, 0x3400, 6_500)],
  ['rare emoji', some(2_000, 0x1f300, 0x300)],
  ['rare Korean', some(2_000, 0xac00, 11_000)],
  ['phonetic letters', some(2_000, 0x250, 0x60)],
  ['digits apart', '1 2 3 4 5 6 7 8 9 0 '.repeat(100)],
  ['a list of digits', JSON.stringify(Array.from({ length: 1_000 }, (_, at) => at % 10))],
  ['hexadecimal', Array.from({ length: 500 }, (_, at) => ((at * 2_654_435_761) % 2 ** 32).toString(16)).join('')],
  ['punctuation', some(2_000, 0x21, 15)],
])('the hold for %s, where each character may be a token or more, is higher than for prose', (_, text) => {
  expect(maxTokensOfText(text)).toBeGreaterThanOrEqual(0.8 * o200k(text).length)
})

test.each([
  ['English prose', page],
  ['code', source],
  ['JSON', manifest],
  ['Chinese', '信号楼是铁路上用来控制道岔和信号的建筑。如今一切由计算机完成。'.repeat(9)],
  ['Korean', '신호소는 열차의 운행을 제어하는 건물이다. 오늘날에는 모든 것이 전자화되어 있다. '.repeat(9)],
  ['Hindi', 'सिग्नल बॉक्स एक इमारत है जहाँ से ट्रेनों की आवाजाही को नियंत्रित किया जाता है। '.repeat(9)],
  ['emoji', '😀😂🎉👍🔥'.repeat(50)],
])('the estimated usage of %s is near a tokenizer’s count', (_, text) => {
  expect(likelyTokensOfText(text) / o200k(text).length).toBeGreaterThan(0.8)
  expect(likelyTokensOfText(text) / o200k(text).length).toBeLessThan(1.35)
})

test('the hold for base64 is higher than for prose', () => {
  const text = Buffer.from(Uint8Array.from({ length: 6_000 }, (_, at) => (at * at * 31 + at * 7_919) % 251)).toString('base64')
  expect(maxTokensOfText(text)).toBeGreaterThanOrEqual(0.8 * o200k(text).length)
})

test('no text has more tokens than bytes, and bytes are counted as an encoder counts them', () => {
  const encoder = new TextEncoder()
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 200 }), text => {
      expect(bytesOfText(text)).toBe(encoder.encode(text).length)
      expect(o200k(text).length).toBeLessThanOrEqual(Math.max(1, bytesOfText(text)))
    }),
  )
  expect(bytesOfText('a\ud800b')).toBeGreaterThanOrEqual(encoder.encode('a\ud800b').length - 1)
})

test('the hold grows with the text', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), fc.string({ unit: anyCharacter }), (text, more) => {
      expect(maxTokensOfText(text + more)).toBeGreaterThanOrEqual(maxTokensOfText(text))
    }),
  )
})
