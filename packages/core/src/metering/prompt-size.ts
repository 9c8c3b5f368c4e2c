import { allTools, isHosted } from '@signalbox/dialects/common'
import type { FilePart, HostedCalls, Prompt, Quirks } from '@signalbox/dialects/protocol'
import { isObject, type Json, type JsonObject, maxTokensFor, originalOf } from '@signalbox/dialects/protocol'
import { charactersPerToken } from './count-text.ts'
import { estimateInput, maxCountedTokens, tokensAroundItems, tokensOfMedia, tokensOfText, tokensPerBlob } from './estimate.ts'
import { allowedSteps, foreseenCalls } from './hosted-calls.ts'
import { bytesOfText, likelyTokensOfText, maxTokensOfText } from './max-tokens.ts'
import { type PromptVisitor, walkPrompt, walkUnknownFields } from './walk-prompt.ts'

// The size of a prompt at its provider, as two bounds: the hold covers the most that text of any script comes to; the provider's own
// count is clamped to the most that is possible.

/** Sizes of a prompt, in tokens. */
export interface PromptSize {
  /** The result of `estimateInput`: for routing and for tokens per minute. */
  readonly likely: number
  /** Tokens that the hold covers. `Infinity` if the provider adds to the prompt, so that only its context window bounds it. */
  readonly max: number
  /** Hosted tool calls that the hold covers. */
  readonly hosted?: HostedCalls
  /** How often the provider may compact the prompt, which reads it once more and writes a summary. Default: 0. */
  readonly compactions?: number
  /** The prompt contains audio, which may cost more than text. */
  readonly hasAudio?: boolean
}

/** Per-part allowances for holds, and for the highest plausible count of a provider. */
const allowances = {
  hold: { prompt: 4, item: 8, tools: 600, image: 5_000, sealedCharacters: 4, document: 2, sound: 8 },
  claim: { prompt: 1_024, item: 64, tools: 4_096, image: 60_000 },
} as const

/** If not `isBounded`, no text is scanned: no hold is needed. */
export function sizeOfPrompt(prompt: Prompt, isBounded: boolean): PromptSize {
  if (!isBounded) {
    const likely = estimateInput(prompt)
    return { likely, max: maxTokensFor(likely) }
  }
  const size = isExtended(prompt) ? { likely: estimateInput(prompt), max: Number.POSITIVE_INFINITY, hasAudio: false } : boundedSize(prompt)
  const hosted = foreseenCalls(prompt)
  const { compactions } = allowedSteps(prompt)
  return hosted || compactions > 0 ? { ...size, compactions, hosted } : size
}

/** Computes both bounds in one pass. `likely` is that of `estimateInput`. */
function boundedSize(prompt: Prompt): { likely: number; max: number; hasAudio: boolean } {
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
  walkUnknownFields(prompt, {
    ...unread,
    text(text) {
      tokens += maxTokensOfText(text)
    },
    blob(field) {
      tokens += fetched.test(field) ? Number.POSITIVE_INFINITY : image
    },
  })
  return { likely, max: Math.max(tokens, likely), hasAudio }
}

/** Kinds of pieces that are in no field as the client wrote it. */
const unread: Pick<PromptVisitor, 'sealed' | 'media'> = { sealed: () => {}, media: () => {} }

/** Likely tokens of a prompt, by its scripts: billed if the provider reports no usage. Reads all of its text. */
export const likelyInput = (prompt: Prompt): number => estimateInput(prompt, likelyTokensOfText)

/** Characters that `sampledInput` reads of a prompt and of each text. */
const sample = { prompt: 8_000, text: 500 } as const

/** `likelyInput` from samples of the texts: for journals, hundreds of which may be written in one turn of the event loop. */
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

/** A file sent by reference may be of any length. */
function maxOfFile(part: FilePart, likely: number): number {
  if (isTextFile(part)) return part.url.length
  return part.url.startsWith('data:') ? allowances.hold.document * likely : Number.POSITIVE_INFINITY
}

/** Maximum plausible input tokens of a prompt at an offer with these quirks. */
export const maxClaimAt = (prompt: Prompt, { extendsPrompt }: Quirks): number =>
  extendsPrompt ? Number.POSITIVE_INFINITY : maxClaim(prompt)

/** The size of a prompt at an offer with these quirks. */
export const sizeAt = (size: PromptSize, { extendsPrompt }: Quirks): PromptSize =>
  extendsPrompt ? { ...size, max: Number.POSITIVE_INFINITY } : size

/** Maximum plausible input tokens of a prompt: its bytes plus template overhead. `Infinity` if only the context window bounds them. */
export function maxClaim(prompt: Prompt): number {
  if (isExtended(prompt)) return Number.POSITIVE_INFINITY
  const { prompt: base, item, tools, image } = allowances.claim
  let tokens = base + prompt.input.length * item + (prompt.tools?.length ? tools : 0)
  const read = (text: string): void => {
    tokens += bytesOfText(text)
  }
  const claim: PromptVisitor = {
    text: read,
    sealed: read,
    blob: field => {
      tokens += field === 'image' ? image : Number.POSITIVE_INFINITY
    },
    media: part => {
      tokens += part.type === 'file' && isTextFile(part) ? part.url.length : Number.POSITIVE_INFINITY
    },
  }
  walkPrompt(prompt, claim)
  walkUnknownFields(prompt, claim)
  return Math.min(tokens, maxCountedTokens)
}

const isTextFile = ({ url }: FilePart): boolean => url.startsWith('data:text/')

/** Fields whose content the provider downloads, so its length is unknown here. */
const fetched = /^(?:file_url|file_id)$/

/** Whether the provider adds to the prompt: by hosted tools, stored items, or body fields that do so. */
function isExtended(prompt: Prompt): boolean {
  const { input, reasoning, extensions, native } = prompt
  if (allTools(prompt).some(isHosted) || input.some(item => item.type === 'native' && item.body.type === 'item_reference')) return true
  if (reasoning && hasLargerMode(originalOf(reasoning)?.body)) return true
  return (extensions !== undefined && addsToPrompt(extensions)) || (native !== undefined && addsToPrompt(native.body))
}

const addsToPrompt = (fields: JsonObject): boolean =>
  Object.keys(fields).some(field => adding.test(field)) || hasLargerMode(fields.reasoning)

/** `reasoning.mode: pro` reads the prompt several times (developers.openai.com, reasoning guide, and a recorded answer of gpt-5.6-sol). */
const hasLargerMode = (reasoning: Json | undefined): boolean =>
  isObject(reasoning) && typeof reasoning.mode === 'string' && reasoning.mode !== 'standard'

/** Fields of a body that make the provider add to the prompt. */
const adding =
  /search|ground|retriev|plugin|connector|mcp|container|conversation|previous_response|data_?sources?|documents?|knowledge|file|url_context|cached_?content|^prompt$/i
