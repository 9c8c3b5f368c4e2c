import type { EncodedRequest, ProviderDialect } from '../../protocol/dialect.ts'
import type { Offer, Quirks } from '../../protocol/model.ts'
import { pathOf } from '../../protocol/original.ts'
import type { InferenceRequest, Prompt, Tool, ToolChoice } from '../../protocol/request.ts'
import type { Warning } from '../../protocol/response.ts'
import { isObject, type Json, type JsonObject } from '../../protocol/wire.ts'
import { dropGatewayFields, dropRefused, type Encoded, extend, nearestEffort, unsupported } from '../apply-quirks.ts'
import { decodeFailedAnswer } from '../failure.ts'
import { shortCallId, shortId } from '../ids.ts'
import { cachePoints, failedTools, oneWarning, partsOf } from '../lossy-marks.ts'
import { dropSampling } from '../sampling.ts'
import { applyServiceTier, surchargedFields } from '../service-tier.ts'
import { type Renamed, type Renaming, withPlainNames } from '../tool-names.ts'
import { carriesBreakpoint, originalBody, writeInput } from './items.ts'
import { decodeResponse } from './reading.ts'
import { decodeEvents } from './stream-in.ts'
import { dialect } from './wire.ts'

function encodeRequest(request: InferenceRequest, offer: Offer, quirks: Quirks): EncodedRequest {
  const said = originalBody(request)
  const { prompt, toolNames }: Renamed = said ? request : withPlainNames(request.prompt, naming)
  const worded = dropGatewayFields(said ? { body: withoutOurs(said), warnings: [] } : compose(prompt), ownFields)
  const { body, warnings } = withEffort(worded, prompt, quirks)
  const input = withShortIds(quirks.sealed_reasoning ? sealedOnly(body.input) : body.input)
  const addressed = { ...body, input, model: offer.provider_model_id, store: false, stream: request.delivery === 'stream' }
  const heeded = applyServiceTier({ body: addressed, warnings }, request.routing, { price: offer.price, quirks })
  const extended = extend(dropRefused(dropSampling(heeded, prompt, quirks), quirks), prompt.extensions)
  return toolNames ? { ...extended, reading: { toolNames } } : extended
}

const named = (body: JsonObject, name: string): JsonObject => ({ ...body, name })
const naming: Renaming = { dialect, longest: 128, tool: named, call: named }

/** Of the fields that the gateway decides, those that this language has. */
const ownFields: ReadonlySet<string> = new Set([
  ...['model', 'stream', 'stream_options', 'store', 'background', 'previous_response_id', 'conversation', 'prompt'],
  ...['input', 'instructions', 'tools', 'max_output_tokens', 'service_tier', ...surchargedFields],
])

/** The caller's own body, so that nothing in it needs to be known to us. */
const withoutOurs = ({ gateway, extensions, ...body }: JsonObject): JsonObject => body

/** Thoughts of another model, in the clear, stop a provider that looks them up by their id. */
const sealedOnly = (input: Json | undefined): Json | undefined =>
  Array.isArray(input)
    ? (input as readonly Json[]).filter(item => !isObject(item) || item.type !== 'reasoning' || Boolean(item.encrypted_content))
    : input

/** No longer id of a call is taken, and other vendors make them. */
const longestCallId = 64

const withShortIds = (input: Json | undefined): Json | undefined =>
  Array.isArray(input) && input.some(hasLongId)
    ? (input as readonly Json[]).map(item => (hasLongId(item) ? withShortId(item) : item))
    : input

const hasLongId = (item: Json): item is Called => isObject(item) && typeof item.call_id === 'string' && item.call_id.length > longestCallId

type Called = JsonObject & { readonly call_id: string }

const withShortId = (item: Called): JsonObject => ({ ...item, call_id: shortCallId(item.call_id, longestCallId) })

function withEffort({ body, warnings }: Encoded, { reasoning }: Prompt, quirks: Quirks): Encoded {
  if (!reasoning?.effort) return { body, warnings }
  const near = nearestEffort(reasoning.effort, quirks.efforts)
  const { effort, ...rest } = isObject(body.reasoning) ? body.reasoning : {}
  return {
    body: { ...body, reasoning: { ...rest, ...(near.effort && { effort: near.effort }) } },
    warnings: [...warnings, ...near.warnings],
  }
}

/** Fields whose spelling and meaning are the same on both sides. */
const plain = [
  'instructions',
  'parallel_tool_calls',
  'max_output_tokens',
  'max_tool_calls',
  'temperature',
  'top_p',
  'top_k',
  'top_logprobs',
  'frequency_penalty',
  'presence_penalty',
  'truncation',
  'metadata',
  'include',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'service_tier',
] as const satisfies readonly (keyof Prompt)[]

function compose(prompt: Prompt): Encoded {
  const { input, tools, tool_choice, text, reasoning, native } = prompt
  const warnings: Warning[] = [...unsayable(prompt)]
  const written = input.flatMap((item, at): readonly JsonObject[] => {
    const body = writeInput(item)
    if (!body) warnings.push(foreign(pathOf(item, `input[${at}]`)))
    for (const [index, part] of partsOf(item).entries()) {
      if (part.type === 'native' && part.dialect !== dialect) warnings.push(foreign(pathOf(part, `input[${at}].content[${index}]`)))
    }
    return body ? [body] : []
  })
  const body: Record<string, Json | undefined> = { ...(native?.dialect === dialect && native.body), input: written }
  for (const field of plain) if (prompt[field] !== undefined) body[field] = prompt[field]
  if (prompt.safety_identifier !== undefined) body.safety_identifier = shortId(prompt.safety_identifier)
  if (tools) body.tools = tools.flatMap((tool, at) => writeTool(tool, `tools[${at}]`, warnings))
  if (tool_choice !== undefined) body.tool_choice = writeChoice(tool_choice, warnings)
  if (text)
    body.text = {
      ...originalBody(text),
      ...(text.format && { format: { ...text.format } }),
      ...(text.verbosity !== undefined && { verbosity: text.verbosity }),
    }
  if (reasoning) body.reasoning = { ...originalBody(reasoning), ...writeReasoning(reasoning) }
  if (native && native.dialect !== dialect)
    for (const field of Object.keys(native.body)) warnings.push(unsupported(field, `\`${field}\` is not known here and was left out.`))
  return { body, warnings }
}

const writeReasoning = ({ effort, summary }: NonNullable<Prompt['reasoning']>): JsonObject => ({
  ...(effort !== undefined && { effort }),
  ...(summary !== undefined && summary !== 'none' && { summary }),
})

/** What this language has no words for. */
const unsayable = ({ stop, seed, ...prompt }: Prompt): readonly Warning[] => [
  ...oneWarning(failedTools(prompt.input), 'cannot be said to this provider; the words of the tool were sent alone.'),
  ...oneWarning(
    cachePoints(prompt, carriesBreakpoint),
    'marks what may be cached; this provider takes no mark there, and it was left out.',
  ),
  ...(stop && stop.length > 0 ? [unsupported('stop', '`stop` has no counterpart here and was left out.')] : []),
  ...(seed !== undefined ? [unsupported('seed', '`seed` has no counterpart here and was left out.')] : []),
]

const foreign = (param: string): Warning =>
  unsupported(param, `\`${param}\` can only be read by a provider of another kind and was left out.`)

function writeTool(tool: Tool, param: string, warnings: Warning[]): readonly JsonObject[] {
  if (tool.type !== 'native') {
    const { name, description, parameters = null, strict = null } = tool
    return [originalBody(tool) ?? { type: 'function', name, ...(description !== undefined && { description }), parameters, strict }]
  }
  if (tool.dialect === dialect) return [tool.body]
  warnings.push(unsupported(param, `\`${param}\` is a tool of another kind of provider and was left out.`))
  return []
}

function writeChoice(choice: ToolChoice, warnings: Warning[]): Json | undefined {
  if (typeof choice === 'string') return choice
  if (choice.type === 'function') return { type: 'function', name: choice.name }
  if (choice.dialect === dialect) return choice.body
  warnings.push(unsupported('tool_choice', '`tool_choice` is of another kind of provider and was left out.'))
  return undefined
}

export const responsesProvider: ProviderDialect = {
  name: dialect,
  encodeRequest,
  decodeResponse,
  decodeEvents,
  decodeFailure: decodeFailedAnswer,
}
