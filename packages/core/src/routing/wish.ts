import { buysTier, lacks, roomFor } from './judge.ts'
import type { Question } from './needs.ts'
import type { Candidate } from './plan.ts'

/** Something that leaves nobody out, and puts those first who can do it. */
interface Wish {
  readonly asked: (question: Question) => boolean
  readonly met: (candidate: Candidate, question: Question) => boolean
}

/** The first weighs more than all below it. */
const wishes: readonly Wish[] = [
  {
    // A caller who brought a credential pays for its use elsewhere, and brought it to be used.
    asked: () => true,
    met: ({ credential }, { routing }) => (credential.owner === 'workspace') === (routing.byok_first ?? true),
  },
  { asked: ({ needs, routing }) => routing.tier !== undefined || needs.serviceTier !== undefined, met: buysTier },
  // Who does not think answers all the same, with a warning where its language has no word for the wish.
  { asked: ({ needs }) => needs.reasoning, met: candidate => !lacks(candidate, 'reasoning') },
  {
    asked: ({ needs }) => !needs.documents,
    met: (candidate, { needs }) =>
      needs.inputTokens <= roomFor(candidate) &&
      needs.inputTokens + (needs.outputTokens ?? 0) <= (candidate.offer.context_window ?? Number.POSITIVE_INFINITY),
  },
]

/** How far somebody is from what is wished for: lower goes first. Whole numbers below `farthest`. */
export function wishOf(question: Question): (candidate: Candidate) => number {
  const asked = wishes.filter(wish => wish.asked(question))
  return candidate => {
    let distance = 0
    for (const { met } of asked) distance = 2 * distance + (met(candidate, question) ? 0 : 1)
    return distance
  }
}

export const farthest = 2 ** wishes.length
