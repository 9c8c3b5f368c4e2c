import type { Sight } from '../../src/brain/sight.ts'

const flawless: Sight = {
  cost: 0,
  firstContentMs: 0,
  growingMs: 0,
  failure: 0,
  lostMs: 0,
  breaking: 0,
  lateness: 0,
  heldMs: 0,
  restingMs: 0,
  headroom: 1,
  warmTokens: 0,
  unheardMs: 0,
  scarcity: 0,
}

/** What an offer looks like that is free, answers at once and never fails, apart from what is given. */
export const makeSight = (given: Partial<Sight> = {}): Sight => ({ ...flawless, ...given })
