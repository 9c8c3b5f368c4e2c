import { contentLost, dropGatewayFields, dropRefused, type Encoded, extend, nearestEffort, unsupported } from '../common/apply-quirks.ts'
import { isCustomTool } from '../common/custom-tools.ts'
import { droppedReasoning, hasWords } from '../common/dropped-reasoning.ts'
import { applyServiceTier, dropSampling, tierField } from '../common/encoded.ts'
import { fittedNames } from '../common/fitted-names.ts'
import { shortCallId, shortId } from '../common/ids.ts'
import { combinedWarning, failedToolPaths, itemParts, lostCachePoints, lostCitations } from '../common/part-warnings.ts'
import { openaiTiers, surchargedFields } from '../common/service-tier.ts'
import { splitNativeFields } from '../common/shared-fields.ts'
import { customToolNames, withoutDoubles } from '../common/tool-groups.ts'
import { type Renamed, type ToolRenames, withPlainNames } from '../common/tool-names.ts'
import { withUniqueCallIds } from '../common/unique-call-ids.ts'
import type { EncodedRequest } from '../protocol/dialect.ts'
import type { Item, MessageItem } from '../protocol/item.ts'
import type { Offer, Quirks } from '../protocol/model.ts'
import { originalOf, pathOf, remember } from '../protocol/original.ts'
import type { InferenceRequest, Prompt, ToolChoice } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import type { CustomInput, FunctionTool, Tool } from '../protocol/tool.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { carriesBreakpoint, encodeInputItem, originalBody } from './items.ts'
import { dialect } from './wire.ts'

export function encodeRequest(request: InferenceRequest, offer: Offer, quirks: Quirks): EncodedRequest {
  const original = originalBody(request)
  const { prompt, toolNames }: Renamed = original ? request : withPlainNames(request.prompt, naming)
  const encoded = original ? { body: withoutGatewayFields(original), warnings: [] } : encodePrompt(prompt, quirks)
  const { body, warnings } = withEffort(raiseCap(dropGatewayFields(encoded, ownFields), quirks), prompt, quirks)
  const input = withShortIds(quirks.sealedReasoning ? withoutPlainReasoning(body.input) : body.input)
  const plainReasoning = quirks.sealedReasoning ? droppedReasoning(plainReasoningIn(request.prompt)) : []
  const addressed = { ...body, input, model: offer.model, store: false, stream: request.delivery === 'stream' }
  const tiered = applyServiceTier({ body: addressed, warnings: [...warnings, ...plainReasoning] }, request.routing, {
    price: offer.price,
    quirks,
  })
  const extended = extend(dropRefused(dropSampling(tiered, prompt, quirks), quirks), prompt.extensions)
  const clientCustomTools = quirks.ownCustomTools ? customToolNames(prompt) : undefined
  const mapping = { ...(toolNames && { toolNames }), ...(clientCustomTools && { clientCustomTools }) }
  return Object.keys(mapping).length > 0 ? { ...extended, mapping } : extended
}

const renamed = (body: JsonObject, name: string): JsonObject => ({ ...body, name })
const naming: ToolRenames = { dialect, maxLength: 128, tool: renamed, call: renamed }

/** Gateway-controlled fields that exist in this dialect. */
const ownFields: ReadonlySet<string> = new Set([
  ...['model', 'stream', 'stream_options', 'store', 'background', 'previous_response_id', 'conversation', 'prompt'],
  ...['input', 'instructions', 'tools', 'max_output_tokens', 'service_tier', ...surchargedFields],
])

/** The client's own body, so that its unknown fields are kept. */
const withoutGatewayFields = ({ gateway, extensions, ...body }: JsonObject): JsonObject => body

/** Removes plain reasoning of other models: a provider that looks reasoning up by id fails on it. */
const withoutPlainReasoning = (input: Json | undefined): Json | undefined =>
  Array.isArray(input)
    ? (input as readonly Json[]).filter(item => !isObject(item) || item.type !== 'reasoning' || Boolean(item.encrypted_content))
    : input

const plainReasoningIn = ({ input }: Prompt): readonly string[] =>
  input.flatMap((item, at) =>
    item.type === 'reasoning' && !item.encrypted_content && hasWords(item) ? [pathOf(item, `input[${at}]`)] : [],
  )

/** Maximum characters of a call id. Other vendors issue longer ones. */
const maxCallIdLength = 64

function withShortIds(input: Json | undefined): Json | undefined {
  if (!Array.isArray(input) || !input.some(hasLongId)) return input
  const items = input as readonly Json[]
  const ids = items.flatMap(item => (hasCallId(item) ? item.call_id : []))
  const { sent } = fittedNames(ids, (id, attempt) => shortCallId(id, attempt, maxCallIdLength))
  return items.map(item => (hasLongId(item) ? { ...item, call_id: sent(item.call_id) } : item))
}

type CallItem = JsonObject & { readonly call_id: string }

const hasCallId = (item: Json): item is CallItem => isObject(item) && typeof item.call_id === 'string'

const hasLongId = (item: Json): item is CallItem => hasCallId(item) && item.call_id.length > maxCallIdLength

function raiseCap({ body, warnings }: Encoded, { minOutputTokens: least = 0 }: Quirks): Encoded {
  const cap = body.max_output_tokens
  if (typeof cap !== 'number' || cap >= least) return { body, warnings }
  const message = `This provider requires at least ${least} tokens; \`max_output_tokens\` was raised from ${cap} to ${least}.`
  return { body: { ...body, max_output_tokens: least }, warnings: [...warnings, unsupported('max_output_tokens', message)] }
}

function withEffort({ body, warnings }: Encoded, { reasoning }: Prompt, quirks: Quirks): Encoded {
  if (!reasoning?.effort) return { body, warnings }
  const near = nearestEffort(reasoning.effort, quirks.efforts)
  const { effort, ...rest } = isObject(body.reasoning) ? body.reasoning : {}
  return {
    body: { ...body, reasoning: { ...rest, ...(near.effort && { effort: near.effort }) } },
    warnings: [...warnings, ...near.warnings],
  }
}

/** Fields with the same name and meaning on both sides. */
const sameFields = [
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
] as const satisfies readonly (keyof Prompt)[]

function encodePrompt(prompt: Prompt, quirks: Quirks): Encoded {
  const { tools, tool_choice, text, reasoning, native } = prompt
  const input = withUniqueCallIds(prompt.input)
  const warnings: Warning[] = [...unsupportedFields(prompt)]
  const custom = new Set(input.flatMap(item => (item.type === 'function_call' && item.custom ? [item.call_id] : [])))
  const items = (quirks.messagePhases ? withDerivedPhases(input) : input).flatMap((item, at): readonly JsonObject[] => {
    const body = withResultType(item, custom)
    if (!body) warnings.push(foreign(pathOf(item, `input[${at}]`)))
    for (const [index, part] of itemParts(item).entries()) {
      if (part.type === 'native' && part.dialect !== dialect) warnings.push(foreign(pathOf(part, `input[${at}].content[${index}]`)))
    }
    return body ? [body] : []
  })
  const body: Record<string, Json | undefined> = { ...(native?.dialect === dialect && native.body), input: items }
  for (const field of sameFields) if (prompt[field] !== undefined) body[field] = prompt[field]
  const tier = tierField(prompt, openaiTiers, quirks)
  warnings.push(...tier.warnings)
  Object.assign(body, tier.body)
  if (prompt.safety_identifier !== undefined) body.safety_identifier = shortId(prompt.safety_identifier)
  if (tools) body.tools = withoutDoubles(tools).flatMap((tool, at) => encodeTool(tool, pathOf(tool, `tools[${at}]`), warnings))
  if (tool_choice !== undefined) body.tool_choice = encodeChoice(tool_choice, tools, warnings)
  if (text)
    body.text = {
      ...originalBody(text),
      ...(text.format && { format: { ...text.format } }),
      ...(text.verbosity !== undefined && { verbosity: text.verbosity }),
    }
  if (reasoning) body.reasoning = { ...originalBody(reasoning), ...encodeReasoning(reasoning) }
  const { shared, lost } = splitNativeFields(native?.dialect === dialect ? undefined : native, 'chat', quirks)
  Object.assign(body, Object.fromEntries(shared))
  for (const field of lost) warnings.push(unsupported(field, `\`${field}\` is not supported by this provider and was left out.`))
  return { body, warnings }
}

type Phase = NonNullable<MessageItem['phase']>

/**
 * The items with a phase on each assistant message that came in another dialect without one, as far as the conversation shows it: text
 * before a call of the same turn is commentary, and the last text before the user speaks again is the final answer. OpenAI asks clients to
 * send phases back, and its models may stop early in long chains of tools without them.
 */
function withDerivedPhases(input: readonly Item[]): readonly Item[] {
  const items = [...input]
  /** The phase of an assistant message at this place. Undefined if what follows does not show it, as at the end of the conversation. */
  let phase: Phase | undefined
  for (let at = items.length - 1; at >= 0; at -= 1) {
    const item = items[at] as Item
    if (item.type === 'function_call' || item.type === 'function_call_output') phase = 'commentary'
    else if (item.type === 'message' && item.role === 'user') phase = 'final_answer'
    else if (item.type === 'message' && item.role === 'assistant') {
      if (phase && !item.phase && originalOf(item)?.dialect !== dialect)
        items[at] = remember<MessageItem>({ ...item, phase }, originalOf(item))
      // Of several messages in a row, only the last one is known to be the answer.
      if (phase === 'final_answer') phase = undefined
    }
  }
  return items
}

/** The result of a custom tool call has its own type. */
function withResultType(item: Item, customCalls: ReadonlySet<string>): JsonObject | undefined {
  const body = encodeInputItem(item)
  return body && item.type === 'function_call_output' && customCalls.has(item.call_id) ? { ...body, type: 'custom_tool_call_output' } : body
}

const encodeReasoning = ({ effort, summary }: NonNullable<Prompt['reasoning']>): JsonObject => ({
  ...(effort !== undefined && { effort }),
  ...(summary !== undefined && summary !== 'none' && { summary }),
})

/** Warnings for the fields that this dialect cannot express. */
const unsupportedFields = ({ stop, seed, ...prompt }: Prompt): readonly Warning[] => [
  ...lostCitations(prompt.input),
  ...combinedWarning(failedToolPaths(prompt.input), 'is not supported by this provider; the tool result was sent without it.'),
  ...combinedWarning(
    lostCachePoints(prompt, carriesBreakpoint),
    'is a cache marker, which this provider does not support there; it was left out.',
  ),
  ...(stop && stop.length > 0 ? [unsupported('stop', '`stop` is not supported by this provider and was left out.')] : []),
  ...(seed !== undefined ? [unsupported('seed', '`seed` is not supported by this provider and was left out.')] : []),
]

const foreign = (param: string): Warning => contentLost(param, `\`${param}\` is not supported by the API of this provider.`)

function encodeTool(tool: Tool, param: string, warnings: Warning[]): readonly JsonObject[] {
  if (tool.type !== 'native') {
    const { custom } = tool
    return [originalBody(tool) ?? (custom ? encodeCustomTool(tool, custom) : encodeFunctionTool(tool))]
  }
  if (tool.dialect === dialect) return [tool.body]
  warnings.push(unsupported(param, `\`${param}\` is a tool that this provider does not support and was left out.`))
  return []
}

/** `strict` is left out only if the client left it out in this dialect, where a schema is then strict if it can be. */
const encodeFunctionTool = ({ name, description, parameters, strict }: FunctionTool): JsonObject => ({
  type: 'function',
  name,
  ...(description !== undefined && { description }),
  parameters: parameters ?? null,
  ...(strict !== undefined && { strict }),
})

const encodeCustomTool = ({ name, description }: FunctionTool, { grammar }: CustomInput): JsonObject => ({
  type: 'custom',
  name,
  ...(description !== undefined && { description }),
  ...(grammar && { format: { type: 'grammar', ...grammar } }),
})

function encodeChoice(choice: ToolChoice, tools: readonly Tool[] | undefined, warnings: Warning[]): Json | undefined {
  if (typeof choice === 'string') return choice
  if (choice.type === 'function') return { type: isCustomTool(tools, choice.name) ? 'custom' : 'function', name: choice.name }
  if (choice.dialect === dialect) return choice.body
  warnings.push(unsupported('tool_choice', '`tool_choice` is not supported by this provider and was left out.'))
  return undefined
}
