import type { Ids } from '../runtime/ports.ts'

/** Asked for when first needed: some runtimes have no chance before the first request. */
export type Seed = number | (() => number)

export const seedOf = (seed: Seed): number => (typeof seed === 'number' ? seed : seed())

/** Numbers from 0 to 1 that look like chance and are the same for the same seed: what was decided by them can be decided again. */
export function makeDice(seed: Seed): () => number {
  let state: number | undefined
  return () => {
    state ??= seedOf(seed)
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** A seed that nobody gave. */
export const seedFrom = (ids: Pick<Ids, 'random'>): number => ids.random(4).reduce((seed, byte) => (seed << 8) | byte, 0)
