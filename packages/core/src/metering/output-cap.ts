import type { SoldOffer } from '@signalbox/dialects/common'
import type { Effort, InferenceRequest, Prompt } from '@signalbox/dialects/protocol'
import { maxTokensFor, type Original, originalOf, remember } from '@signalbox/dialects/protocol'

// The output limit of a request. If credit or a budget bounds a request without a limit of its own, the gateway sends one, so that the
// hold covers the cost of the response.

// Postpaid requests without an enforced budget are sent as they are: they cannot be refused for their cost. The cap is a power of two, so
// that the turns of a conversation begin with the same bytes and hit the provider's cache.

/** The parts of a candidate that matter here. */
type Writer = Pick<SoldOffer, 'offer' | 'dialect' | 'quirks'>

export interface OutputCapOptions {
  /** Limit for requests that name none. */
  readonly usual: number
  /** Estimated input tokens. */
  readonly inputTokens: number
}

/** Minimum output tokens to request when the prompt nearly fills the context window: the length of the prompt is an estimate. */
const minRoom = 1_024

/** The output limit to send for the client's limit, raised to the minimum that the offer accepts. */
export const namedCap = ({ dialect, quirks }: Writer, named: number): number => Math.max(named, dialect?.minOutputTokens?.(quirks) ?? 1)

/** The limit on all output tokens: the client's or the default, reduced to what fits the offer and its context window. */
export function outputCap(
  writer: Writer,
  { max_output_tokens: named, reasoning }: Prompt,
  { usual, inputTokens }: OutputCapOptions,
): number {
  const { offer, quirks } = writer
  const { contextWindow = Number.POSITIVE_INFINITY, maxOutputTokens: longest = Number.POSITIVE_INFINITY } = offer
  if (named !== undefined) return Math.min(namedCap(writer, named), longest)
  const own = quirks.defaultMaxTokens ?? usual
  const room = Math.max(minRoom, powerBelow(contextWindow - maxTokensFor(inputTokens)))
  return namedCap(writer, Math.min(Math.min(own, usual) + thinkingTokens(reasoning, usual), longest, room))
}

/** The largest power of two up to `tokens`: a growing conversation gets the same limit for many turns and keeps a common prefix. */
const powerBelow = (tokens: number): number => (tokens < 1 ? 0 : 2 ** Math.floor(Math.log2(tokens)))

/** Efforts whose reasoning may be as long again as the response. */
const high: ReadonlySet<Effort | undefined> = new Set<Effort | undefined>(['high', 'xhigh', 'max'])

const thinkingTokens = (reasoning: Prompt['reasoning'], usual: number): number =>
  reasoning?.budget_tokens ?? (high.has(reasoning?.effort) ? usual : 0)

/** Maximum output tokens: the limit sent, or the offer's maximum if it accepts no limit. */
export const maxOutput = (writer: Writer, prompt: Prompt, capping: OutputCapOptions): number =>
  acceptsOutputCap(writer, prompt)
    ? outputCap(writer, prompt, capping)
    : (writer.offer.maxOutputTokens ?? outputCap(writer, prompt, capping))

/** Whether the offer accepts an output limit. Nova's highest reasoning level does not allow one, and some offers reject the field. */
export function acceptsOutputCap({ quirks }: Writer, { reasoning }: Prompt): boolean {
  if (quirks.thinkingField === 'reasoningConfig' && high.has(reasoning?.effort)) return false
  return !quirks.refuses?.some(field => capFields.has(field))
}

const capFields: ReadonlySet<string> = new Set(['max_output_tokens', 'max_tokens', 'max_completion_tokens'])

/** A copy of the request with an output limit, in the prompt and in the client's original body, which may be sent as it is. */
export function withOutputCap(request: InferenceRequest, cap: number): InferenceRequest {
  if (request.prompt.max_output_tokens !== undefined) return request
  const original = originalOf(request)
  return remember({ ...request, prompt: { ...request.prompt, max_output_tokens: cap } }, original && cappedOriginal(original, cap))
}

/** Dialects whose original body may be sent without a limit, and the name of the field. Other bodies require it or are rebuilt. */
const capField: Readonly<Record<string, string>> = { responses: 'max_output_tokens' }

function cappedOriginal(original: Original, cap: number): Original {
  const field = Object.hasOwn(capField, original.dialect) ? capField[original.dialect] : undefined
  return field === undefined ? original : { ...original, body: { ...original.body, [field]: cap } }
}
