import { BodyDraft } from '../common/body-draft.ts'
import { isCustomTool } from '../common/custom-tools.ts'
import { droppedReasoning, hasWords } from '../common/dropped-reasoning.ts'
import { fittedNames } from '../common/fitted-names.ts'
import { shortCallId, shortId } from '../common/ids.ts'
import { combinedWarning, failedToolPaths, itemParts, lostCachePoints, lostCitations } from '../common/part-warnings.ts'
import { dropSampling } from '../common/sampling.ts'
import { applyServiceTier, openaiTiers, setServiceTier, surchargedFields } from '../common/service-tier.ts'
import { splitNativeFields } from '../common/shared-fields.ts'
import { customToolNames, withoutDoubles } from '../common/tool-groups.ts'
import { type Renamed, type ToolRenames, withPlainNames } from '../common/tool-names.ts'
import { withUniqueCallIds } from '../common/unique-call-ids.ts'
import type { EncodedRequest } from '../protocol/dialect.ts'
import type { Item, MessageItem } from '../protocol/item.ts'
import type { Offer, Quirks } from '../protocol/model.ts'
import { originalOf, pathOf, remember } from '../protocol/original.ts'
import type { InferenceRequest, Prompt, ToolChoice } from '../protocol/request.ts'
import type { FunctionTool, Tool } from '../protocol/tool.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { fields } from './fidelity.ts'
import { carriesBreakpoint, encodeInputItem, originalBody } from './items.ts'
import { dialect } from './wire.ts'

/** Encodes a request. The client's own body is sent as it came, so that its unknown fields are kept. */
export function encodeRequest(request: InferenceRequest, offer: Offer, quirks: Quirks): EncodedRequest {
  const original = originalBody(request)
  const { prompt, toolNames }: Renamed = original ? request : withPlainNames(request.prompt, naming)
  const draft = new BodyDraft(quirks, request.schemas)
  if (original) {
    const { gateway, extensions, ...body } = original
    draft.assign(body)
  } else encodePrompt(prompt, draft)
  draft.dropGatewayFields(ownFields)
  draft.clamp(
    'max_output_tokens',
    { min: quirks.minOutputTokens },
    (cap, least) => `This provider requires at least ${least} tokens; \`max_output_tokens\` was raised from ${cap} to ${least}.`,
  )
  encodeEffort(prompt, draft)
  encodeInput(request.prompt, draft)
  draft.assign({ model: offer.model, store: false, stream: request.delivery === 'stream' })
  applyServiceTier(draft, request.routing, offer.price)
  dropSampling(draft, prompt)
  draft.refuse()
  draft.extend(prompt.extensions)
  const clientCustomTools = quirks.ownCustomTools ? customToolNames(prompt) : undefined
  return {
    body: draft.body,
    warnings: draft.warnings,
    mapping: toolNames || clientCustomTools ? { toolNames, clientCustomTools } : undefined,
  }
}

const renamed = (body: JsonObject, name: string): JsonObject => ({ ...body, name })
const naming: ToolRenames = { dialect, maxLength: 128, tool: renamed, call: renamed }

/** Gateway-controlled fields that exist in this dialect. */
const ownFields: ReadonlySet<string> = new Set([
  ...['model', 'stream', 'stream_options', 'store', 'background', 'previous_response_id', 'conversation', 'prompt'],
  ...['input', 'instructions', 'tools', 'max_output_tokens', 'service_tier', ...surchargedFields],
])

/** Replaces the effort by one that the offer supports. */
function encodeEffort({ reasoning }: Prompt, draft: BodyDraft): void {
  if (!reasoning?.effort) return
  const written = draft.get('reasoning')
  draft.set('reasoning', { ...(isObject(written) ? written : {}), effort: draft.nearestEffort(reasoning.effort, draft.quirks.efforts) })
}

/** Maximum characters of a call id. Other vendors issue longer ones. */
const maxCallIdLength = 64

/** Shortens call ids, and removes plain reasoning of other models: a provider that looks reasoning up by id fails on it. */
function encodeInput({ input }: Prompt, draft: BodyDraft): void {
  const { sealedReasoning } = draft.quirks
  const written = draft.get('input')
  if (Array.isArray(written)) {
    const items = (written as readonly Json[]).filter(
      item => !sealedReasoning || !isObject(item) || item.type !== 'reasoning' || Boolean(item.encrypted_content),
    )
    const ids = items.flatMap(item => (isObject(item) && typeof item.call_id === 'string' ? [item.call_id] : []))
    const { sent, changed } = fittedNames(ids, (id, attempt) => shortCallId(id, attempt, maxCallIdLength))
    const isLong = (item: Json): item is JsonObject & { readonly call_id: string } =>
      isObject(item) && typeof item.call_id === 'string' && item.call_id.length > maxCallIdLength
    draft.set('input', changed.size === 0 ? items : items.map(item => (isLong(item) ? { ...item, call_id: sent(item.call_id) } : item)))
  }
  if (!sealedReasoning) return
  const dropped = input.flatMap((item, index) =>
    item.type === 'reasoning' && !item.encrypted_content && hasWords(item) ? [pathOf(item, `input[${index}]`)] : [],
  )
  draft.warnings.push(...droppedReasoning(dropped))
}

function encodePrompt(prompt: Prompt, draft: BodyDraft): void {
  const { tools, tool_choice: choice, text, reasoning, native, safety_identifier } = prompt
  draft.warnings.push(
    ...lostCitations(prompt.input),
    ...combinedWarning(failedToolPaths(prompt.input), 'is not supported by this provider; the tool result was sent without it.'),
    ...combinedWarning(
      lostCachePoints(prompt, carriesBreakpoint),
      'is a cache marker, which this provider does not support there; it was left out.',
    ),
  )
  draft.omitUnsent(prompt, fields)
  const { shared, lost } = splitNativeFields(native, { own: dialect, sibling: 'chat', quirks: draft.quirks })
  if (native?.dialect === dialect) draft.assign(native.body)
  const input = withUniqueCallIds(prompt.input)
  const custom = new Set(input.flatMap(item => (item.type === 'function_call' && item.custom ? [item.call_id] : [])))
  const items = draft.quirks.messagePhases ? withDerivedPhases(input) : input
  draft.set(
    'input',
    items.flatMap((item, index) => encodeItem(item, pathOf(item, `input[${index}]`), custom, draft)),
  )
  const { instructions, parallel_tool_calls, max_output_tokens, max_tool_calls, temperature, top_p, top_k, top_logprobs } = prompt
  const { frequency_penalty, presence_penalty, truncation, metadata, include, user, prompt_cache_key } = prompt
  draft.assign({ instructions, parallel_tool_calls, max_output_tokens, max_tool_calls, temperature, top_p, top_k, top_logprobs })
  draft.assign({ frequency_penalty, presence_penalty, truncation, metadata, include, user, prompt_cache_key })
  draft.set('safety_identifier', safety_identifier && shortId(safety_identifier))
  setServiceTier(draft, prompt, openaiTiers)
  if (tools) draft.set('tools', encodeTools(withoutDoubles(tools), draft))
  if (choice !== undefined) draft.set('tool_choice', encodeChoice(choice, tools, draft))
  if (text) {
    const known = originalBody(text)
    draft.set('text', { ...known, format: text.format ?? known?.format, verbosity: text.verbosity ?? known?.verbosity })
  }
  if (reasoning) {
    const known = originalBody(reasoning)
    const { effort = known?.effort, summary } = reasoning
    draft.set('reasoning', { ...known, effort, summary: summary === undefined || summary === 'none' ? known?.summary : summary })
  }
  if (native?.dialect !== dialect) for (const [field, value] of shared) draft.set(field, value)
  for (const field of lost) draft.omit(field)
}

/** Encodes an item; empty if it belongs to another dialect. `customCalls`: the ids of calls whose results have a type of their own. */
function encodeItem(item: Item, param: string, customCalls: ReadonlySet<string>, draft: BodyDraft): readonly JsonObject[] {
  const body = encodeInputItem(item)
  if (!body) draft.loseContent(param)
  for (const [index, part] of itemParts(item).entries())
    if (part.type === 'native' && part.dialect !== dialect) draft.loseContent(pathOf(part, `${param}.content[${index}]`))
  if (!body) return []
  const isCustom = item.type === 'function_call_output' && customCalls.has(item.call_id)
  return [isCustom ? { ...body, type: 'custom_tool_call_output' } : body]
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

const encodeTools = (tools: readonly Tool[], draft: BodyDraft): readonly JsonObject[] =>
  tools.flatMap((tool, index) => {
    if (tool.type === 'function') return [originalBody(tool) ?? encodeTool(tool)]
    if (tool.dialect === dialect) return [tool.body]
    draft.omit(pathOf(tool, `tools[${index}]`), 'is a tool that this provider does not support and was left out.')
    return []
  })

/** `strict` is left out only if the client left it out in this dialect, where a schema is then strict if it can be. */
function encodeTool({ name, description, parameters, strict, custom }: FunctionTool): JsonObject {
  if (!custom) return { type: 'function', name, description, parameters: parameters ?? null, strict }
  return { type: 'custom', name, description, format: custom.grammar && { type: 'grammar', ...custom.grammar } }
}

function encodeChoice(choice: ToolChoice, tools: readonly Tool[] | undefined, draft: BodyDraft): Json | undefined {
  if (typeof choice === 'string') return choice
  if (choice.type === 'function') return { type: isCustomTool(tools, choice.name) ? 'custom' : 'function', name: choice.name }
  if (choice.dialect === dialect) return choice.body
  draft.omit('tool_choice')
  return undefined
}
