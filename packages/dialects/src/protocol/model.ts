import type { Ability } from './abilities.ts'
import type { OpenAIQuirks } from './openai-quirks.ts'
import type { LimitHeaders } from './rate-limit-headroom.ts'
import type { DialectName, JsonObject } from './wire.ts'

/** A model of the catalog, with the offers that serve it. `Id`: the ids and aliases it can be requested by. `ProviderId`: the ids of its providers. */
export interface Model<Id extends string = string, ProviderId extends string = string, Dialect extends string = DialectName> {
  readonly id: Id
  readonly aliases?: readonly Id[]
  readonly family?: string
  readonly displayName?: string
  readonly author?: string
  /** Unix seconds. */
  readonly created?: number
  /** End of the training data, as `2025-08` or `2025-08-05`. */
  readonly knowledgeCutoff?: string
  /**
   * The last day on which the vendor serves the model, as an ISO date. Within 30 days of it, offers without a date are preferred; after it,
   * the model is not called. An offer may have its own date.
   */
  readonly retiresAt?: string
  /** Id of the replacement that the vendor names. Errors mention it once the model has retired. */
  readonly successor?: string
  /** `retired`: every offer has passed its `retiresAt`. Set by the gateway. */
  readonly status?: 'retired'
  readonly openWeights?: boolean
  /** Modalities: `text`, `image`, `audio`, `video`, `pdf`. */
  readonly inputModalities?: readonly string[]
  readonly outputModalities?: readonly string[]
  /** Capabilities of the model itself. Those of an offer are its `abilities`. */
  readonly capabilities?: readonly Capability[]
  readonly offers: readonly Offer<ProviderId, Dialect>[]
}

/** Capability names; the registry prefixes each with `supports_`. */
export const capabilities = [
  'tools',
  'vision',
  'json_mode',
  'reasoning',
  'streaming',
  'web_search',
  'computer_use',
  'prompt_caching',
  'code_interpreter',
  'structured_output',
] as const
/** A capability of a model, as the models endpoint lists it. */
export type Capability = (typeof capabilities)[number]

/** A model as one provider sells it. Routing uses only these fields; an undefined field is unknown and excludes no offer. */
export interface Offer<ProviderId extends string = string, Dialect extends string = DialectName> {
  readonly provider: ProviderId
  /** The provider's name for the model. */
  readonly model: string
  /** The API in which the provider is called: `chat` (Chat Completions), `responses`, `messages`, `gemini`, `bedrock`, or one of the provider's own. */
  readonly api: Dialect
  readonly contextWindow?: number
  readonly maxOutputTokens?: number
  /** Limit of the prompt alone, if it is smaller than the context window. */
  readonly maxInputTokens?: number
  /** `deprecated`: served only if requested by `only` or `order`. */
  readonly status?: 'beta' | 'deprecated'
  /** The last day on which this provider serves it, as an ISO date. Default: that of the model. */
  readonly retiresAt?: string
  /** Where price and limits come from: a URL or a name. */
  readonly source?: string
  /** The ISO date on which the source was read. */
  readonly asOf?: string
  /** Regional names of the offer, each optionally with its own price. */
  readonly regions?: readonly OfferRegion[]
  /** Default: `both`. */
  readonly delivery?: 'both' | 'stream_only' | 'whole_only'
  readonly abilities?: readonly Ability[]
  readonly dataPolicy?: string
  /** Undefined if unknown, which never means free: the offer is not used for a paid request. */
  readonly price?: Price
  /** How this offer departs from its dialect. Each quirk is read by exactly one codec. */
  readonly quirks?: Quirks
}

/** What an offer costs, now and from announced dates. Integer microdollars. */
export interface Price extends Rates {
  /** Rates for prompts longer than `over` tokens, applied to the whole request. The last matching tier replaces the rates above. Sorted by `over`. */
  readonly tiers?: readonly PriceTier[]
  /** Rates of a more expensive `service_tier`. If undefined, it is not sold here: a request for it gets the usual tier and a warning. */
  readonly priority?: PriorityRates
  /** Options at a higher price. Each one that the request sets, or the response reports, raises the token rates. */
  readonly surcharges?: readonly Surcharge[]
  /** Hours of the day with different rates. The first match replaces the rates above, including tiers and priority. */
  readonly windows?: readonly PriceWindow[]
  /** Later prices, each complete in itself. Sorted by `from`. */
  readonly changes?: readonly PriceChange[]
}

/**
 * A body field that raises the price when it has this value: tokens then cost `percent` of the usual rates, each rounded up to a whole
 * microdollar per million. Several surcharges multiply: `{ field: 'inference_geo', value: 'us', percent: 110 }`.
 */
export interface Surcharge {
  readonly field: string
  readonly value: string
  readonly percent: number
}

/** Rates for prompts longer than `over` tokens. */
export interface PriceTier extends Rates {
  readonly over: number
}

/** Rates of the priority tier. */
export interface PriorityRates extends Rates {
  /** Longest prompt in tokens that this tier serves; longer ones get the usual tier at its price. Default: no limit. */
  readonly upTo?: number
}

/** UTC hours during which these rates apply: `{ days: [1, 2, 3, 4, 5], from: '01:00', to: '04:00', input, output }`. */
export interface PriceWindow extends Rates {
  /** Weekdays on which the window starts: 1 is Monday, 7 is Sunday. Default: every day. */
  readonly days?: readonly number[]
  /** `HH:MM`. */
  readonly from: string
  /** `HH:MM`, exclusive. If not later than `from`, it is on the next day. */
  readonly to: string
}

/** A price that applies from an ISO date (midnight UTC) or time, as in `2027-01-01` or `2027-01-01T08:00:00Z`. */
export interface PriceChange {
  readonly from: string
  readonly price: Omit<Price, 'changes'>
}

/** A region in which a provider serves an offer, with its own model id and optionally its own price. */
export interface OfferRegion {
  readonly region: string
  readonly model: string
  readonly price?: Price
}

/** Prices in microdollars per million tokens, unless stated otherwise. */
export interface Rates {
  readonly input: number
  readonly output: number
  /** Uncached audio input. Default: the input rate. */
  readonly inputAudio?: number
  /** Cache reads. Default: the input rate. */
  readonly cached?: number
  /** Cache writes. Default: the input rate. */
  readonly cacheWrite?: number
  /** Cache writes with a longer lifetime: one hour at Anthropic, twelve hours at OpenAI. Default: twice the input rate, as Anthropic charges. */
  readonly cacheWrite1h?: number
  /** Microdollars per request, regardless of length. Default: 0. */
  readonly request?: number
  /** Microdollars per call of a provider-run tool, by kind. A missing kind has no known price. */
  readonly tools?: HostedToolRates
}

/** Tools that providers run and charge per call. */
export const hostedTools = ['web_search', 'web_fetch', 'file_search', 'code_interpreter'] as const
/** A kind of tool that a provider runs. */
export type HostedTool = (typeof hostedTools)[number]
/** Microdollars per call, by kind. A missing kind has no known price. */
export type HostedToolRates = { readonly [Tool in HostedTool]?: number }

/** How an offer or provider departs from its dialect on the wire. Each quirk is read by exactly one codec or rule. */
export interface Quirks extends OpenAIQuirks {
  /** The body field that holds the output limit. Default: `max_completion_tokens`. */
  readonly maxTokensField?: 'max_tokens' | 'max_completion_tokens'
  /** Whether developer messages are supported. Default: false, they are sent as `system`. */
  readonly developerRole?: boolean
  /**
   * Body fields that this offer rejects: dropped with a warning. `tool_choice_required` is not a field but a value that cannot be dropped:
   * a request that forces a tool call goes to another offer, or fails with `tool_choice_required_not_supported`.
   */
  readonly refuses?: readonly string[]
  /** Supported reasoning efforts. Others are lowered to the next supported one, with a warning. */
  readonly efforts?: readonly string[]
  /** Name of the `seed` field. Default: `seed`. */
  readonly seedField?: string
  /** Body fields added to every request, unless the client's body or an extension sets them. */
  readonly fixedFields?: JsonObject
  /**
   * The message field for earlier reasoning (Chat Completions): `reasoning_content`, `reasoning`, `reasoning_details`, or `content` for a
   * part of type `thinking`. Default: the field that the provider itself used, else that of the model family
   * (dialects/chat/encode-reasoning.ts).
   */
  readonly reasoningField?: string
  /**
   * Which earlier reasoning is sent back (Chat Completions). `never`: none. `own`: for models of unknown family, only what this provider
   * wrote. `any`: also from other providers. `always`: any, and the field must be present on every turn. Default: that of the model family,
   * else `any`. A warning, `reasoning_state_dropped`, names what is left out.
   */
  readonly earlierReasoning?: 'never' | 'own' | 'any' | 'always'
  /** Whether `stream_options.include_usage` is rejected. Default: false. */
  readonly noStreamOptions?: boolean
  /** Whether `json_schema` is unsupported. It is then sent as `json_object` with the schema in a system message, with a warning. */
  readonly noJsonSchema?: boolean
  /** Exact length of call ids in letters and digits. Other ids are sent as a hash. */
  readonly callIdLength?: number
  /** How long the prompt cache keeps an entry after its last read, in milliseconds. Default: 300,000. */
  readonly promptCacheMs?: number
  /** The `service_tier` value for `gateway.routing.tier: priority`, if its price is known (`Price.priority`). Default: none, with a warning. */
  readonly priorityTier?: string
  /** What tokens cost in the tier `flex`, in percent of the usual rates. Default: unknown; they cost the usual rates, with a warning. */
  readonly flexPercent?: number
  /** The `service_tier` value of the standard tier (Chat Completions). Default: that of the client, or `default` if it uses another dialect. */
  readonly standardTier?: string
  /** The response header, in lower case, that names the tier that was used. A tier in the body takes precedence. Default: none. */
  readonly tierHeader?: string
  /**
   * How thinking is configured. `adaptive`: the model decides, guided by effort. `level`: a named level. `budget`: a number of tokens from
   * `min` to `max`. `toggle`: on or off. The first style that fits the request is used. Default: the newest style of the dialect.
   */
  readonly thinking?: readonly ThinkingStyle[]
  readonly thinkingBudget?: { readonly min: number; readonly max: number }
  /** Body fields that switch thinking on and off, for the style `toggle`: `{ off: { enable_thinking: false }, … }`. */
  readonly thinkingSwitch?: { readonly on: JsonObject; readonly off: JsonObject }
  /**
   * The model's field for a named level, if the dialect leaves it to each model: `reasoning.effort`, `reasoning_effort`, or
   * `reasoningConfig.maxReasoningEffort` (Nova). For the style `level`. Default: `reasoning_effort`.
   */
  readonly thinkingField?: 'reasoning' | 'reasoning_effort' | 'reasoningConfig'
  /**
   * Whether Anthropic's own fields are passed to the model in addition to those of the dialect (Bedrock): `top_k`, single tool calls,
   * reasoning summaries, betas. Default: false, they are left out.
   */
  readonly anthropicFields?: boolean
  /** Whether thinking can be switched off: `always`, `never`, or only up to effort `high`. Default: `always`. */
  readonly thinkingOff?: 'always' | 'up_to_high' | 'never'
  /** Whether a tool call of the current turn must be sent back with its signature. A call without one gets a placeholder. Default: true if thinking is set by level. */
  readonly thoughtSignatures?: boolean
  /** Whether an image generated by the model is sent back in the model's turn even without a signature (Gemini). Default: false, it is sent as a user image. */
  readonly ownImages?: boolean
  /** Whether the model thinks when the client does not configure it, as far as `sampling` is concerned. Default: true. */
  readonly thinksUnasked?: boolean
  /**
   * Which of `temperature`, `top_p` and `top_k` are accepted. `one`: temperature or top_p, not both. Default: `any`. In the OpenAI APIs,
   * penalties and token probabilities follow the same rule.
   */
  readonly sampling?: 'any' | 'one' | 'unless_thinking' | 'none'
  /** Supported temperatures. Others are clamped, with a warning. Chat Completions only. */
  readonly temperatureRange?: { readonly min: number; readonly max: number }
  /** Whether a forced tool call (`required`, or a tool by name) is rejected. It becomes `auto`, with a warning. Default: false. */
  readonly noForcedTools?: boolean
  /**
   * Whether a conversation that ends with the assistant, whose message the model would continue, is rejected. A short user message is then
   * added, with a warning; a request in a dialect that defines this (Messages) goes to another offer. Default: false.
   */
  readonly noPrefill?: boolean
  /**
   * Whether the properties of a tool's parameters may only have names of 1 to 64 letters, digits, `_`, `.` and `-`. Others are renamed, and
   * put back in calls. Default: false.
   */
  readonly plainProperties?: boolean
  /**
   * Whether tool results may only contain text. Their images and files are then sent after the results (Gemini, Bedrock). Default: false.
   */
  readonly textOnlyResults?: boolean
  /** Where cache points are accepted (Chat Completions, Bedrock). Default: everywhere; in Chat Completions, nowhere. */
  readonly cacheMarks?: readonly CachePlace[]
  /** Smallest output limit (Responses). Smaller ones are raised to it, with a warning. Default: none. */
  readonly minOutputTokens?: number
  /** `max_tokens` if the dialect requires it and the client sets none. Default: the offer's `max_output_tokens`, at most 32,000. */
  readonly defaultMaxTokens?: number
  /** Whether the block `x-anthropic-billing-header: …`, which Claude Code puts before `system`, is accepted (Messages). Default: false, it is left out without a warning. */
  readonly billingHeader?: boolean
  /** Whether the provider adds to every prompt, as searches do: only the context window then bounds what it may count. Default: false. */
  readonly extendsPrompt?: boolean
  /** How a response schema is enforced. `tool`: by a forced tool. `words`: by asking for it in the prompt. Both give a warning. Default: `native`; in the Bedrock dialect, `tool`. */
  readonly jsonSchema?: 'native' | 'tool' | 'words'
  /** Whether a response schema and function tools exclude each other. */
  readonly jsonSchemaWithoutTools?: boolean
  /** Whether system instructions are unsupported. They are then put before the first user text. */
  readonly noSystem?: boolean
  /** Whether images and files must be sent inline, although the dialect accepts URLs. */
  readonly inlineMediaOnly?: boolean
  /** Response headers that report rate limits (providers/rate-limit-headers.ts). Default: none are read. */
  readonly rateLimits?: readonly LimitHeaders[]
  /** Whether files (PDF) are accepted in user messages. Default: as far as the dialect can express them. */
  readonly files?: boolean
  /** Whether audio is accepted in user messages. Default: as far as the dialect can express it. */
  readonly audio?: boolean
}

/** A place where an offer accepts cache points: tools, the system prompt, messages of the user or the assistant, tool results, or tool calls. */
export type CachePlace = 'tools' | 'system' | 'user' | 'assistant' | 'results' | 'calls'

/** How a model's thinking is configured: the model decides (`adaptive`), a named effort (`level`), a number of tokens (`budget`), or on and off (`toggle`). */
export type ThinkingStyle = 'adaptive' | 'level' | 'budget' | 'toggle'
