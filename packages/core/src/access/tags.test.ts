import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyCharacter } from '../../../dialects/test/any-character.ts'
import { isTag, maxTagLength, maxTags, tagsOf } from './tags.ts'

test("a request has its caller's tags first, then those of its metadata, without duplicates", () => {
  expect(tagsOf({ tags: ['plan:pro', 'eu'] }, { tags: 'search, eu,,beta' })).toEqual(['plan:pro', 'eu', 'search', 'beta'])
  expect(tagsOf({}, { tags: ' , ' })).toBeUndefined()
  expect(tagsOf({}, undefined)).toBeUndefined()
})

test('for any metadata, the number of tags is limited, each tag is valid, and the caller’s tags are all kept', () => {
  const tag = fc.string({ unit: anyCharacter, minLength: 1, maxLength: 80 }).filter(isTag)
  const text = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.array(fc.string({ maxLength: 80 })).map(tags => tags.join(',')),
  )
  fc.assert(
    fc.property(fc.uniqueArray(tag, { maxLength: maxTags }), text, (tags, named) => {
      const all = tagsOf({ tags }, { tags: named }) ?? []
      expect(all.slice(0, tags.length)).toEqual(tags)
      expect(all.length).toBeLessThanOrEqual(maxTags)
      expect(all.every(isTag)).toBe(true)
      expect(new Set(all).size).toBe(all.length)
    }),
  )
})

test('a tag is not empty, too long, broken, or two names in one', () => {
  const wrong = ['', ' a', 'a ', 'a,b', 'a\nb', '\0', '\ud800', 'x'.repeat(maxTagLength + 1), 7, undefined]
  for (const text of wrong) expect(isTag(text)).toBe(false)
  for (const text of ['a', 'plan:pro', 'zwei Wörter', 'x'.repeat(maxTagLength)]) expect(isTag(text)).toBe(true)
})
