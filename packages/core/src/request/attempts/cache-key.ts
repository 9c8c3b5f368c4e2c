import type { InferenceRequest, Item } from '@signalbox/dialects/protocol'
import type { Plan } from '../../routing/plan.ts'
import { type HeaderReader, sessionOf } from './session.ts'

/** Providers do not cache prompts of fewer tokens. */
const minCachedTokens = 1_024

export interface CacheKeyInput {
  readonly request: InferenceRequest
  readonly plan: Plan
  readonly inputTokens: number
  readonly workspaceId: string
  readonly header?: HeaderReader | undefined
}

/**
 * A key that is the same for all requests of one conversation, so that later turns go to the offer whose prompt cache holds the prefix:
 * a digest of the cache key or session from the request, otherwise of the start of the conversation. Its length is bounded, and it
 * differs between workspaces. Undefined if no provider would cache the prompt.
 */
export function cacheKeyOf({ request, plan, inputTokens, workspaceId, header }: CacheKeyInput): string | undefined {
  const { candidates } = plan
  if (candidates.length < 2) return undefined
  if (
    inputTokens < minCachedTokens &&
    !candidates.some(({ offer: { price } }) => price?.cached !== undefined && price.cached < price.input)
  ) {
    return undefined
  }
  const { prompt, routing } = request
  const named = prompt.prompt_cache_key ?? sessionOf(request, header)
  const model = routing.models.length > 1 ? digestOf(routing.models) : candidates[0].model.id
  return `${workspaceId} ${model} ${named === undefined ? '#' : '='}${digestOf(named === undefined ? beginningOf(request) : [named])}`
}

/** Maximum number of items in the start of a conversation. */
const maxItems = 8

/** The texts that all turns of a conversation share: instructions, tools and the first user message. */
function beginningOf({ prompt: { instructions = '', tools = [], input } }: InferenceRequest): readonly string[] {
  const texts = [instructions]
  for (const tool of tools) texts.push(tool.type === 'function' ? tool.name : tool.dialect)
  for (const item of input.slice(0, maxItems)) {
    addTexts(item, texts)
    if (item.type === 'message' && item.role === 'user') break
  }
  return texts
}

function addTexts(item: Item, texts: string[]): void {
  if (item.type !== 'message') return
  for (const part of item.content) {
    if (part.type === 'text') texts.push(part.text)
    else if (part.type === 'image' || part.type === 'file') texts.push(part.url)
  }
}

/** Number of characters at each end of a text that the digest includes, together with the text's length. */
const edgeCharacters = 192
const maxTexts = 64

/** A fast 64-bit digest, not a cryptographic one: hash it before it leaves the process. */
function digestOf(texts: readonly string[]): string {
  const state: DigestState = { a: 0x9e3779b9, b: 0x85ebca6b }
  for (let at = 0; at < texts.length && at < maxTexts; at += 1) {
    const text = texts[at] ?? ''
    const { length } = text
    mix(state, text, { from: 0, to: Math.min(length, edgeCharacters) })
    mix(state, text, { from: Math.max(edgeCharacters, length - edgeCharacters), to: length })
  }
  const a = Math.imul(state.a ^ (state.a >>> 15), 0x2c1b3c6d) ^ (state.b >>> 13)
  const b = Math.imul(state.b ^ (state.b >>> 16), 0x297a2d39) ^ (state.a >>> 14)
  return (a >>> 0).toString(36) + (b >>> 0).toString(36)
}

interface DigestState {
  a: number
  b: number
}

/** Kept separate because a tight loop over local numbers is what makes it fast. */
function mix(state: DigestState, text: string, { from, to }: { readonly from: number; readonly to: number }): void {
  let a = Math.imul(state.a ^ text.length, 0x9e3779b1)
  let b = Math.imul(((state.b << 5) | (state.b >>> 27)) ^ text.length, 0x85ebca77)
  for (let at = from; at < to; at += 1) {
    const code = text.charCodeAt(at)
    a = Math.imul(a ^ code, 0x9e3779b1)
    b = Math.imul(((b << 5) | (b >>> 27)) ^ code, 0x85ebca77)
  }
  state.a = a
  state.b = b
}
