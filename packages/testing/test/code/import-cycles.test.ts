import { expect, test } from 'vitest'
import { edgesOf, packageNames, sourcesOf } from './sources.ts'

// Files that import each other, by types too, cannot be read one after the other.

interface Edge {
  readonly from: string
  readonly to: string
}

test('no file is part of an import cycle', () => {
  expect(packageNames.flatMap(name => inCircles(edgesOf(sourcesOf(name))).map(path => `${name}/${path}`))).toEqual([])
})

test('a cycle of any length is found, and a file that only leads to one is not part of it', () => {
  const edges = [
    { from: 'a', to: 'b' },
    { from: 'b', to: 'c' },
    { from: 'c', to: 'b' },
    { from: 'c', to: 'd' },
    { from: 'e', to: 'f' },
    { from: 'f', to: 'g' },
    { from: 'g', to: 'e' },
  ]
  expect(inCircles(edges)).toEqual(['b', 'c', 'e', 'f', 'g'])
})

/** The files from which imports lead back to themselves. */
function inCircles(edges: readonly Edge[]): readonly string[] {
  const next = new Map<string, string[]>()
  for (const { from, to } of edges) next.set(from, [...(next.get(from) ?? []), to])
  const leadsBack = (start: string): boolean => {
    const seen = new Set<string>()
    const waiting = [...(next.get(start) ?? [])]
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      if (path === start) return true
      if (seen.has(path)) continue
      seen.add(path)
      waiting.push(...(next.get(path) ?? []))
    }
    return false
  }
  return [...next.keys()].filter(leadsBack)
}
