/** A seed, or a function that returns it on first use: some runtimes have no randomness before the first request. */
export type Seed = number | (() => number)

export const resolveSeed = (seed: Seed): number => (typeof seed === 'number' ? seed : seed())

/** Creates a pseudo-random generator of numbers from 0 to 1: the same seed gives the same sequence. */
export function createRandom(seed: Seed): () => number {
  let state: number | undefined
  return () => {
    state ??= resolveSeed(seed)
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** A random seed. */
export const randomSeed = (ids: { random(bytes: number): Uint8Array }): number =>
  ids.random(4).reduce((seed, byte) => (seed << 8) | byte, 0)
