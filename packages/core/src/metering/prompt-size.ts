import type { FilePart, Item } from '../protocol/item.ts'
import { type HostedTool, hostedTools } from '../protocol/model.ts'
import { maxTokensFor } from '../protocol/rates.ts'
import type { Prompt, Tool } from '../protocol/request.ts'
import type { HostedCalls } from '../protocol/response.ts'
import type { Json, JsonObject } from '../protocol/wire.ts'
import { charactersPerToken } from './count-text.ts'
import { estimateInput, maxCountedTokens, tokensAroundItems, tokensOfMedia, tokensOfText, tokensPerBlob } from './estimate.ts'
import { bytesOfText, likelyTokensOfText, maxTokensOfText } from './max-tokens.ts'
import { maxHostedCalls } from './money.ts'
import { walkPrompt } from './walk-prompt.ts'

// How long a prompt can be at its provider. Two bounds: what is set aside for it, which is the most that texts of any script
// come to; and what a provider's own count may not pass, which is the most that there can be.

/** Tokens. */
export interface PromptSize {
  /** As `estimateInput` has it: for routing, and for tokens a minute. */
  readonly likely: number
  /** What money is set aside for. `Infinity`: the provider adds to the prompt, and only its context window bounds that. */
  readonly max: number
  /** Calls of hosted tools that money is set aside for. */
  readonly hosted?: HostedCalls
  /** It has sound, which may cost more than text. */
  readonly hasAudio?: boolean
}

/** What is set aside for, and what is believed of a provider at most. */
const allowances = {
  hold: { prompt: 4, item: 8, tools: 600, image: 5_000, sealedCharacters: 4, document: 2, sound: 8 },
  claim: { prompt: 1_024, item: 64, tools: 4_096, image: 60_000 },
} as const

/** Without `isBounded` no text is scanned: nothing can be refused for it. */
export function sizeOfPrompt(prompt: Prompt, isBounded: boolean): PromptSize {
  if (!isBounded) {
    const likely = estimateInput(prompt)
    return { likely, max: maxTokensFor(likely) }
  }
  const size = isExtended(prompt) ? { likely: estimateInput(prompt), max: Number.POSITIVE_INFINITY, hasAudio: false } : boundedSize(prompt)
  return prompt.tools || prompt.extensions || prompt.native ? { ...size, hosted: foreseenCalls(prompt) } : size
}

/** Both lengths by one walk. `likely` is that of `estimateInput`. */
function boundedSize(prompt: Prompt): PromptSize {
  const { prompt: base, item, tools, image, sealedCharacters, sound } = allowances.hold
  let hasAudio = false
  let tokens = base + prompt.input.length * item + (prompt.tools?.length ? tools : 0)
  let characters = 0
  let others = tokensAroundItems(prompt)
  walkPrompt(prompt, {
    text(text) {
      characters += text.length
      tokens += maxTokensOfText(text)
    },
    sealed(text) {
      characters += text.length
      tokens += Math.ceil(text.length / sealedCharacters)
    },
    blob(field) {
      others += tokensPerBlob
      tokens += fetched.test(field) ? Number.POSITIVE_INFINITY : image
    },
    media(part) {
      hasAudio ||= part.type === 'audio'
      const likely = tokensOfMedia(part)
      others += likely
      tokens += part.type === 'audio' ? sound * likely : maxOfFile(part, likely)
    },
  })
  const likely = others + tokensOfText(characters)
  return { likely, max: Math.max(tokens, likely), hasAudio }
}

/** Tokens that a prompt likely has, by its scripts: what is billed for it where its provider gave no usage. Reads all of its text. */
export const likelyInput = (prompt: Prompt): number => estimateInput(prompt, likelyTokensOfText)

/** Characters that `sampledInput` reads of a prompt, and of each of its texts. */
const sample = { prompt: 8_000, text: 500 } as const

/** `likelyInput` by samples of its texts: for journals, of which one turn of the event loop may write hundreds. */
export function sampledInput(prompt: Prompt): number {
  let left: number = sample.prompt
  let tokensPerCharacter = 1 / charactersPerToken
  return estimateInput(prompt, text => {
    const read = text.slice(0, Math.min(left, sample.text))
    left -= read.length
    if (read !== '') tokensPerCharacter = likelyTokensOfText(read) / read.length
    return text.length * tokensPerCharacter
  })
}

/** What is not sent along may be of any length. */
function maxOfFile(part: FilePart, likely: number): number {
  if (isText(part)) return part.url.length
  return part.url.startsWith('data:') ? allowances.hold.document * likely : Number.POSITIVE_INFINITY
}

/** Tokens that a provider may claim for a prompt: its bytes, and what templates put around them. `Infinity`: only its window bounds them. */
export function maxClaim(prompt: Prompt): number {
  if (isExtended(prompt)) return Number.POSITIVE_INFINITY
  const { prompt: base, item, tools, image } = allowances.claim
  let tokens = base + prompt.input.length * item + (prompt.tools?.length ? tools : 0)
  const read = (text: string): void => {
    tokens += bytesOfText(text)
  }
  walkPrompt(prompt, {
    text: read,
    sealed: read,
    blob: field => {
      tokens += field === 'image' ? image : Number.POSITIVE_INFINITY
    },
    media: part => {
      tokens += part.type === 'file' && isText(part) ? part.url.length : Number.POSITIVE_INFINITY
    },
  })
  return Math.min(tokens, maxCountedTokens)
}

const isText = ({ url }: FilePart): boolean => url.startsWith('data:text/')

/** Fields whose content the provider downloads, so its length is unknown here. */
const fetched = /^(?:file_url|file_id)$/

/** The provider adds to the prompt: by tools that it runs itself, by what it stores, or by fields that say so. */
function isExtended({ tools, input, extensions, native }: Prompt): boolean {
  if (tools?.some(isHosted) || input.some(isReference)) return true
  return (extensions !== undefined && hasAddingField(extensions)) || (native !== undefined && hasAddingField(native.body))
}

const isReference = (item: Item): boolean => item.type === 'native' && item.body.type === 'item_reference'

const hasAddingField = (fields: JsonObject): boolean => Object.keys(fields).some(field => adding.test(field))

/** Native tools that the client runs itself: they are a name and a schema. */
const runByClients = /^(?:custom|bash|text_editor|computer|memory|local_shell|shell|apply_patch|str_replace)/

const isHosted = (tool: Tool): boolean => tool.type === 'native' && !runByClients.test(typeOf(tool.body))

/** The kind of a hosted tool by its type, or by the field of a body that switches it on: types carry a version behind the kind. */
const hostedKindOf = (type: string): HostedTool | undefined =>
  hostedTools.find(tool => type.startsWith(tool)) ?? (/^(?:search|(?:google|enable|x)_?search)/i.test(type) ? 'web_search' : undefined)

/** Calls of each hosted tool that are expected at most where the request names no limit. */
const usualCalls = 10

/**
 * Calls of hosted tools that money is set aside for: as many as the tool (`max_uses`) or the request (`max_tool_calls`) allows, else
 * ten of each kind. Without a price for a kind nothing is set aside for it.
 */
function foreseenCalls({ tools = [], max_tool_calls = usualCalls, extensions, native }: Prompt): HostedCalls {
  const calls: { [Kind in HostedTool]?: number } = {}
  const foresee = (type: string, limit: Json | undefined): void => {
    const kind = hostedKindOf(type)
    if (kind) calls[kind] = Math.min(maxHostedCalls, typeof limit === 'number' && limit > 0 ? Math.ceil(limit) : max_tool_calls)
  }
  for (const tool of tools) if (tool.type === 'native') foresee(typeOf(tool.body), tool.body.max_uses)
  for (const field of Object.keys({ ...extensions, ...native?.body })) foresee(field, undefined)
  return calls
}

const typeOf = ({ type }: JsonObject): string => (typeof type === 'string' ? type : '')

/** Fields of a body that make the provider add to the prompt. */
const adding =
  /search|ground|retriev|plugin|connector|mcp|container|conversation|previous_response|data_?sources?|documents?|knowledge|file|url_context|cached_?content|^prompt$/i
