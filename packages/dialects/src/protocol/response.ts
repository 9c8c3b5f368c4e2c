import type { Failure } from './failure.ts'
import type { Item } from './item.ts'
import type { HostedTool } from './model.ts'

/** A whole response as the provider gave it. The gateway's ids and metadata are added later. */
export interface InferenceResponse {
  readonly id: string
  readonly model: string
  /** Unix seconds. */
  readonly created_at: number
  readonly output: readonly Item[]
  readonly outcome: Outcome
  readonly usage?: Usage
  readonly unmodeled?: Unmodeled
}

/** Types of content that no item models, as the provider names them. Only a client of the provider's dialect receives it. */
export type Unmodeled = readonly string[]

/** How a response ended. */
export type Outcome =
  | {
      readonly status: 'completed'
      /** The provider's reason, if the dialect does not know it. The response is complete as far as the gateway can tell; a warning names it. */
      readonly unknown_reason?: string
    }
  /** `max_output_tokens`, `content_filter`, or any other reason that the provider names. */
  | { readonly status: 'incomplete'; readonly reason: string }
  | { readonly status: 'failed'; readonly error: Failure }

/** Token counts. Input includes cache reads and writes; output includes reasoning. */
export interface Usage {
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cached_tokens: number
  readonly cache_write_tokens: number
  /** Cache writes with a longer lifetime (one hour, or twelve at OpenAI), which cost more. */
  readonly cache_write_1h_tokens?: number
  readonly reasoning_tokens: number
  /** Uncached audio input. Undefined if there is none, or if it is not reported. */
  readonly audio_tokens?: number
  /** Calls of provider-run tools that are charged per call. Undefined if there are none, or if they are not reported. */
  readonly hosted_calls?: HostedCalls
  /**
   * Kinds of other provider-run tools that may be charged, such as `x_search_call`. The gateway has no price for them. Undefined if there
   * are none.
   */
  readonly other_calls?: readonly string[]
  /** Request fields that raise the price, as the provider reports them: `{ speed: 'fast' }`. */
  readonly options?: Readonly<Record<string, string>>
  /** The `service_tier` that served the request. Undefined if it is not reported. */
  readonly service_tier?: string
  /** Fields with counts that no reader knows, at most five. Undefined if there are none. */
  readonly unread?: readonly string[]
  /** Model calls that the provider's own totals leave out. Their tokens are part of the counts above. */
  readonly extra_steps?: ExtraSteps
  /** True if the provider reported no usage and the gateway counted itself. */
  readonly estimated?: boolean
}

/** Token counts of the model calls that a provider made for a response beside those of its totals, such as a compaction. */
export interface ExtraSteps {
  readonly count: number
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cached_tokens: number
  readonly cache_write_tokens: number
  readonly cache_write_1h_tokens: number
}

/** How often each hosted tool was called. */
export type HostedCalls = { readonly [Tool in HostedTool]?: number }

/** Something that was dropped, clamped or worked around. */
export interface Warning {
  readonly code: 'unsupported_parameter' | 'provider_timeout' | (string & {})
  readonly message: string
  readonly param?: string
}
