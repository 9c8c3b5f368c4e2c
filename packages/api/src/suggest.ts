/** A suggestion for an unknown name, as a sentence and as a field of the error. Empty if no known name is similar. */
export function didYouMean(near: readonly string[]): { readonly sentence: string; readonly suggestion?: string } {
  if (near.length === 0) return { sentence: '' }
  const suggestion = `Did you mean ${near.map(name => `"${name}"`).join(' or ')}?`
  return { sentence: ` ${suggestion}`, suggestion }
}
