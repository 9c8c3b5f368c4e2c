import type { InferenceRequest, Item } from '@signalbox/dialects/protocol'
import { isObject, type Json } from '@signalbox/dialects/protocol'
import type { Plan } from '../../routing/plan.ts'

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

// The session that a request belongs to. Agents send it in a header or inside the user id.

/** Returns a request header by its lower-case name. */
type HeaderReader = (name: string) => string | undefined

/** The first header present is used. Sources: what each client sends, 2026-11. */
const sessionHeaders = [
  // Several agents; opencode, which sends both.
  'x-session-id',
  'x-session-affinity',
  // Codex. Some proxies drop header names with an underscore.
  'session_id',
  'session-id',
  'x-claude-code-session-id',
  // opencode before it sent `x-session-affinity`, and to its own provider.
  'x-opencode-session',
  // Clients that were written for LiteLLM; docs.litellm.ai, session_id.
  'x-litellm-session-id',
] as const

/** The session named by the request, if any. */
export function sessionOf({ session, prompt }: InferenceRequest, header: HeaderReader | undefined): string | undefined {
  if (session) return session
  for (const name of sessionHeaders) {
    const named = header?.(name)
    if (named) return named
  }
  return prompt.metadata?.[metadataField] || sessionInUser(prompt.safety_identifier ?? prompt.user)
}

/** The field of `metadata` in which clients of LiteLLM name the session. */
const metadataField = 'session_id'

/** Maximum length in characters of a user id that is searched for a session. */
const maxUserLength = 2_048

/** Claude Code sends `{"device_id":"…","session_id":"…"}` or `user_…_session_…` as the user id. */
function sessionInUser(user: string | undefined): string | undefined {
  if (user === undefined || user.length > maxUserLength) return undefined
  if (!user.startsWith('{')) return /_session_([\w-]+)$/.exec(user)?.[1]
  try {
    const value = JSON.parse(user) as Json
    return isObject(value) && typeof value.session_id === 'string' && value.session_id !== '' ? value.session_id : undefined
  } catch {
    return undefined
  }
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
