import type { Caller } from './caller.ts'

// Tags are names that usage is counted by, beside key, model and provider: those of the caller, and those that the request itself
// names in `metadata.tags` of `gateway`, separated by commas.

/** Most tags of one request, and of one caller. Each is a total of its own for each hour and day. */
export const maxTags = 8
/** Characters of a tag. */
export const maxTagLength = 64

/** Whether a text may be a tag: 1 to 64 characters without a comma, a control character or a lone surrogate, and no space at its ends. */
export const isTag = (text: unknown): text is string =>
  typeof text === 'string' && text.length <= maxTagLength && /^[^\p{Cc},]+$/u.test(text) && text === text.trim() && text.isWellFormed()

/** The tags of a request, its caller's first. What is no tag, or one too many, stays in the metadata alone. */
export function tagsOf(
  { tags = [] }: Pick<Caller, 'tags'>,
  metadata: Readonly<Record<string, string>> | undefined,
): readonly string[] | undefined {
  // One more separator than tags is enough to tell that there are too many.
  const named = metadata?.tags?.split(',', 4 * maxTags).map(tag => tag.trim()) ?? []
  const all = [...new Set([...tags, ...named.filter(isTag)])].slice(0, maxTags)
  return all.length > 0 ? all : undefined
}
