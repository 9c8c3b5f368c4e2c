import type { EncodedRequest, ProviderDialect } from '../../protocol/dialect.ts'
import type { Offer, Quirks } from '../../protocol/model.ts'
import type { InferenceRequest, Prompt } from '../../protocol/request.ts'
import { isObject, type Json, type JsonObject } from '../../protocol/wire.ts'
import { dropRefused, type Encoded, extend, isGatewayField } from '../apply-quirks.ts'
import { decodeFailedAnswer } from '../failure.ts'
import { shortId } from '../ids.ts'
import { dropSampling } from '../sampling.ts'
import { applyServiceTier } from '../service-tier.ts'
import { writeThinking } from '../thinking-fields.ts'
import { type Renaming, withPlainNames } from '../tool-names.ts'
import { writeMessages } from './items.ts'
import { decodeEvents, decodeResponse } from './stream-in.ts'
import { writeFormat, writeTools } from './tools.ts'
import { unsayable } from './unsayable.ts'
import { dialect, wantsLogprobs } from './wire.ts'

/**
 * Always written from what we read, since hosts of this language differ in more than unknown fields; what the caller said
 * in the same language goes piece by piece as it was: messages, parts, calls, tools, and fields that we do not know.
 */
function encodeRequest(request: InferenceRequest, offer: Offer, quirks: Quirks): EncodedRequest {
  const { prompt, toolNames } = withPlainNames(request.prompt, naming)
  const written = compose(prompt, quirks)
  const stream = request.delivery === 'stream'
  const body = {
    ...quirks.fixed_fields,
    ...written.body,
    model: offer.provider_model_id,
    stream,
    ...(stream && !quirks.no_stream_options && { stream_options: { include_usage: true } }),
  }
  const heeded = applyServiceTier({ body, warnings: written.warnings }, request.routing, { price: offer.price, quirks })
  const sampled = dropSampling(heeded, prompt, quirks)
  const extended = extend(dropRefused(sampled, quirks, spelled), prompt.extensions)
  return toolNames ? { ...extended, reading: { toolNames } } : extended
}

/** A call came as a part of a whole message, and is written anew within it. */
const naming: Renaming = {
  dialect,
  longest: 64,
  tool: (body, name) => ({ ...body, ...(isObject(body.function) && { function: { ...body.function, name } }) }),
  call: body => body,
}

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
  const unread = native?.dialect === dialect ? native.body : {}
  const body: Record<string, Json | undefined> = {
    ...Object.fromEntries(Object.entries(unread).filter(([field]) => !isGatewayField(field))),
    messages,
    ...tools.fields,
    ...format.fields,
    ...thinking.fields,
  }
  for (const field of plain) if (prompt[field] !== undefined) body[field] = prompt[field]
  if (prompt.safety_identifier !== undefined) body.safety_identifier = shortId(prompt.safety_identifier)
  if (prompt.seed !== undefined) body[quirks.seed_field ?? 'seed'] = prompt.seed
  if (max_output_tokens !== undefined) body[quirks.max_tokens_field ?? 'max_completion_tokens'] = max_output_tokens
  if (text?.verbosity !== undefined) body.verbosity = text.verbosity
  Object.assign(body, writeLogprobs(prompt))
  return {
    body,
    warnings: [...warnings, ...tools.warnings, ...format.warnings, ...thinking.warnings, ...unsayable(prompt)],
  }
}

const writeLogprobs = ({ top_logprobs = 0, include = [] }: Prompt): JsonObject =>
  top_logprobs > 0 || include.includes(wantsLogprobs) ? { logprobs: true, ...(top_logprobs > 0 && { top_logprobs }) } : {}

export const chatProvider: ProviderDialect = {
  name: dialect,
  encodeRequest,
  decodeResponse,
  decodeEvents,
  decodeFailure: decodeFailedAnswer,
}
