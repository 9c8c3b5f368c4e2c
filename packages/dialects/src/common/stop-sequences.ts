import type { Prompt } from '../protocol/request.ts'
import { type Encoded, unsupported } from './apply-quirks.ts'

/**
 * The stop sequences that Anthropic's models accept, as `stop`: 400 "stop_sequences: each stop sequence must contain non-whitespace"
 * (BerriAI/litellm#3286), also on Bedrock. Absent if none is left.
 */
export function visibleStops({ stop = [] }: Prompt): Encoded {
  const visible = stop.filter(text => text.trim() !== '')
  const blank = unsupported('stop', 'This provider rejects stop sequences without visible characters; they were left out.')
  return { body: visible.length > 0 ? { stop: visible } : {}, warnings: visible.length < stop.length ? [blank] : [] }
}
