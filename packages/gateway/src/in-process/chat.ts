import type { Extensible, GatewayFields, Nullish, RoutingMetadata, WarningBody } from './responses.ts'

// Types of the Chat Completions API: the fields that most programs use.

/** The body of `POST /v1/chat/completions`. Provider-specific parameters go into `extensions`. */
export interface CreateChatCompletion<ModelId extends string = string, StrategyName extends string = string>
  extends Nullish<ChatOptions<ModelId, StrategyName>> {
  readonly messages: readonly ChatTurn[]
}

interface ChatOptions<ModelId extends string, StrategyName extends string> {
  /** Id or alias. Required unless `gateway.models` is set. */
  model: ModelId
  stream: boolean
  stream_options: object
  tools: readonly object[]
  tool_choice: string | object
  parallel_tool_calls: boolean
  /** The deprecated names of `tools` and `tool_choice`. */
  functions: readonly object[]
  function_call: string | object
  max_completion_tokens: number
  /** The deprecated name of `max_completion_tokens`. */
  max_tokens: number
  temperature: number
  top_p: number
  top_k: number
  frequency_penalty: number
  presence_penalty: number
  logit_bias: object
  logprobs: boolean
  top_logprobs: number
  seed: number
  stop: string | readonly string[]
  n: number
  response_format: object
  reasoning_effort: string
  verbosity: string
  modalities: readonly string[]
  audio: object
  prediction: object
  web_search_options: object
  metadata: Readonly<Record<string, string>>
  user: string
  safety_identifier: string
  prompt_cache_key: string
  prompt_cache_retention: string
  prompt_cache_options: object
  service_tier: string
  store: boolean
  gateway: GatewayFields<ModelId, StrategyName>
  /** Provider-specific parameters. */
  extensions: Extensible
}

/** Has no index signature, so that message types of other packages are assignable. */
interface ChatTurn
  extends Nullish<{
    content: unknown
    name: string
    tool_calls: readonly object[]
    tool_call_id: string
    refusal: string
    reasoning_content: string
  }> {
  readonly role: string
}

/** The body of a Chat Completions response. */
export interface ChatCompletion extends Extensible {
  readonly id: string
  readonly object: 'chat.completion'
  readonly created: number
  readonly model: string
  readonly choices: readonly ChatChoice[]
  readonly usage?: ChatUsage
  readonly routing_metadata?: RoutingMetadata
  readonly warnings?: readonly WarningBody[]
}

/** One event of a Chat Completions stream. */
export interface ChatCompletionChunk extends Extensible {
  readonly id: string
  readonly object: 'chat.completion.chunk'
  readonly created: number
  readonly model: string
  readonly choices: readonly ChatChunkChoice[]
  readonly usage?: ChatUsage | null
}

type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter'

interface ChatChoice extends Extensible {
  readonly index: number
  readonly finish_reason: FinishReason
  readonly message: {
    readonly role: 'assistant'
    readonly content: string | null
    readonly refusal?: string | null
    readonly reasoning_content?: string
    readonly tool_calls?: readonly ({ readonly id: string; readonly type: 'function'; readonly function: ChatFunction } & Extensible)[]
  } & Extensible
}

interface ChatChunkChoice extends Extensible {
  readonly index: number
  readonly finish_reason: FinishReason | null
  readonly delta: {
    readonly role?: 'assistant'
    readonly content?: string | null
    readonly refusal?: string | null
    readonly reasoning_content?: string
    readonly tool_calls?: readonly ({
      readonly index: number
      readonly id?: string
      readonly function?: Partial<ChatFunction>
    } & Extensible)[]
  } & Extensible
}

interface ChatFunction {
  readonly name: string
  /** JSON text, as the model wrote it. */
  readonly arguments: string
}

interface ChatUsage extends Extensible {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
}

export interface ChatShapes<ModelId extends string = string, StrategyName extends string = string> {
  readonly body: CreateChatCompletion<ModelId, StrategyName>
  readonly whole: ChatCompletion
  readonly event: ChatCompletionChunk
}
