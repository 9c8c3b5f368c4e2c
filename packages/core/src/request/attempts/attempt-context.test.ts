import { expect, test } from 'vitest'
import type { Candidate } from '../../routing/plan.ts'
import { type Attempts, noteAccepted } from './attempt-context.ts'

test('each candidate that accepted the request is billed once, in the order in which they were abandoned', () => {
  const [a, b] = [{} as Candidate, {} as Candidate]
  const attempts: Attempts = { count: 2, accepted: [] }
  for (const candidate of [b, a, b]) noteAccepted(attempts, candidate)
  expect(attempts.accepted).toHaveLength(2)
  expect([attempts.accepted[0] === b, attempts.accepted[1] === a]).toEqual([true, true])
})
