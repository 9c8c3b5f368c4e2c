import type { Offer } from '../protocol/model.ts'
import { type Original, originalOf, remember } from '../protocol/original.ts'
import { dialectFor, type Provider, quirksFor } from '../protocol/provider.ts'
import { maxTokensFor } from '../protocol/rates.ts'
import type { Effort, InferenceRequest, Prompt } from '../protocol/request.ts'

// How long an answer may become. Where money bounds a request that names no cap, the gateway sends one, so that what is set
// aside is what the answer can cost.

/** A candidate of a plan is one. */
interface Writer {
  readonly offer: Offer
  readonly provider: Pick<Provider, 'quirks' | 'quirksOf'> & Partial<Pick<Provider, 'dialects'>>
}

export interface OutputCapOptions {
  /** For an answer whose request names no cap. */
  readonly usual: number
  /** As estimated. */
  readonly inputTokens: number
}

/** Minimum output tokens to request when the prompt nearly fills the context window: the length of the prompt is an estimate. */
const minRoom = 1_024

/** The output limit to send for the client's limit, raised to the minimum that the offer accepts. */
export function namedCap({ offer, provider }: Writer, named: number): number {
  return Math.max(named, dialectFor(provider, offer)?.minOutputTokens?.(quirksFor(provider, offer)) ?? 1)
}

/** The limit on all output tokens: the client's or the default, reduced to what fits the offer and its context window. */
export function outputCap(
  writer: Writer,
  { max_output_tokens: named, reasoning }: Prompt,
  { usual, inputTokens }: OutputCapOptions,
): number {
  const { offer, provider } = writer
  const { context_window = Number.POSITIVE_INFINITY, max_output_tokens: longest = Number.POSITIVE_INFINITY } = offer
  if (named !== undefined) return Math.min(namedCap(writer, named), longest)
  const own = quirksFor(provider, offer).default_max_tokens ?? usual
  const room = Math.max(minRoom, powerBelow(context_window - maxTokensFor(inputTokens)))
  return namedCap(writer, Math.min(Math.min(own, usual) + thinkingTokens(reasoning, usual), longest, room))
}

/** The largest power of two that is not above. A conversation that grows is sent the same cap for many turns, so that its requests begin alike. */
const powerBelow = (tokens: number): number => (tokens < 1 ? 0 : 2 ** Math.floor(Math.log2(tokens)))

/** Efforts whose thoughts may take as much again as the answer. */
const high: ReadonlySet<Effort | undefined> = new Set<Effort | undefined>(['high', 'xhigh', 'max'])

const thinkingTokens = (reasoning: Prompt['reasoning'], usual: number): number =>
  reasoning?.budget_tokens ?? (high.has(reasoning?.effort) ? usual : 0)

/** Tokens that an answer can have: its cap, or what the offer can write where it takes no cap. */
export const maxOutput = (writer: Writer, prompt: Prompt, capping: OutputCapOptions): number =>
  takesCap(writer, prompt) ? outputCap(writer, prompt, capping) : (writer.offer.max_output_tokens ?? outputCap(writer, prompt, capping))

/** Whether the offer can be sent a cap. Nova thinks without one at its highest level, and some offers refuse the field. */
export function takesCap({ offer, provider }: Writer, { reasoning }: Prompt): boolean {
  const quirks = quirksFor(provider, offer)
  if (quirks.thinking_field === 'reasoningConfig' && high.has(reasoning?.effort)) return false
  return !quirks.refuses?.some(field => capFields.has(field))
}

const capFields: ReadonlySet<string> = new Set(['max_output_tokens', 'max_tokens', 'max_completion_tokens'])

/** A copy of the request with an output limit, in the prompt and in the client's original body, which may be sent as it is. */
export function withOutputCap(request: InferenceRequest, cap: number): InferenceRequest {
  if (request.prompt.max_output_tokens !== undefined) return request
  const original = originalOf(request)
  return remember({ ...request, prompt: { ...request.prompt, max_output_tokens: cap } }, original && cappedOriginal(original, cap))
}

/** Dialects whose bodies may be sent as they came without a cap, and the name of the cap there. Bodies of others require it or are rebuilt. */
const capField: Readonly<Record<string, string>> = { responses: 'max_output_tokens' }

function cappedOriginal(original: Original, cap: number): Original {
  const field = Object.hasOwn(capField, original.dialect) ? capField[original.dialect] : undefined
  return field === undefined ? original : { ...original, body: { ...original.body, [field]: cap } }
}
