import fc from 'fast-check'
import { expect, test } from 'vitest'
import { deleteEntry, entryOf, setEntry, sizeOf, smallMap, valuesOf } from './small-map.ts'

test('it has the entries of a Map, in their order until one is deleted', () => {
  const step = fc.record({ key: fc.nat({ max: 4 }), value: fc.nat(), isDeleted: fc.boolean() })
  fc.assert(
    fc.property(fc.array(step), fc.boolean(), (steps, canDelete) => {
      const [small, map] = [smallMap<number, number>(), new Map<number, number>()]
      for (const { key, value, isDeleted } of steps)
        if (isDeleted && canDelete) {
          deleteEntry(small, key)
          map.delete(key)
        } else {
          setEntry(small, key, value)
          map.set(key, value)
        }
      for (let key = 0; key <= 4; key += 1) expect(entryOf(small, key)).toBe(map.get(key))
      expect(sizeOf(small)).toBe(map.size)
      const values = [...map.values()]
      if (canDelete) expect(valuesOf(small).toSorted()).toEqual(values.toSorted())
      else expect(valuesOf(small)).toEqual(values)
    }),
  )
})
