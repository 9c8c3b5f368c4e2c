import { fromBase64Url, toBase64Url } from '@signalbox/dialects/common'
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { anyCharacter } from '../../../dialects/test/any-character.ts'
import { keyBytes, makeKeyRing, type Purpose, type SealContext } from './seal.ts'

const key = fc.uint8Array({ minLength: keyBytes, maxLength: keyBytes })
const text = fc.string({ unit: anyCharacter })
const of = (workspaceId: string, purpose: Purpose = 'reasoning state'): SealContext => ({ purpose, workspaceId, bound: workspaceId })

test('sealed text opens unchanged for the same workspace', async () => {
  await fc.assert(
    fc.asyncProperty(key, text, text, async (bytes, words, workspace) => {
      const ring = makeKeyRing(() => [bytes])
      expect(await ring.open(await ring.seal(words, of(workspace)), of(workspace))).toBe(words)
    }),
    { examples: [[new Uint8Array(keyBytes), '\ufeffmarked', '']] },
  )
})

test('it does not open for any other', async () => {
  await fc.assert(
    fc.asyncProperty(key, key, fc.tuple(text, text, text), async (bytes, others, [words, workspace, stranger]) => {
      const sealed = await makeKeyRing(() => [bytes]).seal(words, of(workspace))
      const isOther = bytes.some((byte, at) => byte !== others[at])
      if (isOther) expect(await makeKeyRing(() => [others]).open(sealed, of(workspace))).toBeUndefined()
      if (workspace !== stranger) expect(await makeKeyRing(() => [bytes]).open(sealed, of(stranger))).toBeUndefined()
    }),
  )
})

test('changing any single bit makes it fail to open', async () => {
  await fc.assert(
    fc.asyncProperty(key, text, fc.nat(), async (bytes, words, place) => {
      const ring = makeKeyRing(() => [bytes])
      const [format, ...sealed] = (await ring.seal(words, of('w'))).split('.')
      const parts = sealed.map(part => fromBase64Url(part) ?? new Uint8Array())
      const whole = parts.reduce((sum, { length }) => sum + length, 0)
      let at = place % (whole * 8)
      for (const part of parts) {
        const bit = at
        at -= part.length * 8
        if (bit < 0 || bit >= part.length * 8) continue
        part[bit >> 3] = (part[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      }
      expect(await ring.open([format, ...parts.map(part => toBase64Url(part))].join('.'), of('w'))).toBeUndefined()
    }),
  )
})

test('no text at all makes it throw', async () => {
  const ring = makeKeyRing(() => [new Uint8Array(keyBytes)])
  const sealed = await ring.seal('words', of('w'))
  await fc.assert(
    fc.asyncProperty(text, async words => {
      expect(await ring.open(words, of('w'))).toBeUndefined()
    }),
  )
  for (const wrong of ['', '..', '...', `${sealed}.`, sealed.slice(0, -1), sealed.replaceAll('.', '-'), `${sealed}A`])
    expect(await ring.open(wrong, of('w'))).toBeUndefined()
})

test('the first key of a ring seals, and each of them opens', async () => {
  const [old, fresh] = [new Uint8Array(keyBytes).fill(1), new Uint8Array(keyBytes).fill(2)]
  const [before, after] = [makeKeyRing(() => [old]), makeKeyRing(() => [fresh, old])]
  expect(await after.open(await before.seal('words', of('w')), of('w'))).toBe('words')
  expect(await makeKeyRing(() => [fresh]).open(await after.seal('words', of('w')), of('w'))).toBe('words')
})

test('sealing the same text twice gives different results', async () => {
  const ring = makeKeyRing(() => [new Uint8Array(keyBytes)])
  const sealed = await Promise.all(Array.from({ length: 100 }, () => ring.seal('words', of('w'))))
  expect(new Set(sealed.map(each => each.split('.')[2])).size).toBe(100)
})

test('each purpose and each workspace has its own key, so text sealed for one opens for no other', async () => {
  const ring = makeKeyRing(() => [new Uint8Array(keyBytes).fill(7)])
  const sealed = await ring.seal('words', { ...of('w'), bound: 'same' })
  for (const other of [{ workspaceId: 'x' }, { purpose: 'provider key' as const }])
    expect(await ring.open(sealed, { ...of('w'), bound: 'same', ...other })).toBeUndefined()
  expect(await ring.open(sealed, { ...of('w'), bound: 'same' })).toBe('words')
})

test('text sealed before keys were derived still opens, and is not the newest', async () => {
  const ring = makeKeyRing(() => [new Uint8Array(keyBytes).fill(7)])
  const old = 'S7Bvjk46.AwMDAwMDAwMDAwMD.UpHRZymTJ426DdIGsEspJ_XkFyej'
  expect(await ring.open(old, of('w'))).toBe('words')
  expect(await ring.open(old, of('x'))).toBeUndefined()
  expect(await ring.isNewest(old)).toBe(false)
  expect(await ring.isNewest(await ring.seal('words', of('w')))).toBe(true)
  // Without its format prefix, text sealed with a derived key must not open as the old format.
  expect(await ring.open((await ring.seal('words', of('w'))).slice(2), of('w'))).toBeUndefined()
})

test('a key is derived once for its purpose and workspace, however often it is used', async () => {
  const derive = vi.spyOn(crypto.subtle, 'deriveKey')
  const ring = makeKeyRing(() => [new Uint8Array(keyBytes).fill(7)])
  for (let at = 0; at < 10; at++) expect(await ring.open(await ring.seal('words', of('w')), of('w'))).toBe('words')
  expect(derive).toHaveBeenCalledTimes(1)
  derive.mockRestore()
})

test('a signature is valid only for its text, purpose, workspace and key, and a key that is not on the ring is reported', async () => {
  const [old, fresh] = [new Uint8Array(keyBytes).fill(1), new Uint8Array(keyBytes).fill(2)]
  const place = { purpose: 'audit', workspaceId: 'w' } as const
  const signed = await makeKeyRing(() => [old]).sign('text', place)
  const both = makeKeyRing(() => [fresh, old])
  expect(await both.verify('text', signed, place)).toBe('holds')
  expect(await both.verify('texts', signed, place)).toBe('fails')
  expect(await both.verify('text', signed, { ...place, workspaceId: 'x' })).toBe('fails')
  expect(await both.verify('text', signed, { ...place, purpose: 'provider key' })).toBe('fails')
  expect(await both.verify('text', `${signed.slice(0, -2)}AA`, place)).toBe('fails')
  expect(await both.verify('text', signed.slice(0, 9), place)).toBe('fails')
  expect(await makeKeyRing(() => [fresh]).verify('text', signed, place)).toBe('unknown')
  expect(await both.verify('text', '', place)).toBe('unknown')
})

test('a ring reads its keys once, on first use', async () => {
  let asked = 0
  const ring = makeKeyRing(() => {
    asked += 1
    return [new Uint8Array(keyBytes)]
  })
  expect(asked).toBe(0)
  await ring.open(await ring.seal('words', of('w')), of('w'))
  expect(asked).toBe(1)
})

test('base64url is decoded byte for byte, and is safe in a URL', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 20_000 }), bytes => {
      const written = toBase64Url(bytes)
      expect(written).toMatch(/^[\w-]*$/)
      expect([...(fromBase64Url(written) ?? [])]).toEqual([...bytes])
    }),
  )
})
