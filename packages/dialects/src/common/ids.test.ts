import { expect, test } from 'vitest'
import { callIdFor, usableCallId } from './ids.ts'

test('a call keeps its id, unless it is blank or taken', () => {
  const taken = new Set<string>()
  expect(callIdFor(taken, 'call_1', ['answer', 0])).toBe('call_1')
  const [again, blank] = [callIdFor(taken, 'call_1', ['answer', 1]), callIdFor(taken, '', ['answer', 2])]
  expect(new Set(['call_1', again, blank]).size).toBe(3)
  expect([...taken]).toEqual(['call_1', again, blank])
})

test('an id that is too long to be looked up is replaced by a new one', () => {
  const [long, longer] = ['i'.repeat(4_096), 'i'.repeat(4_097)]
  expect(callIdFor(new Set(), long, ['answer', 0])).toBe(long)
  expect(callIdFor(new Set(), longer, ['answer', 0])).toMatch(/^call_[0-9a-z]{21}$/)
  expect([usableCallId(long), usableCallId(longer)]).toEqual([long, ''])
})
