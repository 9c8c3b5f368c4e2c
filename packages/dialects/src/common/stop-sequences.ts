import type { Prompt } from '../protocol/request.ts'
import type { BodyDraft } from './body-draft.ts'

/**
 * The stop sequences that Anthropic's models accept: 400 "stop_sequences: each stop sequence must contain non-whitespace"
 * (BerriAI/litellm#3286), also on Bedrock. Undefined if none is left.
 */
export function visibleStops({ stop = [] }: Prompt, draft: BodyDraft): readonly string[] | undefined {
  const visible = stop.filter(text => text.trim() !== '')
  if (visible.length < stop.length)
    draft.warn('stop', 'This provider rejects stop sequences without visible characters; they were left out.')
  return visible.length > 0 ? visible : undefined
}
