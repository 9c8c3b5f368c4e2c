import { bringsTools, type NamedModel, wantsLogprobs } from '@signalbox/dialects/common'
import type { DataPolicyDemand, DialectName, InferenceRequest, Model, Prompt, RoutingOptions, Tool } from '@signalbox/dialects/protocol'
import { innerDialect, originalOf } from '@signalbox/dialects/protocol'
import { type ContentNeeds, contentNeedsOf, type NativeNeed } from './media-needs.ts'
import { storedFieldOf } from './stored-fields.ts'

/** What a request may need of an offer, as bits. */
export const need = {
  /** Needs of every request: a known price and what the workspace's settings allow; and an offer that is not about to end. */
  allowance: 1 << 0,
  currentOffer: 1 << 1,
  /** Parts of the input that only Responses, or only one dialect, can express. */
  responsesInput: 1 << 2,
  nativeInput: 1 << 3,
  stream: 1 << 4,
  whole: 1 << 5,
  storedField: 1 << 6,
  /** Tools that the provider runs. */
  providerTools: 1 << 7,
  prefill: 1 << 8,
  tools: 1 << 9,
  toolChoiceRequired: 1 << 10,
  media: 1 << 11,
  structuredOutput: 1 << 12,
  jsonMode: 1 << 13,
  /** More room than the offer with the smallest context window has. */
  contextWindow: 1 << 14,
  callerModels: 1 << 15,
  toolModels: 1 << 16,
  /** Options of `gateway.routing`. */
  only: 1 << 17,
  ignore: 1 << 18,
  dataPolicy: 1 << 19,
  maxPrice: 1 << 20,
  /** Needs that exclude an offer only while another meets them. */
  outputTokens: 1 << 21,
  toolDialects: 1 << 22,
  recordDialects: 1 << 23,
  logprobs: 1 << 24,
} as const

/** What a request requires of an offer. */
export interface Needs extends ContentNeeds {
  readonly stream: boolean
  /** Whether reasoning is requested. */
  readonly reasoning: boolean
  /** The final message, if it is an assistant message. */
  readonly prefill: NativeNeed | undefined
  /** Fields that affect its price. */
  readonly pricing: Pick<Prompt, 'service_tier' | 'native'>
  /**
   * Dialects of tools that exist in only one dialect. They are preferred; elsewhere the tool, or the grammar of a custom tool, is dropped
   * with a warning.
   */
  readonly toolDialects: readonly DialectName[]
  /** Estimated input tokens. */
  readonly inputTokens: number
  /** The client's limit on output tokens. */
  readonly outputTokens: number | undefined
  /** The path of the first field that names something stored at the provider, such as a file. */
  readonly storedField: string | undefined
  /** The prompt, for rules about the tools that an offer runs. */
  readonly prompt: Prompt
}

/** Requirements of the workspace's settings for all requests, and restrictions of the caller. */
export interface Demands {
  readonly data_policy_required?: DataPolicyDemand
  /** Provider ids. Absent: all. */
  readonly allowed_providers?: readonly string[]
  readonly blocked_providers?: readonly string[]
  /** Ids or aliases. Absent: all. */
  readonly allowed_models?: readonly string[]
  /** Ids or aliases that the caller may call. Absent: all. */
  readonly caller_models?: readonly string[]
  /** Whether the operator's credentials are excluded. */
  readonly own_keys_only?: boolean
  /** Whether the caller, an end user, may name nothing that is stored at a provider. */
  readonly no_stored_fields?: boolean
}

/** Everything that decides which candidates can serve a request. */
export interface RoutingQuery {
  /** Fields of `routing` that come from the routing defaults of the workspace, not from the request. */
  readonly defaulted?: ReadonlySet<string> | undefined
  readonly needs: Needs
  /** The needs as bits, with those for the options of `routing` and for the restrictions. */
  readonly bits: number
  readonly routing: RoutingOptions
  readonly demands: Demands
  /** Whether the gateway can download images and files at URLs. */
  readonly readsMedia: boolean
  /** Models whose candidates all use the dialect `responses`. Empty for a request without content that needs one dialect. */
  readonly responsesOnly: ReadonlySet<Model>
  /** Models that tools of the request name. Empty if every model is allowed. */
  readonly toolModels: readonly NamedModel[]
  /** Finds a model by its id or an alias. */
  readonly find: (idOrAlias: string) => Model | undefined
}

const dialectOf = (tool: Tool): readonly DialectName[] => {
  const original = originalOf(tool)
  return original ? [original.dialect] : []
}

const bringsFunctions = (tool: Tool): boolean => tool.type === 'function' || tool.tools !== undefined

const onlyDialectsOf = (tool: Tool): readonly DialectName[] => {
  if (tool.type === 'function') return tool.custom?.grammar ? dialectOf(tool) : []
  return tool.tools ? tool.tools.flatMap(onlyDialectsOf) : [tool.dialect]
}

const noTools: readonly Tool[] = []
const noDialects: readonly DialectName[] = []

export function needsOf({ prompt, delivery }: InferenceRequest, inputTokens: number): Needs {
  const tools = prompt.tools ?? noTools
  const content = contentNeedsOf(prompt.input)
  const last = prompt.input.at(-1)
  const ending = last?.type === 'message' && last.role === 'assistant' ? originalOf(last) : undefined
  return {
    ...content,
    stream: delivery === 'stream',
    tools: content.tools || tools.some(bringsFunctions),
    reasoning: prompt.reasoning?.effort !== undefined && prompt.reasoning.effort !== 'none',
    prefill: ending && { dialect: ending.dialect, param: ending.path ?? 'input' },
    pricing: prompt,
    toolDialects: tools.length === 0 ? noDialects : tools.flatMap(onlyDialectsOf),
    inputTokens,
    outputTokens: prompt.max_output_tokens,
    storedField: storedFieldOf(prompt),
    prompt,
  }
}

/** The needs of a request as bits. `smallestInput`: the fewest input tokens that fit in an offer that may serve it. */
export function bitsOf({ needs, routing, demands, toolModels }: Omit<RoutingQuery, 'bits'>, smallestInput: number): number {
  const { prompt } = needs
  let bits: number = need.allowance | need.currentOffer | (needs.stream ? need.stream : need.whole)
  if (needs.natives.length > 0) bits |= need.nativeInput
  if (needs.natives.some(({ dialect }) => dialect === innerDialect)) bits |= need.responsesInput
  if (needs.storedField !== undefined) bits |= need.storedField
  if (prompt.native !== undefined || prompt.extensions !== undefined || bringsTools(prompt)) bits |= need.providerTools
  if (needs.prefill) bits |= need.prefill
  if (needs.tools) bits |= need.tools
  if (prompt.tool_choice === 'required') bits |= need.toolChoiceRequired
  if (needs.media.length > 0) bits |= need.media
  if (prompt.text?.format?.type === 'json_schema') bits |= need.structuredOutput
  if (prompt.text?.format?.type === 'json_object') bits |= need.jsonMode
  // The estimate is on the high side, so only prompts that are clearly too long are excluded. The provider decides about the others.
  if (!needs.documents && needs.inputTokens > 2 * smallestInput) bits |= need.contextWindow
  if (demands.caller_models) bits |= need.callerModels
  if (toolModels.length > 0) bits |= need.toolModels
  if (routing.only) bits |= need.only
  if (routing.ignore) bits |= need.ignore
  if (routing.data_policy) bits |= need.dataPolicy
  if (routing.max_price) bits |= need.maxPrice
  if (needs.outputTokens !== undefined) bits |= need.outputTokens
  if (needs.toolDialects.length > 0) bits |= need.toolDialects
  if (needs.recordDialects.length > 0) bits |= need.recordDialects
  if (wantsLogprobs(prompt)) bits |= need.logprobs
  return bits
}
