import { expect, test } from 'vitest'
import { countWith, countWithout } from './session-groups.ts'

const quarter = 900_000
const now = 1_000 * quarter

test('sessions are counted by the quarter of an hour in which they end', () => {
  const one = countWith(undefined, { expiresAt: now + 1, now })
  expect(one).toEqual({ ends: [[now + quarter, 1]] })
  const two = countWith(one, { expiresAt: now + quarter, now })
  expect(two).toEqual({ ends: [[now + quarter, 2]] })
  expect(countWith(two, { expiresAt: now + quarter + 1, now })).toEqual({
    ends: [
      [now + quarter, 2],
      [now + 2 * quarter, 1],
    ],
  })
})

test('revoked and expired sessions are not counted', () => {
  const two = { ends: [[now + quarter, 2]] } as const
  expect(countWithout(two, now + 5)).toEqual({ ends: [[now + quarter, 1]] })
  expect(countWithout(countWithout(two, now + 5), now + 6)).toEqual({ ends: [] })
  expect(countWith(two, { expiresAt: now + 3 * quarter, now: now + quarter })).toEqual({ ends: [[now + 3 * quarter, 1]] })
})

test('a workspace has at most 100,000 live sessions', () => {
  const session = { expiresAt: now + quarter, now }
  expect(countWith({ ends: [[now + quarter, 99_999]] }, session).ends).toEqual([[now + quarter, 100_000]])
  expect(() => countWith({ ends: [[now + quarter, 100_000]] }, session)).toThrow('100000 active sessions')
})
