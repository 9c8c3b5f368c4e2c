import { completed, endedFor } from '../common/answer-failures.ts'
import type { ResponseHead } from '../common/item-assembler.ts'
import { objects, stringOf } from '../common/json.ts'
import { readUsage, withOtherCalls, withTier } from '../common/usage.ts'
import type { UsageFields } from '../common/usage-fields.ts'
import type { Failure } from '../protocol/failure.ts'
import type { Outcome, Usage } from '../protocol/response.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'

export const dialect = 'gemini'

export const usageFields: UsageFields = {
  input: ['promptTokenCount'],
  inputBeside: ['toolUsePromptTokenCount'],
  output: ['candidatesTokenCount'],
  outputBeside: ['thoughtsTokenCount'],
  cached: ['cachedContentTokenCount'],
  cacheWrite: [],
  reasoning: ['thoughtsTokenCount'],
  total: 'totalTokenCount',
  unbilled: {
    promptTokensDetails: 'the prompt by modality: its audio is read',
    cacheTokensDetails: 'the cached prompt by modality: its audio is read',
    candidatesTokensDetails: 'the output by modality, at the output price of the offer',
    toolUsePromptTokensDetails: 'the tokens of tools by modality, at the input price',
    serviceTier: 'the tier that was served',
    trafficType: 'the kind of capacity that was used (Vertex AI)',
  },
}

/** Decodes token counts. `searches`: distinct search queries. `other`: other charged tools. */
export function countUsage(wire: JsonObject, searches: number, other: readonly string[] = []): Usage | undefined {
  const usage = countWithTools(wire, searches)
  return usage && withOtherCalls(usage, other)
}

/** `SERVICE_TIER_FLEX` or `flex`. */
const tierIn = ({ serviceTier }: JsonObject): string => stringOf(serviceTier).toLowerCase().replace('service_tier_', '')

function countWithTools(wire: JsonObject, searches: number): Usage | undefined {
  const counted = readUsage(wire, usageFields)
  const usage = counted && withTier(counted, tierIn(wire))
  const audio = Math.max(0, audioIn(wire.promptTokensDetails) - audioIn(wire.cacheTokensDetails))
  if (!usage || (searches === 0 && audio === 0)) return usage
  return { ...usage, ...(audio > 0 && { audio_tokens: audio }), ...(searches > 0 && { hosted_calls: { web_search: searches } }) }
}

const audioIn = (details: Json | undefined): number =>
  objects(details).reduce(
    (sum, { modality, tokenCount }) => sum + (modality === 'AUDIO' && typeof tokenCount === 'number' ? tokenCount : 0),
    0,
  )

const incomplete = (reason: string): Outcome => ({ status: 'incomplete', reason })
const failedWith = (kind: Failure['kind'], message: string): Outcome => ({ status: 'failed', error: { kind, message } })

const lengthLimit = incomplete('max_output_tokens')
export const filtered = incomplete('content_filter')
const malformed = failedWith('server_error', 'The model wrote a malformed tool call or response.')

const outcomes: ReadonlyMap<string, Outcome> = new Map<string, Outcome>([
  ['STOP', completed],
  ['MAX_TOKENS', lengthLimit],
  ['CONTINUATION', lengthLimit],
  ['SAFETY', filtered],
  ['RECITATION', filtered],
  ['LANGUAGE', filtered],
  ['BLOCKLIST', filtered],
  ['PROHIBITED_CONTENT', filtered],
  ['SPII', filtered],
  ['MODEL_ARMOR', filtered],
  ['IMAGE_SAFETY', filtered],
  ['IMAGE_PROHIBITED_CONTENT', filtered],
  ['IMAGE_RECITATION', filtered],
  ['MALFORMED_FUNCTION_CALL', malformed],
  ['MALFORMED_RESPONSE', malformed],
  ['TOO_MANY_TOOL_CALLS', malformed],
  ['MISSING_THOUGHT_SIGNATURE', failedWith('stale_state', 'The signature of earlier reasoning is missing.')],
])

/** Finish reasons that do not say whether the response is complete. */
const unclearReasons: ReadonlySet<string> = new Set(['OTHER', 'IMAGE_OTHER', 'NO_IMAGE'])

export interface AnswerSoFar {
  /** Whether it contains more than reasoning. */
  readonly hasAnswer: boolean
  /** Whether it contains a readable tool call. */
  readonly hasCall: boolean
}

export function outcomeOf(finishReason: string, { hasAnswer, hasCall }: AnswerSoFar): Outcome {
  const known = outcomes.get(finishReason)
  if (known) return known
  // A call of a tool that was not offered: the client decides what to do with it.
  if (finishReason === 'UNEXPECTED_TOOL_CALL') return hasCall ? completed : malformed
  if (!hasAnswer) return failedWith('server_error', 'The provider ended the response without content.')
  return unclearReasons.has(finishReason) ? incomplete('other') : endedFor(finishReason === 'FINISH_REASON_UNSPECIFIED' ? '' : finishReason)
}

/** Whether the prompt was blocked, in which case there are no candidates. */
export const isPromptBlocked = ({ promptFeedback }: JsonObject): boolean => {
  const reason = isObject(promptFeedback) ? stringOf(promptFeedback.blockReason) : ''
  return reason !== '' && reason !== 'BLOCK_REASON_UNSPECIFIED'
}

/** The only candidate that is decoded: number 0, or the one without a number. */
export const firstCandidate = ({ candidates }: JsonObject): JsonObject | undefined =>
  objects(candidates).find(({ index }) => index === undefined || index === null || index === 0)

export const contentParts = ({ content }: JsonObject): readonly JsonObject[] => (isObject(content) ? objects(content.parts) : [])

export const readHead = ({ responseId, modelVersion, createTime }: JsonObject): ResponseHead => ({
  id: stringOf(responseId),
  model: stringOf(modelVersion),
  created_at: toSeconds(createTime),
})

/** Parses the creation time, which only Vertex AI sends. */
function toSeconds(time: Json | undefined): number {
  const instant = typeof time === 'string' && time.length < 40 ? Date.parse(time) : Number.NaN
  return instant >= 0 && instant < 1e14 ? Math.floor(instant / 1000) : 0
}

/** Merges token counts: every chunk may have some, and the last value of each wins. In place, because this runs for every chunk. */
export function mergeUsage(known: Record<string, Json | undefined>, { usageMetadata }: JsonObject): void {
  if (!isObject(usageMetadata)) return
  for (const name in usageMetadata) known[name] = usageMetadata[name] ?? known[name]
}

const utf8 = new TextEncoder()

const decodeLogprob = ({ token, logProbability }: JsonObject): JsonObject => ({
  token: stringOf(token),
  logprob: typeof logProbability === 'number' ? logProbability : 0,
  bytes: [...utf8.encode(stringOf(token))],
})

export const noLogprobs: readonly JsonObject[] = []

/** The tokens of a chunk, each with its alternatives. */
export function logprobsOf({ logprobsResult }: JsonObject): readonly JsonObject[] {
  if (!isObject(logprobsResult)) return noLogprobs
  const alternatives = objects(logprobsResult.topCandidates)
  return objects(logprobsResult.chosenCandidates).map((chosen, index) => ({
    ...decodeLogprob(chosen),
    top_logprobs: objects(alternatives[index]?.candidates).map(decodeLogprob),
  }))
}
