import type { Failure } from './failure.ts'
import type { Item } from './item.ts'
import type { HostedTool } from './model.ts'

/** A whole answer, as a provider gave it; our own ids and metadata are stamped on later. */
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

/** Types of content that no item holds, as the provider names them: only a client of the provider's own language can get it. */
export type Unmodeled = readonly string[]

/** How a response ended. */
export type Outcome =
  | { readonly status: 'completed' }
  /** `max_output_tokens`, `content_filter`, or what else a provider names. */
  | { readonly status: 'incomplete'; readonly reason: string }
  | { readonly status: 'failed'; readonly error: Failure }

/** Tokens. Input includes cache reads and writes, output includes reasoning. */
export interface Usage {
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cached_tokens: number
  readonly cache_write_tokens: number
  /** Those of the cache writes that are kept for an hour, and cost more. */
  readonly cache_write_1h_tokens?: number
  readonly reasoning_tokens: number
  /** Of the input, sound that was not read from a cache. Absent: none, or the provider did not say. */
  readonly audio_tokens?: number
  /** Calls of tools that the provider ran and charges by the call. Absent: none, or the provider did not say. */
  readonly hosted_calls?: HostedCalls
  /** Kinds of other tools that the provider ran and may charge for: `x_search_call`. They have no price here. Absent: none. */
  readonly other_calls?: readonly string[]
  /** Fields of the request that raise its price, as the provider says that they were used: `{ speed: 'fast' }`. */
  readonly options?: Readonly<Record<string, string>>
  /** The `service_tier` that served it, as the provider says. Absent: it did not say. */
  readonly service_tier?: string
  /** True where the provider did not say and we counted ourselves. */
  readonly estimated?: boolean
}

/** How often each hosted tool was called. */
export type HostedCalls = { readonly [Tool in HostedTool]?: number }

/** Something that was dropped, clamped or survived on the way. */
export interface Warning {
  readonly code: 'unsupported_parameter' | 'provider_timeout' | (string & {})
  readonly message: string
  readonly param?: string
}
