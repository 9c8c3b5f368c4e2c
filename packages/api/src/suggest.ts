/** The facts of an error about a name that nobody knows: what was meant, perhaps. Nothing near: nothing is said. */
export function didYouMean(near: readonly string[]): { readonly sentence: string; readonly suggestion?: string } {
  if (near.length === 0) return { sentence: '' }
  const suggestion = `Did you mean ${near.map(name => `"${name}"`).join(' or ')}?`
  return { sentence: ` ${suggestion}`, suggestion }
}
