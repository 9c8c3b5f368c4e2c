import type { Item } from './item.ts'
import type { DataPolicyDemand } from './provider-facts.ts'
import type { SchemaFitter } from './schemas.ts'
import type { Native, Tool } from './tool.ts'
import type { DialectName, JsonObject } from './wire.ts'

export type { CustomInput, FunctionTool, Tool } from './tool.ts'

/** What a client asks for, in the one language that everything inside speaks. */
export interface InferenceRequest {
  /** What to generate. */
  readonly prompt: Prompt
  /** Where it may be generated. */
  readonly routing: RoutingOptions
  readonly delivery: 'whole' | 'stream'
  /**
   * Names the conversation, as the header `x-session-id` does: its requests go where its beginning is in a prompt cache.
   * `prompt.prompt_cache_key` goes before it. Never sent to a provider.
   */
  readonly session?: string
  /** Headers that belong to the caller's language and go on to a provider of the same one (`anthropic-beta`). */
  readonly headers?: { readonly dialect: DialectName; readonly values: Readonly<Record<string, string>> }
  /** `gateway.metadata`: up to 16 strings, kept in the request log, never sent to a provider. */
  readonly metadata?: Readonly<Record<string, string>>
  /** Fits the schemas of tools and of the answer, for all attempts. Set by the gateway; absent: each encoding has a budget of its own. */
  readonly schemas?: SchemaFitter
}

/** Fields keep the spelling and the ranges of the API's create-response table (§2.1). */
export interface Prompt {
  readonly input: readonly Item[]
  readonly instructions?: string
  readonly tools?: readonly Tool[]
  readonly tool_choice?: ToolChoice
  readonly parallel_tool_calls?: boolean
  readonly max_output_tokens?: number
  readonly max_tool_calls?: number
  readonly temperature?: number
  readonly top_p?: number
  readonly top_k?: number
  readonly top_logprobs?: number
  readonly frequency_penalty?: number
  readonly presence_penalty?: number
  readonly text?: { readonly format?: TextFormat; readonly verbosity?: string }
  readonly reasoning?: {
    readonly effort?: Effort
    /** Thoughts in words are wanted: `auto`, `concise`, `detailed`. `none`: they are not. Absent: the caller did not say. */
    readonly summary?: string
    /** A cap in tokens, where the caller's language has one; `effort` is then set to the level nearest to it. */
    readonly budget_tokens?: number
  }
  /** Texts that end the answer. */
  readonly stop?: readonly string[]
  readonly seed?: number
  readonly truncation?: string
  readonly metadata?: Readonly<Record<string, string>>
  readonly include?: readonly string[]
  readonly user?: string
  readonly safety_identifier?: string
  readonly prompt_cache_key?: string
  readonly service_tier?: string
  /** Provider-specific parameters, merged last into the body that the provider gets. */
  readonly extensions?: JsonObject
  /** Body fields that no dialect of ours knows: they go on to a provider of the same dialect, elsewhere they end in a warning. */
  readonly native?: Native
}

/** How much the model should think, from not at all to as much as it can. */
export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'

/** The format of the answer's text: free, any JSON object, or JSON of a schema. */
export type TextFormat =
  | { readonly type: 'text' }
  | { readonly type: 'json_object' }
  | {
      readonly type: 'json_schema'
      readonly name: string
      readonly schema: JsonObject
      readonly strict?: boolean | null
      readonly description?: string
    }

/** Whether the model may, must or must not call a tool, or which one it must call. */
export type ToolChoice = 'auto' | 'none' | 'required' | { readonly type: 'function'; readonly name: string } | Native

/** `gateway.routing` and the pool. Times are in milliseconds. */
export interface RoutingOptions {
  readonly models: readonly [string, ...string[]]
  readonly allow_fallbacks: boolean
  readonly strategy?: string
  readonly tier?: 'priority'
  /** Ceiling of one attempt: to the first byte of a stream, else to the end of the answer. */
  readonly timeout_ms?: number
  /** Ceiling of the whole request, retries and fallbacks included. */
  readonly deadline_ms?: number
  /** Provider ids, asked first in this order. */
  readonly order?: readonly string[]
  readonly only?: readonly string[]
  readonly ignore?: readonly string[]
  /** USD per million tokens that an offer may cost at most. */
  readonly max_price?: { readonly input?: number; readonly output?: number }
  /** How a provider may deal with what it is sent, at the least strict. Default: `any`. */
  readonly data_policy?: DataPolicyDemand
  /** A second provider may be asked while the first is silent. Streams without hosted tools only. Default: the gateway's. */
  readonly hedge?: boolean
  /** Credentials of the caller's own go before ours (`true`, the default), or after. */
  readonly byok_first?: boolean
  /** Turns every warning into a 400. */
  readonly strict?: boolean
}
