/** The tree of V8's sampling heap profiler. */
export interface Allocations {
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
  readonly selfSize: number
  readonly children: readonly Allocations[]
}

/** A function and the bytes it allocates or holds. */
export interface Site {
  readonly name: string
  readonly url: string
  /** As V8 counts, from 0. */
  readonly line: number
  readonly bytes: number
  /** Bytes of the function and its callees. */
  readonly total: number
}

export function sitesOf(head: Allocations): readonly Site[] {
  const sites = new Map<string, { name: string; url: string; line: number; bytes: number; total: number }>()
  const walk = ({ callFrame, selfSize, children }: Allocations, above: ReadonlySet<string>): number => {
    const { functionName, url, lineNumber } = callFrame
    const key = `${functionName}\n${url}\n${lineNumber}`
    const inside = new Set(above).add(key)
    const total = children.reduce((sum, child) => sum + walk(child, inside), selfSize)
    const site = sites.get(key) ?? { name: functionName || '(anonymous)', url, line: lineNumber, bytes: 0, total: 0 }
    site.bytes += selfSize
    if (!above.has(key)) site.total += total
    sites.set(key, site)
    return total
  }
  walk(head, new Set())
  return [...sites.values()].sort((a, b) => b.bytes - a.bytes).slice(0, 400)
}
