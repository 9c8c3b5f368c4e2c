/** The part of a V8 CPU profile that is used. */
export interface Profile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
    readonly children?: readonly number[]
  }[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

interface HotSpot {
  readonly name: string
  readonly url: string
  /** As V8 counts, from 0. */
  readonly line: number
  /** Microseconds in the function itself. */
  readonly self: number
  /** Microseconds in it and its callees. */
  readonly total: number
}

export interface HotSpots {
  /** Microseconds of samples that were not idle. */
  readonly busy: number
  readonly spots: readonly HotSpot[]
}

/** Sums a profile by function. Runs in the child, because a raw profile is too large to send. */
export function hotSpots({ nodes, samples, timeDeltas }: Profile): HotSpots {
  const selfOf = new Map<number, number>()
  samples.forEach((id, at) => {
    selfOf.set(id, (selfOf.get(id) ?? 0) + (timeDeltas[at] ?? 0))
  })
  const byId = new Map(nodes.map(node => [node.id, node]))
  const spots = new Map<string, { name: string; url: string; line: number; self: number; total: number }>()
  let busy = 0

  /** `above`: the functions on the stack, so that recursion is not counted twice. */
  const walk = (id: number, above: ReadonlySet<string>): number => {
    const node = byId.get(id)
    if (!node) return 0
    const { functionName, url, lineNumber } = node.callFrame
    const key = `${functionName}\n${url}\n${lineNumber}`
    const own = selfOf.get(id) ?? 0
    const inside = new Set(above).add(key)
    const total = (node.children ?? []).reduce((sum, child) => sum + walk(child, inside), own)
    // The profiler's own calls are excluded.
    if (functionName === '(idle)' || functionName === '(root)' || url.startsWith('node:inspector')) return total
    busy += own
    const spot = spots.get(key) ?? { name: functionName || '(anonymous)', url, line: lineNumber, self: 0, total: 0 }
    spot.self += own
    if (!above.has(key)) spot.total += total
    spots.set(key, spot)
    return total
  }
  const [root] = nodes
  if (root) walk(root.id, new Set())
  return { busy, spots: [...spots.values()].sort((a, b) => b.self - a.self).slice(0, 400) }
}
