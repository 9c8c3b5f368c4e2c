import type { ProviderDialect } from '../../protocol/dialect.ts'
import type { Item } from '../../protocol/item.ts'
import type { Offer, Quirks } from '../../protocol/model.ts'
import { originalOf, remember } from '../../protocol/original.ts'
import type { InferenceRequest, Prompt } from '../../protocol/request.ts'
import type { InferenceResponse, Outcome, Warning } from '../../protocol/response.ts'
import { isObject, type Json, type JsonObject } from '../../protocol/wire.ts'
import { readFailedAnswer, unreadable } from '../failure.ts'
import { stringOf } from '../json.ts'
import { mintCallId } from '../mint.ts'
import { dropRefused, type Encoded, extend, unsupported } from '../quirks.ts'
import { dropSampling } from '../sampling.ts'
import { writeThinking } from '../thinking-fields.ts'
import { heedRouting } from '../tier.ts'
import { emptyMessage, readMessage, writeMessages } from './items.ts'
import { decodeEvents } from './stream-in.ts'
import { writeFormat, writeTools } from './tools.ts'
import { countUsage, dialect, errorOf, firstChoice, headOf, outcomeOf, usageIn } from './wire.ts'

function encodeRequest(request: InferenceRequest, offer: Offer, quirks: Quirks): Encoded {
  const said = originalOf(request)
  const written = said?.dialect === dialect ? { body: withoutOurs(said.body), warnings: [] } : compose(request.prompt, quirks)
  const stream = request.delivery === 'stream'
  const body = {
    ...quirks.fixed_fields,
    ...written.body,
    model: offer.provider_model_id,
    stream,
    ...(stream && !quirks.no_stream_options && { stream_options: { include_usage: true } }),
  }
  const heeded = heedRouting({ body, warnings: written.warnings }, request.routing, { price: offer.price, quirks })
  const sampled = dropSampling(heeded, request.prompt, quirks)
  return extend(dropRefused(sampled, quirks, spelled), request.prompt.extensions)
}

const withoutOurs = ({ gateway, extensions, stream_options, ...body }: JsonObject): JsonObject => body

/** Where a field goes by another name than the caller knows. */
const spelled: ReadonlyMap<string, string> = new Map([
  ['max_completion_tokens', 'max_output_tokens'],
  ['max_tokens', 'max_output_tokens'],
  ['reasoning_effort', 'reasoning.effort'],
  ['response_format', 'text.format'],
  ['verbosity', 'text.verbosity'],
  ['logprobs', 'top_logprobs'],
])

/** Fields whose spelling and meaning are the same on both sides. */
const plain = [
  'temperature',
  'top_p',
  'top_k',
  'frequency_penalty',
  'presence_penalty',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'service_tier',
  'stop',
] as const satisfies readonly (keyof Prompt)[]

function compose(prompt: Prompt, quirks: Quirks): Encoded {
  const { input, instructions, text, max_output_tokens, native } = prompt
  const format = writeFormat(text?.format, quirks)
  const spoken = [instructions, format.instruction].filter(words => words !== undefined)
  const { messages, warnings } = writeMessages(input, spoken, quirks)
  const tools = writeTools(prompt, quirks)
  const thinking = writeThinking(prompt.reasoning?.effort, quirks)
  const body: Record<string, Json | undefined> = {
    ...(native?.dialect === dialect && native.body),
    messages,
    ...tools.fields,
    ...format.fields,
    ...thinking.fields,
  }
  for (const field of plain) if (prompt[field] !== undefined) body[field] = prompt[field]
  if (prompt.seed !== undefined) body[quirks.seed_field ?? 'seed'] = prompt.seed
  if (max_output_tokens !== undefined) body[quirks.max_tokens_field ?? 'max_completion_tokens'] = max_output_tokens
  if (text?.verbosity !== undefined) body.verbosity = text.verbosity
  Object.assign(body, writeLogprobs(prompt))
  return {
    body,
    warnings: [...warnings, ...tools.warnings, ...format.warnings, ...thinking.warnings, ...unsayable(prompt)],
  }
}

const wantsLogprobs = 'message.output_text.logprobs'

const writeLogprobs = ({ top_logprobs = 0, include = [] }: Prompt): JsonObject =>
  top_logprobs > 0 || include.includes(wantsLogprobs) ? { logprobs: true, ...(top_logprobs > 0 && { top_logprobs }) } : {}

/** Extra data that callers ask for on the off chance; there is none here, and nothing is lost. */
const harmless: ReadonlySet<string> = new Set([wantsLogprobs, 'reasoning.encrypted_content'])

/**
 * What this language has no words for. Silent are only `metadata`, which is echoed by us and no provider's business,
 * `max_tool_calls`, which caps hosted tools alone, and the default truncation.
 */
function unsayable({ truncation, include = [], reasoning, native }: Prompt): readonly Warning[] {
  const here = 'has no counterpart here and was left out.'
  const foreign = native && native.dialect !== dialect ? Object.keys(native.body) : []
  return [
    ...(truncation !== undefined && truncation !== 'disabled' ? [unsupported('truncation', `\`truncation\` ${here}`)] : []),
    ...include.flatMap((name, at) => (harmless.has(name) ? [] : [unsupported(`include[${at}]`, `\`include[${at}]\` ${here}`)])),
    ...(reasoning?.summary !== undefined && reasoning.summary !== 'none'
      ? [unsupported('reasoning.summary', `\`reasoning.summary\` ${here}`)]
      : []),
    ...foreign.map(field => unsupported(field, `\`${field}\` ${here}`)),
  ]
}

function decodeResponse(body: JsonObject): InferenceResponse {
  const head = headOf(body)
  const error = errorOf(body)
  const choice = firstChoice(body)
  const message = choice && (isObject(choice.message) ? choice.message : choice)
  const said = message ? readMessage(message, choice, (call, name) => mintCallId(head.id, head.created_at, call, name)) : []
  const outcome = error ? failed(error) : choice ? ended(choice, said) : failed(unreadable('The provider’s answer has no choices.'))
  const output =
    said.length === 0 && outcome.status === 'completed' ? [emptyMessage] : outcome.status === 'completed' ? said : cutShort(said)
  const usage = countUsage(usageIn(body), said.length > 0)
  return remember({ ...head, output, outcome, ...(usage && { usage }) }, { dialect, body })
}

const failed = (error: Extract<Outcome, { status: 'failed' }>['error']): Outcome => ({ status: 'failed', error })

const ended = (choice: JsonObject, said: readonly Item[]): Outcome =>
  said.some(item => item.type === 'function_call' && item.name === '')
    ? failed(unreadable('The provider sent a tool call without a name.'))
    : outcomeOf(stringOf(choice.finish_reason))

/** The last item is the one that did not reach its end. */
const cutShort = (items: readonly Item[]): readonly Item[] =>
  items.map((item, at) =>
    at === items.length - 1 && (item.type === 'message' || item.type === 'function_call') ? { ...item, status: 'incomplete' } : item,
  )

export const chatProvider: ProviderDialect = { name: dialect, encodeRequest, decodeResponse, decodeEvents, decodeFailure: readFailedAnswer }
