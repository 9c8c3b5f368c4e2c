import leven from 'leven'

/**
 * Up to 3 known names that resemble a name (edit distance of at most half the length), best first, prefixes before others. Only the
 * first 100 characters of the name count.
 */
export function similarNames(name: string, known: readonly string[]): readonly string[] {
  const wanted = name.slice(0, 100).toLowerCase()
  if (wanted === '') return []
  return known
    .map(candidate => {
      const other = candidate.toLowerCase()
      const distance = leven(wanted, other) / Math.max(wanted.length, other.length)
      return { candidate, distance: other.startsWith(wanted) || wanted.startsWith(other) ? distance / 2 : distance }
    })
    .filter(({ distance }) => distance <= 0.5)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map(({ candidate }) => candidate)
}
