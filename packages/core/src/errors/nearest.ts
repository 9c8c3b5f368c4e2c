import leven from 'leven'

/**
 * Of the known names those at a distance of at most half their length, best first, prefixes before others, at most 3. Long names
 * are cut: nobody mistypes 200 characters.
 */
export function nearestOf(name: string, known: readonly string[]): readonly string[] {
  const asked = name.slice(0, 100).toLowerCase()
  if (asked === '') return []
  return known
    .map(candidate => {
      const other = candidate.toLowerCase()
      const distance = leven(asked, other) / Math.max(asked.length, other.length)
      return { candidate, distance: other.startsWith(asked) || asked.startsWith(other) ? distance / 2 : distance }
    })
    .filter(({ distance }) => distance <= 0.5)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map(({ candidate }) => candidate)
}
