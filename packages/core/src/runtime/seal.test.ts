import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fromBase64Url, toBase64Url } from './base64.ts'
import { keyBytes, makeKeyRing } from './seal.ts'

const key = fc.uint8Array({ minLength: keyBytes, maxLength: keyBytes })
const text = fc.string({ unit: 'binary' })

test('what was sealed opens again, for the same workspace, word for word', async () => {
  await fc.assert(
    fc.asyncProperty(key, text, text, async (bytes, words, workspace) => {
      const ring = makeKeyRing(() => [bytes])
      expect(await ring.open(await ring.seal(words, workspace), workspace)).toBe(words)
    }),
    { examples: [[new Uint8Array(keyBytes), '\ufeffmarked', '']] },
  )
})

test('it opens for nobody else', async () => {
  await fc.assert(
    fc.asyncProperty(key, key, fc.tuple(text, text, text), async (bytes, others, [words, workspace, stranger]) => {
      const sealed = await makeKeyRing(() => [bytes]).seal(words, workspace)
      const isOther = bytes.some((byte, at) => byte !== others[at])
      if (isOther) expect(await makeKeyRing(() => [others]).open(sealed, workspace)).toBeUndefined()
      if (workspace !== stranger) expect(await makeKeyRing(() => [bytes]).open(sealed, stranger)).toBeUndefined()
    }),
  )
})

test('one changed bit, in whatever place, and it stays shut', async () => {
  await fc.assert(
    fc.asyncProperty(key, text, fc.nat(), async (bytes, words, place) => {
      const ring = makeKeyRing(() => [bytes])
      const parts = (await ring.seal(words, 'w')).split('.').map(part => fromBase64Url(part) ?? new Uint8Array())
      const whole = parts.reduce((sum, { length }) => sum + length, 0)
      let at = place % (whole * 8)
      for (const part of parts) {
        const bit = at
        at -= part.length * 8
        if (bit < 0 || bit >= part.length * 8) continue
        part[bit >> 3] = (part[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      }
      expect(await ring.open(parts.map(part => toBase64Url(part)).join('.'), 'w')).toBeUndefined()
    }),
  )
})

test('no text at all makes it throw', async () => {
  const ring = makeKeyRing(() => [new Uint8Array(keyBytes)])
  const sealed = await ring.seal('words', 'w')
  await fc.assert(
    fc.asyncProperty(text, async words => {
      expect(await ring.open(words, 'w')).toBeUndefined()
    }),
  )
  for (const wrong of ['', '..', '...', `${sealed}.`, sealed.slice(0, -1), sealed.replaceAll('.', '-'), `${sealed}A`])
    expect(await ring.open(wrong, 'w')).toBeUndefined()
})

test('the first key of a ring seals, and each of them opens', async () => {
  const [old, fresh] = [new Uint8Array(keyBytes).fill(1), new Uint8Array(keyBytes).fill(2)]
  const [before, after] = [makeKeyRing(() => [old]), makeKeyRing(() => [fresh, old])]
  expect(await after.open(await before.seal('words', 'w'), 'w')).toBe('words')
  expect(await makeKeyRing(() => [fresh]).open(await after.seal('words', 'w'), 'w')).toBe('words')
})

test('the same words are sealed otherwise each time', async () => {
  const ring = makeKeyRing(() => [new Uint8Array(keyBytes)])
  const sealed = await Promise.all(Array.from({ length: 100 }, () => ring.seal('words', 'w')))
  expect(new Set(sealed.map(each => each.split('.')[1])).size).toBe(100)
})

test('a ring asks for its keys at first use, and once', async () => {
  let asked = 0
  const ring = makeKeyRing(() => {
    asked += 1
    return [new Uint8Array(keyBytes)]
  })
  expect(asked).toBe(0)
  await ring.open(await ring.seal('words', 'w'), 'w')
  expect(asked).toBe(1)
})

test('base64url is read back byte for byte, and fits into an address', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 20_000 }), bytes => {
      const written = toBase64Url(bytes)
      expect(written).toMatch(/^[\w-]*$/)
      expect([...(fromBase64Url(written) ?? [])]).toEqual([...bytes])
    }),
  )
})
