import type { LimitHeaders } from './headroom.ts'
import type { DialectName, JsonObject } from './wire.ts'

/** A model of the catalog, with the offers that serve it. `Id`: what it is requested by. `ProviderId`: the ids of their providers. */
export interface Model<Id extends string = string, ProviderId extends string = string> {
  readonly id: Id
  readonly aliases?: readonly Id[]
  readonly family?: string
  readonly display_name?: string
  readonly author?: string
  /** Unix seconds. */
  readonly created?: number
  /** `2025-08` or `2025-08-05`: what the model can know of. */
  readonly knowledge_cutoff?: string
  /**
   * ISO date, the last day on which its maker serves it. Within 30 days of it, its offers yield to those without a date; after it
   * they are not asked. An offer may have a date of its own.
   */
  readonly retires_at?: string
  /** The id of the model that its maker names as its replacement: errors name it once the model has retired. */
  readonly successor?: string
  /** `retired`: every offer has passed its `retires_at`. Set by the gateway. */
  readonly status?: 'retired'
  readonly open_weights?: boolean
  /** What goes in and comes out: `text`, `image`, `audio`, `video`, `pdf`. */
  readonly input_modalities?: readonly string[]
  readonly output_modalities?: readonly string[]
  /** Capabilities of the model itself; those of an offer are its `abilities`. */
  readonly capabilities?: readonly Capability[]
  readonly offers: readonly Offer<ProviderId>[]
}

/** As the registry names them, `supports_` before each. */
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

/** A model as one provider sells it. Everything that routing may ask is a field here; a field that is absent is unknown and excludes no offer. */
export interface Offer<ProviderId extends string = string> {
  readonly provider: ProviderId
  readonly provider_model_id: string
  readonly dialect: DialectName
  readonly context_window?: number
  readonly max_output_tokens?: number
  /** Where the prompt alone may fill less than the window. */
  readonly max_input_tokens?: number
  /** `deprecated`: still served where asked for by `only` or `order`, and otherwise not. */
  readonly status?: 'beta' | 'deprecated'
  /** ISO date, the last day on which this provider serves it. Default: that of the model. */
  readonly retires_at?: string
  /** Where its price and limits were read, as an address or a name. */
  readonly source?: string
  /** ISO date on which they were read there. */
  readonly as_of?: string
  /** Regional names of the offer, each with a price of its own where it differs. */
  readonly regions?: readonly OfferRegion[]
  /** Default: `both`. */
  readonly delivery?: 'both' | 'stream_only' | 'whole_only'
  readonly abilities?: readonly Ability[]
  readonly data_policy?: string
  /** Absent: unknown. Never 0 by default: an offer without a price is not planned for a paid request. */
  readonly price?: Price
  /** Facts about how this offer departs from its dialect; each is read by one codec. */
  readonly quirks?: Quirks
}

/** Microdollars, integers: what an offer costs, now and on announced days. */
export interface Price extends Rates {
  /** Of prompts longer than `over` tokens, whole: the last that applies replaces the rates above. In the order of `over`. */
  readonly tiers?: readonly PriceTier[]
  /** Of a dearer `service_tier`. Absent: no such tier is sold here, and a request for one gets the usual tier and a warning. */
  readonly priority?: PriorityRates
  /** What a request may have at a higher price. Each that it names, or that its answer states, raises the rates of tokens. */
  readonly surcharges?: readonly Surcharge[]
  /** Hours of the day at which other rates hold: the first that applies replaces the rates above, tiers and priority too. */
  readonly windows?: readonly PriceWindow[]
  /** Prices that follow this one, each whole from its moment on. In the order of `from`. */
  readonly changes?: readonly PriceChange[]
}

/**
 * A field of the body that raises the price where it has this value: tokens cost `percent` of the usual rates, each rounded up to a
 * whole microdollar per million. Several multiply: `{ field: 'inference_geo', value: 'us', percent: 110 }`.
 */
export interface Surcharge {
  readonly field: string
  readonly value: string
  readonly percent: number
}

/** Rates of requests whose prompt has more than `over` tokens. */
export interface PriceTier extends Rates {
  readonly over: number
}

/** Rates of a dearer tier. */
export interface PriorityRates extends Rates {
  /** Tokens of the longest prompt that is served in this tier; longer ones get the usual tier at its price. Default: any. */
  readonly up_to?: number
}

/** Hours in UTC at which rates hold: `{ days: [1, 2, 3, 4, 5], from: '01:00', to: '04:00', input, output }`. */
export interface PriceWindow extends Rates {
  /** 1 is Monday, 7 is Sunday: the days on which it begins. Default: every day. */
  readonly days?: readonly number[]
  /** `HH:MM`. */
  readonly from: string
  /** `HH:MM`, not included. At or before `from`: on the next day. */
  readonly to: string
}

/** A price from a moment on: an ISO date (its first minute in UTC) or a time, as in `2027-01-01` or `2027-01-01T08:00:00Z`. */
export interface PriceChange {
  readonly from: string
  readonly price: Omit<Price, 'changes'>
}

/** A region in which a provider serves an offer, under a model id and maybe at a price of its own. */
export interface OfferRegion {
  readonly region: string
  readonly provider_model_id: string
  readonly price?: Price
}

/** Microdollars per million tokens, where nothing else is said. */
export interface Rates {
  readonly input: number
  readonly output: number
  /** Sound in the prompt that was not read from a cache. Default: as input. */
  readonly input_audio?: number
  /** Cache reads. Default: as input. */
  readonly cached?: number
  /** Cache writes. Default: as input. */
  readonly cache_write?: number
  /** Cache writes that are kept for an hour. Default: twice the input, as the one vendor that sells them asks. */
  readonly cache_write_1h?: number
  /** Microdollars per request, whatever its length. Default: 0. */
  readonly request?: number
  /** Microdollars per call of a tool that the provider runs, by its kind. A kind that is absent has no known price. */
  readonly tools?: HostedToolRates
}

/** Tools that providers run and charge by the call. */
export const hostedTools = ['web_search', 'web_fetch', 'file_search', 'code_interpreter'] as const
/** A kind of tool that a provider runs. */
export type HostedTool = (typeof hostedTools)[number]
/** Microdollars per call, by kind. A kind that is absent has no known price. */
export type HostedToolRates = { readonly [Tool in HostedTool]?: number }

/** The features that a request may need of an offer. */
export const abilities = [
  'tools',
  'tool_choice_required',
  'parallel_tools',
  'vision',
  'json_mode',
  'structured_output',
  'reasoning',
  'streaming',
  'logprobs',
  'web_search',
  'computer_use',
  'code_interpreter',
  'prompt_caching',
] as const
/** A feature that an offer either supports or not, as `Offer.abilities` lists it. */
export type Ability = (typeof abilities)[number]

/** How an offer departs from its dialect: wire-level facts, per offer or provider. Each is read by one codec or one rule. */
export interface Quirks {
  /** Which body field takes the output cap. Default: `max_completion_tokens`. */
  readonly max_tokens_field?: 'max_tokens' | 'max_completion_tokens'
  /** Developer messages are understood. Default: false, they are sent as `system`. */
  readonly developer_role?: boolean
  /**
   * Body fields that this offer refuses: dropped with a warning. `tool_choice_required` is no field but a value that cannot be
   * dropped: a request that demands a call goes to another offer, or is refused as `tool_choice_required_not_supported`.
   */
  readonly refuses?: readonly string[]
  /** Reasoning efforts understood; others move to the next lower one, with a warning. */
  readonly efforts?: readonly string[]
  /** Function tools and a reasoning effort exclude each other (Chat Completions): with tools it is `none`, with a warning. Default: false. */
  readonly effort_without_tools?: boolean
  /** Tools are taken in the Responses language alone: the offer goes by it where its provider speaks it, else it has no tools. */
  readonly tools_in_responses?: boolean
  /** What `seed` is called there. Default: `seed`. */
  readonly seed_field?: string
  /** Body fields that every request gets there, unless the caller's own body or an extension says otherwise. */
  readonly fixed_fields?: JsonObject
  /** What `tool_choice: required` is called there. Default: `required`. */
  readonly required_tool_choice?: string
  /**
   * Field of a message in which earlier reasoning goes back (Chat Completions): `reasoning_content`, `reasoning`,
   * `reasoning_details`, or `content` for a part of the type `thinking`. Default: the field that the provider itself wrote it into,
   * else that of the model's family (dialects/chat/reasoning-families.ts).
   */
  readonly reasoning_field?: string
  /**
   * Which earlier reasoning is taken back (Chat Completions). `never`: none. `own`: of models whose family says nothing, what this
   * provider wrote. `any`: what others wrote, too. `always`: any, and the field must be there on every turn. Default: that of the
   * model's family, else `any`. What is left out is named in a warning, `reasoning_state_dropped`.
   */
  readonly earlier_reasoning?: 'never' | 'own' | 'any' | 'always'
  /** `stream_options.include_usage` is refused. Default: false. */
  readonly no_stream_options?: boolean
  /** `json_schema` is not understood: it goes as `json_object` with the schema in a system message, with a warning. */
  readonly no_json_schema?: boolean
  /** Call ids must be just so many letters and digits; others are sent as a hash of themselves. */
  readonly call_id_length?: number
  /** Earlier reasoning is taken back only with its `encrypted_content`; other reasoning items are left out. Default: false. */
  readonly sealed_reasoning?: boolean
  /** Milliseconds for which it keeps a prompt that it has read in its cache. Default: 300,000. */
  readonly prompt_cache_ms?: number
  /** The `service_tier` that `gateway.routing.tier: priority` buys there, if its price is known (`Price.priority`). Default: none, a warning says so. */
  readonly priority_tier?: string
  /** The header of answers, in lower case, that names the tier they got. A tier in the body wins. Default: none does. */
  readonly tier_header?: string
  /**
   * How thinking is asked for. `adaptive`: the model decides, steered by effort; `level`: by a named level; `budget`: by a number
   * of tokens from `min` to `max`; `toggle`: on or off. First that fits the request wins. Default: the newest form of the dialect.
   */
  readonly thinking?: readonly ThinkingStyle[]
  readonly thinking_budget?: { readonly min: number; readonly max: number }
  /** Body fields that switch thinking on and off, where no effort says it: `{ off: { enable_thinking: false }, … }`. Style `toggle`. */
  readonly thinking_switch?: { readonly on: JsonObject; readonly off: JsonObject }
  /**
   * The model's own field for a named level, where a dialect leaves that to each model: `reasoning.effort`, `reasoning_effort`,
   * or `reasoningConfig.maxReasoningEffort` (Nova's). Style `level`. Default: `reasoning_effort`.
   */
  readonly thinking_field?: 'reasoning' | 'reasoning_effort' | 'reasoningConfig'
  /**
   * Fields of Anthropic's own go through to the model beside those of the dialect (Bedrock): `top_k`, one tool call at a time,
   * summaries of thoughts, betas. Default: false, what they say is left out.
   */
  readonly anthropic_fields?: boolean
  /** Whether thinking can be switched off: `never`, or only up to effort `high`. Default: always. */
  readonly thinking_off?: 'always' | 'up_to_high' | 'never'
  /**
   * A tool call of the current turn must come back with the signature that it was made with; one that has none gets a word
   * that stands for it. Default: true where thinking is asked for by level.
   */
  readonly thought_signatures?: boolean
  /** An image that the model made goes back in its own turn, although it came without a signature (Gemini). Default: as one of the user. */
  readonly own_images?: boolean
  /** Whether it thinks where the caller says nothing of it, as far as `sampling` asks. Default: true. */
  readonly thinks_unasked?: boolean
  /**
   * Which of `temperature`, `top_p`, `top_k` are taken. `one`: temperature or top_p, not both. Default: any. In the languages of
   * OpenAI the penalties and the probabilities of tokens go with them.
   */
  readonly sampling?: 'any' | 'one' | 'unless_thinking' | 'none'
  /** Temperatures that are taken; others move to the nearest, with a warning. Chat Completions only. */
  readonly temperature_range?: { readonly min: number; readonly max: number }
  /** A demanded tool call (`required`, or one by name) is refused: it becomes `auto`, with a warning. Default: false. */
  readonly no_forced_tools?: boolean
  /** Caps on the answer below this are refused in the Responses language: they are raised to it, with a warning. Default: none are. */
  readonly min_output_tokens?: number
  /** What `max_tokens` is where the dialect wants one and the caller named none. Default: the offer's `max_output_tokens`, 32,000 at most. */
  readonly default_max_tokens?: number
  /**
   * Takes the block `x-anthropic-billing-header: …` that Claude Code puts in front of `system` (Messages). Default: false, it is left out
   * without a warning.
   */
  readonly billing_header?: boolean
  /** How a JSON schema for the answer is kept. Default: `native`, in Bedrock's language `tool`. `tool`: by a forced tool; `words`: by asking for it. Both with a warning. */
  readonly json_schema?: 'native' | 'tool' | 'words'
  /** A schema for the answer and function tools exclude each other. */
  readonly json_schema_without_tools?: boolean
  /** No system instruction: it goes before the first words of the user. */
  readonly no_system?: boolean
  /** Images and files are taken as bytes only, where the dialect takes addresses. */
  readonly bytes_only?: boolean
  /** Headers of every answer that tell of rate limits (providers/rate-limits.ts). Default: none are read. */
  readonly rate_limits?: readonly LimitHeaders[]
  /** Files (PDF) are taken in user messages. Absent: whatever the dialect can say. `false`: they are not. */
  readonly files?: boolean
  /** Audio likewise. */
  readonly audio?: boolean
}

/** How a model is configured to think: it decides itself (`adaptive`), a named effort (`level`), a number of tokens (`budget`), or on and off (`toggle`). */
export type ThinkingStyle = 'adaptive' | 'level' | 'budget' | 'toggle'
