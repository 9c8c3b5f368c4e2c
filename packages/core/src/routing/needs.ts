import { type NamedModel, wantsLogprobs } from '@signalbox/dialects/common'
import type {
  DataPolicyDemand,
  DialectName,
  InferenceRequest,
  Item,
  Model,
  Prompt,
  RoutingOptions,
  Tool,
} from '@signalbox/dialects/protocol'
import { originalOf } from '@signalbox/dialects/protocol'
import { type ContentNeeds, contentNeedsOf, type NativeNeed } from './media-needs.ts'
import { storedFieldOf } from './stored-fields.ts'

/** What a request requires of an offer. */
export interface Needs extends ContentNeeds {
  readonly stream: boolean
  readonly structuredOutput: boolean
  readonly jsonMode: boolean
  readonly logprobs: boolean
  /** Whether reasoning is requested. */
  readonly reasoning: boolean
  readonly toolChoiceRequired: boolean
  /** The final message, if it is an assistant message. */
  readonly prefill?: NativeNeed
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

/** Whether the workspace or the caller restricts models. */
export const restrictsModels = ({ allowed_models, caller_models }: Demands): boolean =>
  allowed_models !== undefined || caller_models !== undefined

const dialectOf = (tool: Tool): readonly DialectName[] => {
  const original = originalOf(tool)
  return original ? [original.dialect] : []
}

const bringsFunctions = (tool: Tool): boolean => tool.type === 'function' || tool.tools !== undefined

const onlyDialectsOf = (tool: Tool): readonly DialectName[] => {
  if (tool.type === 'function') return tool.custom?.grammar ? dialectOf(tool) : []
  return tool.tools ? tool.tools.flatMap(onlyDialectsOf) : [tool.dialect]
}

/** The need of a conversation that ends with this message of the assistant. */
function prefillNeed(last: Item): Pick<Needs, 'prefill'> {
  const original = originalOf(last)
  return original ? { prefill: { dialect: original.dialect, param: original.path ?? 'input' } } : {}
}

const noTools: readonly Tool[] = []
const noDialects: readonly DialectName[] = []

export function needsOf({ prompt, delivery }: InferenceRequest, inputTokens: number): Needs {
  const tools = prompt.tools ?? noTools
  const content = contentNeedsOf(prompt.input)
  const last = prompt.input.at(-1)
  return {
    ...content,
    stream: delivery === 'stream',
    tools: content.tools || tools.some(bringsFunctions),
    structuredOutput: prompt.text?.format?.type === 'json_schema',
    jsonMode: prompt.text?.format?.type === 'json_object',
    logprobs: wantsLogprobs(prompt),
    reasoning: prompt.reasoning?.effort !== undefined && prompt.reasoning.effort !== 'none',
    toolChoiceRequired: prompt.tool_choice === 'required',
    ...(last?.type === 'message' && last.role === 'assistant' && prefillNeed(last)),
    pricing: prompt,
    toolDialects: tools.length === 0 ? noDialects : tools.flatMap(onlyDialectsOf),
    inputTokens,
    outputTokens: prompt.max_output_tokens,
    storedField: storedFieldOf(prompt),
    prompt,
  }
}
