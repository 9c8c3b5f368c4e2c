/** A seeded random generator (mulberry32): small, fast and the same everywhere, so that a failing test fails again. */
export const seeded = (seed: number): (() => number) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

const split = (bytes: Uint8Array, points: readonly number[]): readonly Uint8Array[] => {
  const edges = [0, ...points, bytes.length]
  return edges.slice(1).map((end, index) => bytes.subarray(edges[index], end))
}

/**
 * Ways in which a network may split the same bytes: every single split for up to 64 kB, and seeded splits into many pieces for longer data.
 * `max` bounds their number; if it is less than there are, the chosen ones are evenly spread.
 *
 * @example for (const pieces of cuts(asSse(recording), { max: 500 })) expect(readAll(pieces)).toEqual(readAll([asSse(recording)]))
 */
export function* cuts(bytes: Uint8Array, options: { readonly max?: number; readonly seed?: number } = {}): Iterable<readonly Uint8Array[]> {
  const { max = Number.POSITIVE_INFINITY, seed = 1 } = options
  if (bytes.length <= 65_536) {
    const step = Math.max(1, (bytes.length - 1) / max)
    for (let point = 1; point < bytes.length; point += step) yield split(bytes, [Math.floor(point)])
    return
  }
  const random = seeded(seed)
  for (let made = 0; made < Math.min(max, 1_000); made++) {
    const pieces = 2 + Math.floor(random() * 200)
    const points = Array.from({ length: pieces - 1 }, () => 1 + Math.floor(random() * (bytes.length - 1)))
    yield split(
      bytes,
      [...new Set(points)].sort((one, other) => one - other),
    )
  }
}
