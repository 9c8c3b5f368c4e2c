import type { Item } from './item.ts'
import type { DataPolicyDemand } from './provider-facts.ts'
import type { SchemaFitter } from './schemas.ts'
import type { Native, Tool } from './tool.ts'
import type { DialectName, JsonObject } from './wire.ts'

/** An inference request in the internal format. */
export interface InferenceRequest {
  /** What to generate. */
  readonly prompt: Prompt
  /** Which models and providers may serve it. */
  readonly routing: RoutingOptions
  readonly delivery: 'whole' | 'stream'
  /**
   * Conversation name, as in the header `x-session-id`: its requests prefer the provider that has the conversation in its prompt cache.
   * `prompt.prompt_cache_key` takes precedence. Never sent to a provider.
   */
  readonly session?: string
  /** Headers of the client's dialect, forwarded to a provider of the same dialect (`anthropic-beta`). */
  readonly headers?: { readonly dialect: DialectName; readonly values: Readonly<Record<string, string>> }
  /** `gateway.metadata`: up to 16 strings, kept in the request log, never sent to a provider. */
  readonly metadata?: Readonly<Record<string, string>>
  /**
   * Fits the schemas of tools and response formats, within one budget for all attempts. Set by the gateway; if undefined, each encoding has
   * its own budget.
   */
  readonly schemas?: SchemaFitter
}

/** What to generate. Fields have the names and ranges of the API's create-response table (§2.1). */
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
    /** Whether to return reasoning summaries: `auto`, `concise`, `detailed` or `none`. Undefined if the client does not specify it. */
    readonly summary?: string
    /** Thinking budget in tokens, if the client's dialect has one. `effort` is then the closest level. */
    readonly budget_tokens?: number
  }
  /** Stop sequences. */
  readonly stop?: readonly string[]
  readonly seed?: number
  readonly truncation?: string
  readonly metadata?: Readonly<Record<string, string>>
  readonly include?: readonly string[]
  readonly user?: string
  readonly safety_identifier?: string
  readonly prompt_cache_key?: string
  readonly service_tier?: string
  /** Provider-specific parameters, merged last into the provider's body. */
  readonly extensions?: JsonObject
  /** Body fields that no built-in dialect knows. They are forwarded to a provider of the same dialect; elsewhere they cause a warning. */
  readonly native?: Native
}

/** Reasoning effort, from none to the maximum. */
export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'

/** Format of the response text: free text, any JSON object, or JSON that matches a schema. */
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

/** Whether the model may, must or must not call a tool, or which tool it must call. */
export type ToolChoice = 'auto' | 'none' | 'required' | { readonly type: 'function'; readonly name: string } | Native

/** `gateway.routing` and the requested models. Times are in milliseconds. */
export interface RoutingOptions {
  readonly models: readonly [string, ...string[]]
  readonly allow_fallbacks: boolean
  readonly strategy?: string
  readonly tier?: 'priority'
  /** Limit of one attempt: until the first byte of a stream, otherwise until the end of the response. */
  readonly timeout_ms?: number
  /** Limit of the whole request, including retries and fallbacks. */
  readonly deadline_ms?: number
  /** Provider ids to try first, in this order. */
  readonly order?: readonly string[]
  readonly only?: readonly string[]
  readonly ignore?: readonly string[]
  /** Maximum price of an offer, in USD per million tokens. */
  readonly max_price?: { readonly input?: number; readonly output?: number }
  /** The least strict data policy that is acceptable. Default: `any`. */
  readonly data_policy?: DataPolicyDemand
  /**
   * Whether a second provider may be called while the first is silent. Only for streams without hosted tools. Default: the gateway's
   * setting.
   */
  readonly hedge?: boolean
  /** Whether the workspace's own credentials are tried before the operator's. Default: true. */
  readonly byok_first?: boolean
  /** Turns every warning into a 400. */
  readonly strict?: boolean
}
