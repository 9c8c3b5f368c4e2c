import type { Caller } from './caller.ts'

// Tags are labels that usage is grouped by, in addition to key, model and provider. They come from the caller, and from the request's
// own `metadata.tags` in `gateway`, separated by commas.

/** Maximum tags of a request, and of a caller. Each has its own totals for each hour and day. */
export const maxTags = 8
/** Maximum characters of a tag. */
export const maxTagLength = 64

/** Whether a text is a valid tag: 1 to 64 characters, no comma, control character or lone surrogate, no space at either end. */
export const isTag = (text: unknown): text is string =>
  typeof text === 'string' && text.length <= maxTagLength && /^[^\p{Cc},]+$/u.test(text) && text === text.trim() && text.isWellFormed()

/** The tags of a request, the caller's first. Invalid tags and those beyond the limit remain in the metadata only. */
export function tagsOf(
  { tags = [] }: Pick<Caller, 'tags'>,
  metadata: Readonly<Record<string, string>> | undefined,
): readonly string[] | undefined {
  // One separator more than tags is enough to detect that there are too many.
  const named = metadata?.tags?.split(',', 4 * maxTags).map(tag => tag.trim()) ?? []
  const all = [...new Set([...tags, ...named.filter(isTag)])].slice(0, maxTags)
  return all.length > 0 ? all : undefined
}
