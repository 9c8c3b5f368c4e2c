import { expect, test } from 'vitest'
import type { Candidate } from '../../routing/plan.ts'
import { type Attempts, noteDiscarded } from './attempt-context.ts'

test('each candidate whose response was discarded is billed once, in the order in which they were abandoned', () => {
  const [a, b] = [{} as Candidate, {} as Candidate]
  const attempts: Attempts = { count: 2, discarded: [] }
  for (const candidate of [b, a, b]) noteDiscarded(attempts, candidate)
  expect(attempts.discarded).toHaveLength(2)
  expect([attempts.discarded[0] === b, attempts.discarded[1] === a]).toEqual([true, true])
})
