import type { Failure } from '../../protocol/failure.ts'
import type { Outcome } from '../../protocol/response.ts'
import { isObject, type Json, type JsonObject } from '../../protocol/wire.ts'
import { failureOf, readErrorDetails, unreadable } from '../failure.ts'
import { objects, stringOf } from '../json.ts'

export const dialect = 'gemini'

const completed: Outcome = { status: 'completed' }
const incomplete = (reason: string): Outcome => ({ status: 'incomplete', reason })
const failed = (kind: Failure['kind'], message: string): Outcome => ({ status: 'failed', error: { kind, message } })

const cut = incomplete('max_output_tokens')
const filtered = incomplete('content_filter')
const garbled = failed('server_error', 'The model wrote a tool call or an answer that could not be read.')

/** Why an answer ended. */
const endings: ReadonlyMap<string, Outcome> = new Map<string, Outcome>([
  ['STOP', completed],
  ['MAX_TOKENS', cut],
  ['CONTINUATION', cut],
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
  ['MALFORMED_FUNCTION_CALL', garbled],
  ['MALFORMED_RESPONSE', garbled],
  ['UNEXPECTED_TOOL_CALL', garbled],
  ['TOO_MANY_TOOL_CALLS', garbled],
  ['MISSING_THOUGHT_SIGNATURE', failed('stale_state', 'The signature of an earlier thought is missing.')],
])

/** Reasons that say nothing: what was said stands, and an answer without a word is a failure. */
const vague: ReadonlySet<string> = new Set(['OTHER', 'IMAGE_OTHER', 'NO_IMAGE'])

export function outcomeOf(reason: string, answered: boolean): Outcome {
  const known = endings.get(reason)
  if (known) return known
  if (!answered) return failed('server_error', 'The provider ended the answer without a word.')
  return vague.has(reason) ? incomplete('other') : completed
}

/** A prompt that is refused gets no candidates at all. */
export const isBlocked = ({ promptFeedback }: JsonObject): boolean => {
  const reason = isObject(promptFeedback) ? stringOf(promptFeedback.blockReason) : ''
  return reason !== '' && reason !== 'BLOCK_REASON_UNSPECIFIED'
}

export const blocked = filtered

export const truncated: Outcome = {
  status: 'failed',
  error: unreadable('The provider’s stream ended before the answer was finished.'),
}
export const broken: Outcome = { status: 'failed', error: unreadable('The provider sent an event that is not valid JSON.') }
export const nameless: Outcome = { status: 'failed', error: unreadable('The provider sent a tool call without a name.') }

export function errorOf(chunk: JsonObject): Failure | undefined {
  const { error } = chunk
  return isObject(error) || (typeof error === 'string' && error !== '') ? failureOf(readErrorDetails(chunk)) : undefined
}

/** The candidate that counts: number 0, or the one that has no number. */
export const firstCandidate = ({ candidates }: JsonObject): JsonObject | undefined =>
  objects(candidates).find(({ index }) => index === undefined || index === null || index === 0)

export const partsOf = ({ content }: JsonObject): readonly JsonObject[] => (isObject(content) ? objects(content.parts) : [])

export interface Head {
  readonly id: string
  readonly model: string
  readonly created_at: number
}

export const headOf = ({ responseId, modelVersion, createTime }: JsonObject): Head => ({
  id: stringOf(responseId),
  model: stringOf(modelVersion),
  created_at: secondsOf(createTime),
})

/** Vertex says when, the developer API does not. */
function secondsOf(time: Json | undefined): number {
  const instant = typeof time === 'string' && time.length < 40 ? Date.parse(time) : Number.NaN
  return instant >= 0 && instant < 1e14 ? Math.floor(instant / 1000) : 0
}

/** Counts come piece by piece; of each the last word counts. Kept in one object, since there is one with every token. */
export function keepUsage(known: Record<string, Json | undefined>, { usageMetadata }: JsonObject): void {
  if (!isObject(usageMetadata)) return
  for (const name in usageMetadata) known[name] = usageMetadata[name] ?? known[name]
}

const utf8 = new TextEncoder()

const logprobOf = ({ token, logProbability }: JsonObject): JsonObject => ({
  token: stringOf(token),
  logprob: typeof logProbability === 'number' ? logProbability : 0,
  bytes: [...utf8.encode(stringOf(token))],
})

const noLogprobs: readonly JsonObject[] = []

/** The tokens of a chunk, each with what else it might have been. */
export function logprobsOf({ logprobsResult }: JsonObject): readonly JsonObject[] {
  if (!isObject(logprobsResult)) return noLogprobs
  const others = objects(logprobsResult.topCandidates)
  return objects(logprobsResult.chosenCandidates).map((chosen, at) => ({
    ...logprobOf(chosen),
    top_logprobs: objects(others[at]?.candidates).map(logprobOf),
  }))
}
