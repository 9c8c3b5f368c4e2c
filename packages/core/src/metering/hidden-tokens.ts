import { mayThink } from '../dialects/sampling.ts'
import type { Model, Offer, Quirks } from '../protocol/model.ts'
import type { Prompt } from '../protocol/request.ts'
import { createLru } from '../runtime/lru.ts'

// Estimates the output tokens of an answer whose client disconnected before the usage came: visible text and hidden reasoning.

/** How fast each offer writes, thoughts included, from the moment that it is sent a request to the end of its answer. */
export interface OutputPaces {
  /** Output tokens a second. Undefined: no answer is known. */
  of(offerId: string): number | undefined
  learn(offerId: string, answer: { readonly outputTokens: number; readonly milliseconds: number }): void
}

/** Tokens a second of an offer that is known to think and of which no answer is known. */
const defaultPace = 60
/** A shorter time without text is that of the network and of reading the prompt. */
const latencyMs = 1_000
const maxPaces = 2_000
/** Answers shorter than this say little about a pace. */
const fewTokens = 12
/** What the newest answer counts, once some are known. */
const weight = 0.08

export function createOutputPaces(): OutputPaces {
  const paces = createLru<{ seen: number; logarithm: number }>(maxPaces)
  return {
    of: offerId => {
      const pace = paces.get(offerId)
      return pace && Math.exp(pace.logarithm)
    },
    learn(offerId, { outputTokens, milliseconds }) {
      if (outputTokens < fewTokens || milliseconds <= 0) return
      const pace = paces.get(offerId) ?? { seen: 0, logarithm: 0 }
      pace.seen += 1
      pace.logarithm += Math.max(weight, 1 / pace.seen) * (Math.log((outputTokens * 1_000) / milliseconds) - pace.logarithm)
      paces.set(offerId, pace)
    },
  }
}

/** Whether an offer thinks where it may: `unknown` where nothing was stated of it, and none of its thoughts were asked for or seen. */
export type Thinking = 'never' | 'unknown' | 'known'

/**
 * Never: it lacks the ability, or the request does not turn reasoning on, or turns it off where that is possible, and has no extensions
 * that may turn it on.
 *
 * @example thinkingOf({ offer: { abilities: ['reasoning'] }, model: {}, quirks: {} }, { reasoning: { effort: 'none' } }) // 'never'
 */
export function thinkingOf(
  { offer: { abilities }, model: { capabilities }, quirks }: ThinkingFacts,
  prompt: Pick<Prompt, 'reasoning' | 'extensions' | 'native'>,
): Thinking {
  const { reasoning, extensions, native } = prompt
  const isAsked = reasoning?.budget_tokens !== undefined || (reasoning?.effort !== undefined && reasoning.effort !== 'none')
  const isOff = !mayThink(prompt, quirks) && (!isAsked || reasoning?.effort === 'none')
  const isAble = abilities?.includes('reasoning')
  if (isAble === false || (isOff && extensions === undefined && native === undefined)) return 'never'
  return isAble || isAsked || capabilities?.includes('reasoning') ? 'known' : 'unknown'
}

interface ThinkingFacts {
  readonly offer: Pick<Offer, 'abilities'>
  readonly model: Pick<Model, 'capabilities'>
  /** Those of the provider and of the offer. */
  readonly quirks: Quirks
}

export interface UnfinishedAnswer {
  readonly characters: number
  /** Likely tokens of those characters. */
  readonly tokens: number
  /** Of the characters, thoughts. */
  readonly thoughtCharacters: number
  /** Milliseconds that its provider was seen to work on what is not text. */
  readonly thoughtMs: number
  readonly thinking: Thinking
  /** Tokens a second that its offer is known to write. */
  readonly pace: number | undefined
}

/** Output tokens of an answer that was left: what was seen, and as many thoughts as its offer writes in the time that it wrote no text. */
export function estimateOutput({ characters, tokens, thoughtCharacters, thoughtMs, thinking, pace }: UnfinishedAnswer): number {
  const seen = Math.ceil(tokens)
  if (thinking === 'never' || thoughtMs < latencyMs) return seen
  const thoughts = Math.round((thoughtMs / 1_000) * (pace ?? (thinking === 'known' ? defaultPace : 0)))
  const seenThoughts = Math.ceil((tokens * thoughtCharacters) / Math.max(1, characters))
  return seen + Math.max(0, thoughts - seenThoughts)
}
