// Types of the Responses API: the fields as they are on the wire. Every object may have more fields than are declared here, such as
// vendor extensions and fields of newer API versions.

/** Allows fields beside the declared ones. */
export interface Extensible {
  readonly [field: string]: unknown
}

/** Makes every field optional; null and undefined count as absent. */
export type Nullish<T> = { readonly [Field in keyof T]?: T[Field] | null | undefined }

/** The body of `POST /v1/responses`. Provider-specific parameters go into `extensions`. */
export interface CreateResponse<ModelId extends string = string, StrategyName extends string = string>
  extends Nullish<ResponsesOptions<ModelId, StrategyName>> {
  readonly input: string | readonly InputItem[]
}

interface ResponsesOptions<ModelId extends string, StrategyName extends string> {
  /** Id or alias. Required unless `gateway.models` is set. */
  model: ModelId
  instructions: string
  tools: readonly (FunctionToolBody | OtherTool)[]
  tool_choice: 'auto' | 'none' | 'required' | ({ readonly type: string } & Extensible)
  parallel_tool_calls: boolean
  max_output_tokens: number
  max_tool_calls: number
  temperature: number
  top_p: number
  top_k: number
  top_logprobs: number
  frequency_penalty: number
  presence_penalty: number
  text: Nullish<{ format: TextFormatBody; verbosity: string }> & Extensible
  reasoning: Nullish<{
    effort: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max' | 'off'
    summary: 'auto' | 'concise' | 'detailed'
  }> &
    Extensible
  truncation: string
  metadata: Readonly<Record<string, string>>
  include: readonly string[]
  user: string
  safety_identifier: string
  prompt_cache_key: string
  service_tier: string
  /** Responses are not stored, but their items can be referenced for an hour. */
  store: false
  stream: boolean
  gateway: GatewayFields<ModelId, StrategyName>
  /** Provider-specific parameters. */
  extensions: Extensible
}

/** Options for the gateway itself, the same in every dialect. */
export type GatewayFields<ModelId extends string = string, StrategyName extends string = string> = Nullish<{
  /** Candidate models, instead of `model`. */
  models: readonly [ModelId, ...ModelId[]]
  metadata: Readonly<Record<string, string>>
  routing: Nullish<{
    strategy: StrategyName
    tier: 'priority'
    timeout_ms: number
    deadline_ms: number
    allow_fallbacks: boolean
    order: readonly string[]
    only: readonly string[]
    ignore: readonly string[]
    max_price: Nullish<{ input: number; output: number }>
    /** The data policy that a provider must offer at least. */
    data_policy: 'any' | 'no_training' | 'zdr'
    /** Whether a second provider may be called while the first has sent nothing. Streams only. */
    hedge: boolean
    /** Whether your own provider keys are used before the gateway's (the default) or after. */
    byok_first: boolean
    /** Turns every warning into a 400. */
    strict: boolean
  }>
}>

interface FunctionToolBody extends Extensible, Nullish<{ description: string; parameters: Extensible; strict: boolean }> {
  readonly type: 'function'
  readonly name: string
}
/** A tool that the provider runs. */
interface OtherTool extends Extensible {
  readonly type: string
}

type TextFormatBody =
  | ({ readonly type: 'text' | 'json_object' } & Extensible)
  | ({ readonly type: 'json_schema'; readonly name: string; readonly schema: Extensible } & Extensible)

/** An item of the input. Items of a response's output are accepted too. */
export type InputItem = InputMessage | FunctionCallBody | FunctionCallOutputBody | ReasoningBody | OtherItem

interface InputMessage extends Extensible {
  readonly type?: 'message' | undefined
  readonly role: 'user' | 'assistant' | 'system' | 'developer'
  readonly content: string | readonly InputPart[]
}
type InputPart =
  | ({ readonly type: 'input_text' | 'output_text'; readonly text: string } & Extensible)
  | ({ readonly type: 'input_image' } & Nullish<{ image_url: string; detail: string }> & Extensible)
  | ({ readonly type: 'input_file' } & Nullish<{ file_data: string; file_url: string; filename: string }> & Extensible)
  | ({ readonly type: 'input_audio'; readonly input_audio: { readonly data: string; readonly format: string } } & Extensible)
  | ({ readonly type: 'refusal'; readonly refusal: string } & Extensible)
interface FunctionCallOutputBody extends Extensible {
  readonly type: 'function_call_output'
  readonly call_id: string
  readonly output: string | readonly InputPart[]
}
interface OtherItem extends Extensible {
  readonly type: string
}

/** The body of a response. */
export interface ResponseObject extends Extensible {
  readonly id: string
  readonly object: 'response'
  readonly created_at: number
  readonly completed_at: number | null
  /** The model that answered. */
  readonly model: string
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed'
  readonly output: readonly OutputItem[]
  /** All text of the response. Set when it is complete. */
  readonly output_text?: string
  readonly usage: ResponseUsage | null
  readonly incomplete_details: { readonly reason: string } | null
  readonly error: { readonly code: string; readonly message: string } | null
  readonly instructions: string | null
  readonly metadata: Readonly<Record<string, string>>
  /** The provider that answered, and the cost. */
  readonly routing_metadata?: RoutingMetadata
  readonly warnings?: readonly WarningBody[]
}

interface ResponseUsage {
  readonly input_tokens: number
  readonly input_tokens_details: { readonly cached_tokens: number; readonly cache_write_tokens: number }
  readonly output_tokens: number
  readonly output_tokens_details: { readonly reasoning_tokens: number }
  readonly total_tokens: number
}

export interface RoutingMetadata {
  readonly provider: string
  readonly provider_model_id: string
  readonly model_canonical: string
  readonly routing_strategy: string
  readonly throughput_tps?: number
  /** The charge in USD. `byok_usd` is what you pay your own provider, at list price. */
  readonly cost?: { readonly usd: number; readonly byok_usd?: number }
}

export interface WarningBody {
  readonly code: string
  readonly message: string
  readonly param?: string
}

type Status = 'in_progress' | 'completed' | 'incomplete'

/** Discriminated by `type`. Items of a vendor's hosted tools are passed on unchanged. */
export type OutputItem = OutputMessage | FunctionCallBody | ReasoningBody | HostedItem

interface OutputMessage extends Extensible {
  readonly type: 'message'
  readonly id: string
  readonly role: 'assistant'
  readonly status: Status
  readonly content: readonly OutputPart[]
  readonly phase?: 'commentary' | 'final_answer'
}
type OutputPart =
  | ({ readonly type: 'output_text'; readonly text: string; readonly annotations: readonly Extensible[] } & Extensible)
  | ({ readonly type: 'refusal'; readonly refusal: string } & Extensible)
interface FunctionCallBody extends Extensible {
  readonly type: 'function_call'
  readonly id?: string
  readonly call_id: string
  readonly name: string
  /** JSON text, as the model wrote it. */
  readonly arguments: string
  readonly status?: Status
}
interface ReasoningBody extends Extensible {
  readonly type: 'reasoning'
  readonly id?: string
  readonly summary: readonly { readonly type: 'summary_text'; readonly text: string }[]
  readonly content?: readonly { readonly type: 'reasoning_text'; readonly text: string }[]
  /** Send it back unchanged: it holds the reasoning, readable only by its provider. */
  readonly encrypted_content?: string
}
interface HostedItem extends Extensible {
  readonly type: Hosted
  readonly id: string
}
type Hosted =
  | 'web_search_call'
  | 'file_search_call'
  | 'code_interpreter_call'
  | 'image_generation_call'
  | 'computer_call'
  | 'custom_tool_call'
  | 'mcp_list_tools'
  | 'mcp_call'
  | 'mcp_approval_request'
  | 'local_shell_call'
  | 'shell_call'
  | 'shell_call_output'
  | 'apply_patch_call'
  | 'tool_search_call'
  | 'compaction'

interface Numbered extends Extensible {
  readonly sequence_number: number
}
interface AboutItem extends Numbered {
  readonly item_id: string
  readonly output_index: number
}
interface AboutPart extends AboutItem {
  readonly content_index: number
}
interface AboutSummary extends AboutItem {
  readonly summary_index: number
}
type AnyPart = OutputPart | ({ readonly type: 'reasoning_text'; readonly text: string } & Extensible)

/** Discriminated by `type`. Does not include `response.failed` and `error`, because failures are thrown. */
export type ResponseStreamEvent =
  | (Numbered & {
      readonly type: 'response.created' | 'response.in_progress' | 'response.completed' | 'response.incomplete'
      readonly response: ResponseObject
    })
  | (Numbered & {
      readonly type: 'response.output_item.added' | 'response.output_item.done'
      readonly output_index: number
      readonly item: OutputItem
    })
  | (AboutPart & { readonly type: 'response.content_part.added' | 'response.content_part.done'; readonly part: AnyPart })
  | (AboutPart & {
      readonly type: 'response.output_text.delta'
      readonly delta: string
      readonly logprobs: readonly Extensible[]
    })
  | (AboutPart & { readonly type: 'response.output_text.done'; readonly text: string; readonly logprobs: readonly Extensible[] })
  | (AboutPart & {
      readonly type: 'response.output_text.annotation.added'
      readonly annotation_index: number
      readonly annotation: Extensible
    })
  | (AboutPart & { readonly type: 'response.refusal.delta'; readonly delta: string })
  | (AboutPart & { readonly type: 'response.refusal.done'; readonly refusal: string })
  | (AboutPart & { readonly type: 'response.reasoning_text.delta'; readonly delta: string })
  | (AboutPart & { readonly type: 'response.reasoning_text.done'; readonly text: string })
  | (AboutSummary & {
      readonly type: 'response.reasoning_summary_part.added' | 'response.reasoning_summary_part.done'
      readonly part: { readonly type: 'summary_text'; readonly text: string }
    })
  | (AboutSummary & { readonly type: 'response.reasoning_summary_text.delta'; readonly delta: string })
  | (AboutSummary & { readonly type: 'response.reasoning_summary_text.done'; readonly text: string })
  | (AboutItem & { readonly type: 'response.function_call_arguments.delta'; readonly delta: string })
  | (AboutItem & {
      readonly type: 'response.function_call_arguments.done'
      readonly name: string
      readonly arguments: string
    })
  | HostedEvent

/** An event of a tool that the provider runs. */
type HostedEvent = Numbered & {
  readonly type: `response.${'web_search_call' | 'file_search_call' | 'code_interpreter_call' | 'code_interpreter_call_code' | 'image_generation_call' | 'mcp_list_tools' | 'mcp_call' | 'mcp_call_arguments' | 'custom_tool_call_input' | 'shell_call_command' | 'shell_call_output_content' | 'audio' | 'audio.transcript'}.${string}`
}

export interface ResponsesShapes<ModelId extends string = string, StrategyName extends string = string> {
  readonly body: CreateResponse<ModelId, StrategyName>
  readonly whole: ResponseObject
  readonly event: ResponseStreamEvent
}
