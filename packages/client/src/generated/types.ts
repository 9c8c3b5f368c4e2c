// Written by packages/client/tools/generate.ts from the route table of @signalbox/api; a test keeps it true.

import type { CallOptions } from '../options.ts'
import type { PagedList } from '../pages.ts'

/** Bodies and replies of the API by their names in its OpenAPI document: `Schemas['ApiKey']`. */
export interface Schemas {
  readonly AcceptInvite: {
    /** The token of the invite. */
    readonly token: string
    /** Name of the member. */
    readonly name: string
  }
  readonly AcceptedInvite: {
    /** Id of the member. */
    readonly id: string
    /** E-mail address. */
    readonly email: string
    /** Name of the member. */
    readonly name: string
    /** What the member may do. */
    readonly role: 'owner' | 'admin' | 'developer' | 'viewer' | 'billing'
    /** When the member joined. */
    readonly joined_at: string
    /** The workspace that was joined. */
    readonly workspace_id: string
  }
  /** A change that was made. */
  readonly Acknowledgement: {
    /** Id of what was changed. */
    readonly id: string
    /** `pending` while other processes may not know the change; null after. */
    readonly propagation_status: 'pending' | null
    /** What was done, in words. */
    readonly message: string
  }
  /** Usage, cost and latency of the workspace. */
  readonly AnalyticsSummary: {
    /** Begin of the time that is counted. */
    readonly from: string
    /** End of the time that is counted. */
    readonly to: string
    /** Requests. */
    readonly request_count: number
    /** Requests that failed. */
    readonly error_count: number
    /** Requests that were admitted, and that all providers rate limited. */
    readonly rate_limit_count: number
    /** Requests whose client disconnected. */
    readonly abandoned_count: number
    /** Requests that were under way when their process ended; billed by what was known of them. */
    readonly interrupted_count: number
    /** Requests that took more than one attempt. */
    readonly fallback_count: number
    /** Share of the requests that failed. */
    readonly error_rate: number
    /** Share of the requests that took more than one attempt. */
    readonly fallback_rate: number
    /** Token counts. */
    readonly tokens: {
      /** Input tokens, cached ones included. */
      readonly input: number
      /** Output tokens, reasoning included. */
      readonly output: number
      /** Input and output tokens. */
      readonly total: number
      /** Input tokens read from a prompt cache. */
      readonly cached: number
      /** Input tokens written to a prompt cache. */
      readonly cache_write: number
      /** Output tokens of reasoning. */
      readonly reasoning: number
    }
    /** Share of the input tokens that were read from a prompt cache. */
    readonly cache_hit_rate: number
    /** Charged to the workspace, in USD. */
    readonly cost_usd: number
    /** Requests with the workspace’s own provider keys, which are not charged. */
    readonly byok: {
      /** Requests with the workspace’s own provider keys. */
      readonly request_count: number
      /** What they cost at the providers, in USD by list price. */
      readonly cost_usd: number
    }
    /** Time to the end of the response in milliseconds. Exact to 2.5 %; null where nothing was measured. */
    readonly latency_ms: {
      /** Value that 50 % of the requests did not exceed. */
      readonly p50: number | null
      /** Value that 95 % of the requests did not exceed. */
      readonly p95: number | null
      /** Value that 99 % of the requests did not exceed. */
      readonly p99: number | null
    }
    /** Time to the first content in milliseconds. Exact to 2.5 %; null where nothing was measured. */
    readonly ttft_ms: {
      /** Value that 50 % of the requests did not exceed. */
      readonly p50: number | null
      /** Value that 95 % of the requests did not exceed. */
      readonly p95: number | null
      /** Value that 99 % of the requests did not exceed. */
      readonly p99: number | null
    }
    /** Output tokens per second. */
    readonly throughput_tps: {
      /** Value that 50 % of the requests did not exceed. */
      readonly p50: number | null
    }
  }
  /** Usage, cost and latency of the workspace over time. */
  readonly AnalyticsTrends: {
    /** Length of each point. */
    readonly interval: 'hour' | 'day'
    /** What each series stands for; null: all requests. */
    readonly group_by: 'model' | 'provider' | 'api_key' | 'user' | 'tag' | null
    /** One entry for each group. */
    readonly series: readonly {
      /** Model, provider, key, user or tag of the series; null: all requests. */
      readonly group: string | null
      /** One entry for each interval. */
      readonly points: readonly {
        /** Begin of the interval. */
        readonly start: string
        /** Requests. */
        readonly request_count: number
        /** Requests that failed. */
        readonly error_count: number
        /** Requests that were admitted, and that all providers rate limited. */
        readonly rate_limit_count: number
        /** Requests whose client disconnected. */
        readonly abandoned_count: number
        /** Requests that were under way when their process ended; billed by what was known of them. */
        readonly interrupted_count: number
        /** Requests that took more than one attempt. */
        readonly fallback_count: number
        /** Share of the requests that failed. */
        readonly error_rate: number
        /** Share of the requests that took more than one attempt. */
        readonly fallback_rate: number
        /** Token counts. */
        readonly tokens: {
          /** Input tokens, cached ones included. */
          readonly input: number
          /** Output tokens, reasoning included. */
          readonly output: number
          /** Input and output tokens. */
          readonly total: number
          /** Input tokens read from a prompt cache. */
          readonly cached: number
          /** Input tokens written to a prompt cache. */
          readonly cache_write: number
          /** Output tokens of reasoning. */
          readonly reasoning: number
        }
        /** Share of the input tokens that were read from a prompt cache. */
        readonly cache_hit_rate: number
        /** Charged to the workspace, in USD. */
        readonly cost_usd: number
        /** Requests with the workspace’s own provider keys, which are not charged. */
        readonly byok: {
          /** Requests with the workspace’s own provider keys. */
          readonly request_count: number
          /** What they cost at the providers, in USD by list price. */
          readonly cost_usd: number
        }
        /** Time to the end of the response in milliseconds. Exact to 2.5 %; null where nothing was measured. */
        readonly latency_ms: {
          /** Value that 50 % of the requests did not exceed. */
          readonly p50: number | null
          /** Value that 95 % of the requests did not exceed. */
          readonly p95: number | null
          /** Value that 99 % of the requests did not exceed. */
          readonly p99: number | null
        }
        /** Time to the first content in milliseconds. Exact to 2.5 %; null where nothing was measured. */
        readonly ttft_ms: {
          /** Value that 50 % of the requests did not exceed. */
          readonly p50: number | null
          /** Value that 95 % of the requests did not exceed. */
          readonly p95: number | null
          /** Value that 99 % of the requests did not exceed. */
          readonly p99: number | null
        }
        /** Output tokens per second. */
        readonly throughput_tps: {
          /** Value that 50 % of the requests did not exceed. */
          readonly p50: number | null
        }
      }[]
    }[]
  }
  readonly ApiKey: {
    /** Id of the key. */
    readonly id: string
    /** The workspace that the key belongs to. */
    readonly workspace_id: string
    /** Name of the key. */
    readonly name: string
    /** The beginning of the secret. */
    readonly key_prefix: string
    /** What the key may do. A key grants only scopes that it has. Default: `inference:invoke`. */
    readonly scopes: readonly (
      | 'inference:invoke'
      | 'keys:read'
      | 'keys:write'
      | 'byok:read'
      | 'byok:write'
      | 'billing:read'
      | 'billing:write'
      | 'usage:read'
      | 'workspace:read'
      | 'workspace:write'
      | 'routing:read'
      | 'routing:write'
      | 'members:read'
      | 'members:write'
      | 'invites:read'
      | 'invites:write'
      | 'audit:read'
      | 'budgets:read'
      | 'budgets:write'
    )[]
    /** false: revoked, expired, or below a key that is. */
    readonly is_active: boolean
    /** When the key was created. */
    readonly created_at: string
    /** Requests a minute for each model. */
    readonly rate_limit_rpm?: number | undefined
    /** In the future; from then on the key is not valid. */
    readonly expires_at?: string | undefined
    /** When the key was last used. */
    readonly last_used_at?: string | undefined
    /** The key that created this one. */
    readonly created_by_key_id?: string | undefined
    /** What the scopes are for. */
    readonly profile: 'inference' | 'management' | 'mixed'
  }
  readonly ApiKeyList: {
    /** Type of the object. */
    readonly object: 'list'
    /** The entries. */
    readonly data: readonly Schemas['ApiKey'][]
    /** Number of entries on this page. */
    readonly count: number
    /** Whether there is a next page. */
    readonly has_more: boolean
    /** Send it as `after` for the next page; null on the last one. */
    readonly next: string | null
  }
  /** Usage of an API key in a period. */
  readonly ApiKeyUsage: {
    /** Id of the API key. */
    readonly key_id: string
    /** Id of the workspace. */
    readonly workspace_id: string
    /** Length of the period. */
    readonly period: 'day' | 'week' | 'month'
    /** First day of the period, in UTC. */
    readonly start_date: string
    /** Last day of the period, in UTC. */
    readonly end_date: string
    /** Requests. */
    readonly request_count: number
    /** Requests that failed. */
    readonly error_count: number
    /** Requests that got 429: refused by a limit of the key or its workspace, or rate limited by every provider. */
    readonly rate_limit_count: number
    /** Input tokens. */
    readonly tokens_input: number
    /** Output tokens. */
    readonly tokens_output: number
    /** Input and output tokens. */
    readonly tokens_total: number
    /** Charged to the workspace, in USD. What its own provider keys cost at the providers is not included. */
    readonly cost_usd: number
  }
  readonly AuditEventList: {
    /** Type of the object. */
    readonly object: 'list'
    /** The entries. */
    readonly data: readonly {
      /** Id of the event. */
      readonly id: string
      /** `<resource>.<created|updated|deleted|revoked|validated|accepted>` */
      readonly event: string
      /** null: the operator of the service. */
      readonly actor: {
        /** The key that was used. */
        readonly key_id: string | null
        /** Its name. */
        readonly name: string | null
      }
      /** What was changed. */
      readonly subject: {
        /** Kind of the resource. */
        readonly type: string
        /** Its id. */
        readonly id: string
      }
      /** When it happened. */
      readonly at: string
      /** The request that did it. */
      readonly request_id: string | null
      /** Where the request came from. */
      readonly ip: string | null
      /** Fields, with what they are now. */
      readonly changes: Readonly<Record<string, unknown>>
    }[]
    /** Number of entries on this page. */
    readonly count: number
    /** Whether there is a next page. */
    readonly has_more: boolean
    /** Send it as `after` for the next page; null on the last one. */
    readonly next: string | null
  }
  readonly AuditVerification: {
    /** Whether the chain is as it was written. */
    readonly valid: boolean
    /** Rows that were checked. */
    readonly checked: number
    /** The end of the chain is known, so that a missing or replaced end is found. */
    readonly anchored: boolean
    /** The row from which on the end was known at each change. 1: always. */
    readonly anchored_from: number | null
    /** `row_changed`: a row is not as it was written, or does not follow the one before it. `end_missing`: the newest rows are missing. `rows_added`: there are rows that the gateway did not write. `chain_replaced`: the newest row is another one. `anchor_changed`: the record of the newest row was altered. */
    readonly reason: 'row_changed' | 'end_missing' | 'rows_added' | 'chain_replaced' | 'anchor_changed' | null
    /** The oldest row that is not as it was written. */
    readonly first_broken_id: string | null
  }
  readonly Balance: {
    /** Credit of the workspace. */
    readonly balance_microdollars: number
    /** The same in cents, rounded down as all cents here. */
    readonly balance_cents: number
    /** The same in dollars, with two places. */
    readonly balance_dollars: string
    /** Of that credit, what is set aside for requests under way. */
    readonly held_microdollars: number
    /** All credit that was ever added. */
    readonly lifetime_purchased_microdollars: number
    /** The same in cents. */
    readonly lifetime_purchased_cents: number
    /** All credit that was ever spent. */
    readonly lifetime_used_microdollars: number
    /** The same in cents. */
    readonly lifetime_used_cents: number
    /** Whether credit is reloaded. */
    readonly auto_reload_enabled: boolean
    /** Below this balance, credit is reloaded. null: never set. */
    readonly auto_reload_threshold_microdollars: number | null
    /** The same in cents. */
    readonly auto_reload_threshold_cents: number | null
    /** The balance after a reload. null: never set. */
    readonly auto_reload_target_microdollars: number | null
    /** The same in cents. */
    readonly auto_reload_target_cents: number | null
    /** Whether the operator can charge the workspace. */
    readonly has_payment_method: boolean
    /** Requests with provider keys of the workspace in a calendar month (UTC). null: any number. */
    readonly byok_monthly_request_cap: number | null
    /** Left of them in this month. null: any number. */
    readonly byok_requests_remaining: number | null
  }
  readonly Budget: {
    /** Id of the budget. */
    readonly id: string
    /** The workspace that the budget belongs to. */
    readonly workspace_id: string
    /** Name of the budget. */
    readonly name: string
    /** Whether all keys of the workspace count, or one. Default: `api_key` if one is named, else `workspace`. */
    readonly scope: 'workspace' | 'api_key'
    /** The key that counts, if `scope` is `api_key`. */
    readonly api_key_id: string | null
    /** Of UTC; weeks begin on Monday. Default: `month`. */
    readonly period: 'day' | 'week' | 'month' | 'total'
    /** What may be spent in a period. */
    readonly limit_usd: number
    /** Requests beyond the limit are refused. false: the budget only reports. Default: true. */
    readonly enforce: boolean
    /** Requests with provider keys of the workspace count too, at list price. Default: false. */
    readonly include_byok: boolean
    /** Shares of the limit at which the operator is notified. Default: none. */
    readonly alert_at: readonly number[]
    /** Spent in the current period. */
    readonly used_usd: number
    /** Left in the current period; 0 if it is used up. */
    readonly remaining_usd: number
    /** When the next period begins. null: never. */
    readonly resets_at: string | null
    /** When the budget was created. */
    readonly created_at: string
  }
  readonly BudgetList: {
    /** Type of the object. */
    readonly object: 'list'
    /** The entries. */
    readonly data: readonly Schemas['Budget'][]
    /** Number of entries on this page. */
    readonly count: number
    /** Whether there is a next page. */
    readonly has_more: boolean
    /** Send it as `after` for the next page; null on the last one. */
    readonly next: string | null
  }
  readonly ByokKey: {
    /** Id of the key. */
    readonly id: string
    /** The workspace that the key belongs to. */
    readonly workspace_id: string
    /** The provider, as in `GET /v1/byok/providers`. */
    readonly provider: string
    /** Name of the key. */
    readonly name: string
    /** The beginning of the secret. */
    readonly key_prefix: string
    /** The key that requests use for its provider. true replaces the default that there is; false is refused for the default. */
    readonly is_default: boolean
    /** No request uses the key. */
    readonly disabled: boolean
    /** Whether the provider accepts the key; `error`: that could not be found out. */
    readonly validation_status: 'valid' | 'pending' | 'invalid' | 'error'
    /** When the key was created. */
    readonly created_at: string
    /** When the key was last changed. */
    readonly updated_at: string
    /** A tier of `GET /v1/byok/providers/{provider}/tiers`. Default: as the replies of the provider show it. */
    readonly account_tier?: string | undefined
    /** Where the tier is known from. `fallback`: the lowest one, until a reply of the provider shows it. */
    readonly account_tier_source: 'auto_detected' | 'user_specified' | 'fallback' | null
    /** When the key was last shown to its provider. null: never. */
    readonly last_validated_at: string | null
    /** `pending`: other processes apply the change within 30 seconds. null: it applies everywhere. */
    readonly propagation_status: 'pending' | null
  }
  readonly ByokKeyList: {
    /** Type of the object. */
    readonly object: 'list'
    /** The entries. */
    readonly data: readonly Schemas['ByokKey'][]
    /** Number of entries on this page. */
    readonly count: number
    /** Whether there is a next page. */
    readonly has_more: boolean
    /** Send it as `after` for the next page; null on the last one. */
    readonly next: string | null
  }
  /** Providers that take keys of a workspace. */
  readonly ByokProviderList: {
    /** Type of the object. */
    readonly object: 'list'
    /** The entries. */
    readonly data: readonly {
      /** Id of the provider. */
      readonly provider: string
      /** Name to show to people. */
      readonly display_name: string
      /** Which of its keys is meant. */
      readonly key_hint?: string | undefined
      /** Path of its account tiers. */
      readonly tiers_url: string
    }[]
    /** Number of entries. */
    readonly count: number
  }
  readonly CreateApiKey: {
    /** Name of the key. */
    readonly name: string
    /** There is one type. */
    readonly key_type?: 'api' | undefined
    /** What the key may do. A key grants only scopes that it has. Default: `inference:invoke`. */
    readonly scopes?:
      | readonly (
          | 'inference:invoke'
          | 'keys:read'
          | 'keys:write'
          | 'byok:read'
          | 'byok:write'
          | 'billing:read'
          | 'billing:write'
          | 'usage:read'
          | 'workspace:read'
          | 'workspace:write'
          | 'routing:read'
          | 'routing:write'
          | 'members:read'
          | 'members:write'
          | 'invites:read'
          | 'invites:write'
          | 'audit:read'
          | 'budgets:read'
          | 'budgets:write'
        )[]
      | undefined
    /** Requests a minute for each model. */
    readonly rate_limit_rpm?: number | undefined
    /** In the future; from then on the key is not valid. */
    readonly expires_at?: string | undefined
    /** What the key may spend as long as it exists. It is listed among the budgets, and deleted with the key. */
    readonly budget?:
      | {
          /** What may be spent in a period. */
          readonly limit_usd: number
          /** Requests beyond the limit are refused. false: the budget only reports. Default: true. */
          readonly enforce?: boolean | undefined
          /** Requests with provider keys of the workspace count too, at list price. Default: false. */
          readonly include_byok?: boolean | undefined
        }
      | undefined
  }
  readonly CreateBudget: {
    /** Name of the budget. */
    readonly name: string
    /** Whether all keys of the workspace count, or one. Default: `api_key` if one is named, else `workspace`. */
    readonly scope?: 'workspace' | 'api_key' | undefined
    /** The key that counts, if `scope` is `api_key`. */
    readonly api_key_id?: string | undefined
    /** Of UTC; weeks begin on Monday. Default: `month`. */
    readonly period?: 'day' | 'week' | 'month' | 'total' | undefined
    /** What may be spent in a period. */
    readonly limit_usd: number
    /** Requests beyond the limit are refused. false: the budget only reports. Default: true. */
    readonly enforce?: boolean | undefined
    /** Requests with provider keys of the workspace count too, at list price. Default: false. */
    readonly include_byok?: boolean | undefined
    /** Shares of the limit at which the operator is notified. Default: none. */
    readonly alert_at?: readonly number[] | undefined
  }
  readonly CreateByokKey: {
    /** The provider, as in `GET /v1/byok/providers`. */
    readonly provider: string
    /** The secret of the provider. No reply contains it. */
    readonly api_key: string
    /** Name of the key. */
    readonly name: string
    /** The key that requests use for its provider. true replaces the default that there is; false is refused for the default. */
    readonly is_default?: boolean | undefined
    /** A tier of `GET /v1/byok/providers/{provider}/tiers`. Default: as the replies of the provider show it. */
    readonly account_tier?: string | undefined
    /** What the provider needs to know of the account: `region`, `resource`, `project`, `location`, `account_id`. */
    readonly extra?: Readonly<Record<string, string>> | undefined
  }
  readonly CreateCredit: {
    /** What is added to the credit. */
    readonly amount_microdollars: number
    /** Of the payment: the same one again changes nothing, with another amount it is refused. */
    readonly reference: string
    /** A remark for the ledger. */
    readonly note?: string | undefined
  }
  readonly CreateInvite: {
    /** E-mail address. */
    readonly email: string
    /** What the member may do. */
    readonly role: 'owner' | 'admin' | 'developer' | 'viewer' | 'billing'
  }
  readonly CreateSession: {
    /** The app’s id of the user, under which usage counts. */
    readonly user: string
    /** Names that usage is counted by. */
    readonly tags?: readonly string[] | undefined
    /** The models that it may call, by id or alias. Default: all that the workspace may. */
    readonly models?: readonly string[] | undefined
    /** What it may spend in all, provider keys of the workspace included. Default: what its budgets and those of the workspace allow. */
    readonly max_spend_usd?: number | undefined
    /** Origins whose pages may use the token. Default: all pages, and programs that are no browser. */
    readonly origins?: readonly string[] | undefined
    /** Limits of the user, in all its sessions together. */
    readonly limits?:
      | {
          /** Requests a minute for each model. */
          readonly requests_per_minute?: number | undefined
          /** Input and output tokens a minute. */
          readonly tokens_per_minute?: number | undefined
          /** Requests at the same time. */
          readonly concurrent_requests?: number | undefined
        }
      | undefined
    /** Budgets of the user, in all its sessions together. */
    readonly budgets?:
      | readonly {
          /** What may be spent in a period. */
          readonly limit_usd: number
          /** Of UTC; weeks begin on Monday. Default: `month`. */
          readonly period?: 'day' | 'week' | 'month' | 'total' | undefined
          /** The users who share it. Default: this one. */
          readonly group?: string | undefined
          /** Requests with provider keys of the workspace count too, at list price. Default: false. */
          readonly include_byok?: boolean | undefined
        }[]
      | undefined
    /** Seconds until it expires. Default: 3600. */
    readonly expires_in?: number | undefined
  }
  readonly CreatedApiKey: {
    /** Id of the key. */
    readonly id: string
    /** The workspace that the key belongs to. */
    readonly workspace_id: string
    /** Name of the key. */
    readonly name: string
    /** The beginning of the secret. */
    readonly key_prefix: string
    /** What the key may do. A key grants only scopes that it has. Default: `inference:invoke`. */
    readonly scopes: readonly (
      | 'inference:invoke'
      | 'keys:read'
      | 'keys:write'
      | 'byok:read'
      | 'byok:write'
      | 'billing:read'
      | 'billing:write'
      | 'usage:read'
      | 'workspace:read'
      | 'workspace:write'
      | 'routing:read'
      | 'routing:write'
      | 'members:read'
      | 'members:write'
      | 'invites:read'
      | 'invites:write'
      | 'audit:read'
      | 'budgets:read'
      | 'budgets:write'
    )[]
    /** false: revoked, expired, or below a key that is. */
    readonly is_active: boolean
    /** When the key was created. */
    readonly created_at: string
    /** Requests a minute for each model. */
    readonly rate_limit_rpm?: number | undefined
    /** In the future; from then on the key is not valid. */
    readonly expires_at?: string | undefined
    /** When the key was last used. */
    readonly last_used_at?: string | undefined
    /** The key that created this one. */
    readonly created_by_key_id?: string | undefined
    /** What the scopes are for. */
    readonly profile: 'inference' | 'management' | 'mixed'
    /** The secret. It is shown this once. */
    readonly api_key: string
    /** `pending`: other processes apply the change within 30 seconds. null: it applies everywhere. */
    readonly propagation_status: 'pending' | null
  }
  readonly CreatedInvite: {
    /** Id of the invite. */
    readonly id: string
    /** E-mail address. */
    readonly email: string
    /** What the member may do. */
    readonly role: 'owner' | 'admin' | 'developer' | 'viewer' | 'billing'
    /** Only a pending invite can be accepted. */
    readonly status: 'pending' | 'accepted' | 'revoked' | 'expired'
    /** When the invite expires. */
    readonly expires_at: string
    /** The proof. It is shown this once. */
    readonly token: string
  }
  readonly CreatedSession: {
    /** Id of the session. */
    readonly id: string
    /** The workspace that pays. */
    readonly workspace_id: string
    /** The app’s id of the user, under which usage counts. */
    readonly user: string
    /** The beginning of the token. */
    readonly token_prefix: string
    /** Names that usage is counted by. */
    readonly tags?: readonly string[] | undefined
    /** The models that it may call, by id or alias. Default: all that the workspace may. */
    readonly models: readonly string[] | null
    /** What it may spend in all, provider keys of the workspace included. Default: what its budgets and those of the workspace allow. */
    readonly max_spend_usd: number | null
    /** Origins whose pages may use the token. Default: all pages, and programs that are no browser. */
    readonly origins: readonly string[] | null
    /** Limits of the user, in all its sessions together. */
    readonly limits?:
      | {
          /** Requests a minute for each model. */
          readonly requests_per_minute?: number | undefined
          /** Input and output tokens a minute. */
          readonly tokens_per_minute?: number | undefined
          /** Requests at the same time. */
          readonly concurrent_requests?: number | undefined
        }
      | undefined
    /** Budgets of the user, in all its sessions together. */
    readonly budgets?:
      | readonly {
          /** What may be spent in a period. */
          readonly limit_usd: number
          /** Of UTC; weeks begin on Monday. Default: `month`. */
          readonly period?: 'day' | 'week' | 'month' | 'total' | undefined
          /** The users who share it. Default: this one. */
          readonly group?: string | undefined
          /** Requests with provider keys of the workspace count too, at list price. Default: false. */
          readonly include_byok?: boolean | undefined
        }[]
      | undefined
    /** When it was created. */
    readonly created_at: string
    /** From then on the token is not valid. */
    readonly expires_at: string
    /** The token. It is shown this once. */
    readonly token: string
  }
  /** Models with all that is known about them. */
  readonly DirectoryModelList: {
    /** Type of the object. */
    readonly object: 'list'
    /** The entries. */
    readonly data: readonly {
      /** Canonical id. */
      readonly id: string
      /** Family of models that it belongs to. */
      readonly family: string
      /** Name to show to people. */
      readonly display_name: string
      /** What the model can do. */
      readonly capabilities: {
        /** Whether it supports tools. */
        readonly supports_tools: boolean
        /** Whether it supports vision. */
        readonly supports_vision: boolean
        /** Whether it supports json mode. */
        readonly supports_json_mode: boolean
        /** Whether it supports reasoning. */
        readonly supports_reasoning: boolean
        /** Whether it supports streaming. */
        readonly supports_streaming: boolean
        /** Whether it supports web search. */
        readonly supports_web_search: boolean
        /** Whether it supports computer use. */
        readonly supports_computer_use: boolean
        /** Whether it supports prompt caching. */
        readonly supports_prompt_caching: boolean
        /** Whether it supports code interpreter. */
        readonly supports_code_interpreter: boolean
        /** Whether it supports structured output. */
        readonly supports_structured_output: boolean
      }
      /** What it takes. */
      readonly input_modalities: readonly string[]
      /** What it returns. */
      readonly output_modalities: readonly string[]
      /** Company that made it. */
      readonly author: string
      /** Ids of the providers that offer it here. */
      readonly providers: readonly string[]
      /** Whether one of them charges nothing. */
      readonly has_free_provider: boolean
      /** Where its newest facts were read. */
      readonly source?: string | undefined
      /** Date on which they were read there. */
      readonly as_of?: string | undefined
      /** Other ids that lead to it. */
      readonly aliases: readonly string[]
      /** Largest context window among its providers, in tokens. */
      readonly context_window?: number | undefined
      /** Largest output among its providers, in tokens. */
      readonly max_output_tokens?: number | undefined
      /** One entry for each provider whose price is known. */
      readonly prices: readonly {
        /** Id of the provider. */
        readonly provider: string
        /** Price of input in USD per million tokens. */
        readonly input_price: number
        /** Price of output in USD per million tokens. */
        readonly output_price: number
        /** Price of sound in the prompt in USD per million tokens. */
        readonly audio_input_price?: number | undefined
        /** Price of cached input in USD per million tokens. */
        readonly cached_input_price?: number | undefined
        /** Price of input that is written to the cache in USD per million tokens. */
        readonly cache_write_price?: number | undefined
        /** Price of input that is cached for an hour in USD per million tokens. */
        readonly cache_write_1h_price?: number | undefined
        /** Price of a request in USD, whatever its length. */
        readonly request_price?: number | undefined
        /** Price of a call of each hosted tool in USD. */
        readonly tool_prices?: Readonly<Record<string, number>> | undefined
        /** Prices of long prompts; the last entry that applies counts. */
        readonly long_prompts?:
          | readonly {
              /** The rates apply to longer prompts, as a whole. */
              readonly over_tokens: number
              /** Price of input in USD per million tokens. */
              readonly input_price: number
              /** Price of output in USD per million tokens. */
              readonly output_price: number
              /** Price of sound in the prompt in USD per million tokens. */
              readonly audio_input_price?: number | undefined
              /** Price of cached input in USD per million tokens. */
              readonly cached_input_price?: number | undefined
              /** Price of input that is written to the cache in USD per million tokens. */
              readonly cache_write_price?: number | undefined
              /** Price of input that is cached for an hour in USD per million tokens. */
              readonly cache_write_1h_price?: number | undefined
              /** Price of a request in USD, whatever its length. */
              readonly request_price?: number | undefined
              /** Price of a call of each hosted tool in USD. */
              readonly tool_prices?: Readonly<Record<string, number>> | undefined
            }[]
          | undefined
        /** Prices of the faster tier. */
        readonly priority?:
          | {
              /** Price of input in USD per million tokens. */
              readonly input_price: number
              /** Price of output in USD per million tokens. */
              readonly output_price: number
              /** Price of sound in the prompt in USD per million tokens. */
              readonly audio_input_price?: number | undefined
              /** Price of cached input in USD per million tokens. */
              readonly cached_input_price?: number | undefined
              /** Price of input that is written to the cache in USD per million tokens. */
              readonly cache_write_price?: number | undefined
              /** Price of input that is cached for an hour in USD per million tokens. */
              readonly cache_write_1h_price?: number | undefined
              /** Price of a request in USD, whatever its length. */
              readonly request_price?: number | undefined
              /** Price of a call of each hosted tool in USD. */
              readonly tool_prices?: Readonly<Record<string, number>> | undefined
            }
          | undefined
        /** Hours at which other prices hold. The prices above are those of now. */
        readonly windows?:
          | readonly {
              /** Days on which it begins, 1 for Monday. Absent: every day. */
              readonly days?: readonly number[] | undefined
              /** Time in UTC at which it opens. */
              readonly from: string
              /** Time in UTC at which it closes. */
              readonly to: string
              /** Price of input in USD per million tokens. */
              readonly input_price: number
              /** Price of output in USD per million tokens. */
              readonly output_price: number
              /** Price of sound in the prompt in USD per million tokens. */
              readonly audio_input_price?: number | undefined
              /** Price of cached input in USD per million tokens. */
              readonly cached_input_price?: number | undefined
              /** Price of input that is written to the cache in USD per million tokens. */
              readonly cache_write_price?: number | undefined
              /** Price of input that is cached for an hour in USD per million tokens. */
              readonly cache_write_1h_price?: number | undefined
              /** Price of a request in USD, whatever its length. */
              readonly request_price?: number | undefined
              /** Price of a call of each hosted tool in USD. */
              readonly tool_prices?: Readonly<Record<string, number>> | undefined
            }[]
          | undefined
        /** Announced prices, in the order of their dates. */
        readonly changes?:
          | readonly {
              /** Date or time from which it holds. */
              readonly from: string
              /** Price of input in USD per million tokens. */
              readonly input_price: number
              /** Price of output in USD per million tokens. */
              readonly output_price: number
              /** Price of sound in the prompt in USD per million tokens. */
              readonly audio_input_price?: number | undefined
              /** Price of cached input in USD per million tokens. */
              readonly cached_input_price?: number | undefined
              /** Price of input that is written to the cache in USD per million tokens. */
              readonly cache_write_price?: number | undefined
              /** Price of input that is cached for an hour in USD per million tokens. */
              readonly cache_write_1h_price?: number | undefined
              /** Price of a request in USD, whatever its length. */
              readonly request_price?: number | undefined
              /** Price of a call of each hosted tool in USD. */
              readonly tool_prices?: Readonly<Record<string, number>> | undefined
            }[]
          | undefined
        /** Fields of the request that raise the prices of tokens. Several multiply. */
        readonly surcharges?:
          | readonly {
              /** Field of the request. */
              readonly field: string
              /** Value at which the price rises. */
              readonly value: string
              /** Percent of the usual price of tokens. */
              readonly percent: number
            }[]
          | undefined
        /** Last day on which this provider serves it. */
        readonly retires_at?: string | undefined
        /** Where the price was read. */
        readonly source?: string | undefined
        /** Date on which it was read there. */
        readonly as_of?: string | undefined
      }[]
      /** When the model was released. */
      readonly released_at?: string | undefined
      /** End of its training data: a month or a day. */
      readonly knowledge_cutoff?: string | undefined
      /** Date on which its author shuts it down. */
      readonly retires_at?: string | undefined
      /** Model that its author names as the replacement. */
      readonly successor?: string | undefined
      /** Whether its weights are public. */
      readonly open_weights?: boolean | undefined
    }[]
    /** Number of entries. */
    readonly count: number
  }
  /** The key of the request. */
  readonly Identity: {
    /** An API key, or a user whom the app has signed in. */
    readonly credential_type: 'api_key' | 'user'
    /** Always `active`: another key gets 401. */
    readonly status: 'active'
    /** What the scopes of the key are for. */
    readonly profile: 'inference' | 'management' | 'mixed'
    /** Id of the key; of a user `user:` and its id. */
    readonly key_id: string
    /** First characters of the key, to recognize it by. */
    readonly key_prefix: string
    /** Name of the key. */
    readonly key_name: string
    /** The workspace that the key belongs to. */
    readonly workspace: {
      /** Id of the workspace. */
      readonly id: string
      /** Name of the workspace. */
      readonly name: string
    }
    /** What the key may do. */
    readonly scopes: readonly string[]
    /** Rate limits of the key. */
    readonly rate_limits: {
      /** Inference requests a minute. */
      readonly inference_rpm: number
      /** Management reads a minute. */
      readonly management_reads_rpm: number
      /** Management writes a minute. */
      readonly management_writes_rpm: number
    }
    /** The budgets that requests count against; of a user its own, without those that it shares. */
    readonly budgets: readonly {
      /** Name of the budget. */
      readonly name: string
      /** Of UTC; weeks begin on Monday. Default: `month`. */
      readonly period: 'day' | 'week' | 'month' | 'total'
      /** Requests beyond the limit are refused. false: the budget only reports. Default: true. */
      readonly enforce: boolean
      /** What may be spent in a period. */
      readonly limit_usd: number
      /** Spent in the current period. */
      readonly used_usd: number
      /** Left in the current period; 0 if it is used up. */
      readonly remaining_usd: number
      /** When the next period begins. null: never. */
      readonly resets_at: string | null
    }[]
    /** When the key expires; null: never. */
    readonly expires_at: string | null
    /** When the key was created. */
    readonly created_at: string
  }
  readonly InviteList: {
    /** Type of the object. */
    readonly object: 'list'
    /** The entries. */
    readonly data: readonly {
      /** Id of the invite. */
      readonly id: string
      /** E-mail address. */
      readonly email: string
      /** What the member may do. */
      readonly role: 'owner' | 'admin' | 'developer' | 'viewer' | 'billing'
      /** Only a pending invite can be accepted. */
      readonly status: 'pending' | 'accepted' | 'revoked' | 'expired'
      /** When the invite expires. */
      readonly expires_at: string
    }[]
    /** Number of entries on this page. */
    readonly count: number
    /** Whether there is a next page. */
    readonly has_more: boolean
    /** Send it as `after` for the next page; null on the last one. */
    readonly next: string | null
  }
  readonly LedgerEntryList: {
    /** Type of the object. */
    readonly object: 'list'
    /** The entries. */
    readonly data: readonly {
      /** Id of the entry. */
      readonly id: string
      /** When the entry was made. */
      readonly at: string
      /** What the entry is for. */
      readonly kind: 'credit' | 'usage' | 'adjustment'
      /** Above 0: added. Below 0: spent. */
      readonly amount_microdollars: number
      /** The balance after the entry. */
      readonly balance_after_microdollars: number
      /** The request, if the entry is of usage. */
      readonly request_id: string | null
      /** Of a credit or an adjustment. */
      readonly reference: string | null
    }[]
    /** Number of entries on this page. */
    readonly count: number
    /** Whether there is a next page. */
    readonly has_more: boolean
    /** Send it as `after` for the next page; null on the last one. */
    readonly next: string | null
  }
  /** A request of the log. */
  readonly LoggedRequest: {
    /** Id of the request: its `X-Request-ID`. */
    readonly id: string
    /** When it came. */
    readonly at: string
    /** Id of its API key, or `user:` and the id of a user of the app. */
    readonly api_key_id: string
    /** Model by the name in the request. */
    readonly model_requested: string
    /** Canonical id of the model. */
    readonly model: string
    /** Provider that answered; null: none did. */
    readonly provider: string | null
    /** Strategy that chose the provider. */
    readonly strategy: string
    /** How it ended. */
    readonly status: 'ok' | 'incomplete' | 'error' | 'rate_limited' | 'abandoned' | 'interrupted'
    /** Error code; null without an error. */
    readonly error_code: string | null
    /** Whether the response was streamed. */
    readonly stream: boolean
    /** Whether a provider key of the workspace’s own was used. */
    readonly byok: boolean
    /** Token counts. */
    readonly tokens: {
      /** Input tokens, cached ones included. */
      readonly input: number
      /** Output tokens, reasoning included. */
      readonly output: number
      /** Input and output tokens. */
      readonly total: number
      /** Input tokens read from a prompt cache. */
      readonly cached: number
      /** Input tokens written to a prompt cache. */
      readonly cache_write: number
      /** Output tokens of reasoning. */
      readonly reasoning: number
    }
    /** Whether the gateway counted the tokens, since the provider did not. */
    readonly estimated: boolean
    /** Charged to the workspace, in USD. */
    readonly cost_usd: number
    /** Paid to the provider with the workspace’s own key, in USD by list price. */
    readonly byok_cost_usd: number
    /** Milliseconds to the first content; null if none came. */
    readonly ttft_ms: number | null
    /** Milliseconds to the end of the response. */
    readonly duration_ms: number
    /** Calls of providers. */
    readonly attempts: number
    /** Codes of its warnings. */
    readonly warnings: readonly string[]
    /** `gateway.metadata` of the request. */
    readonly metadata: Readonly<Record<string, string>>
    /** Tags of its caller, and of `gateway.metadata.tags`. */
    readonly tags: readonly string[]
  }
  readonly Member: {
    /** Id of the member. */
    readonly id: string
    /** E-mail address. */
    readonly email: string
    /** Name of the member. */
    readonly name: string
    /** What the member may do. */
    readonly role: 'owner' | 'admin' | 'developer' | 'viewer' | 'billing'
    /** When the member joined. */
    readonly joined_at: string
  }
  readonly MemberList: {
    /** Type of the object. */
    readonly object: 'list'
    /** The entries. */
    readonly data: readonly Schemas['Member'][]
    /** Number of entries on this page. */
    readonly count: number
    /** Whether there is a next page. */
    readonly has_more: boolean
    /** Send it as `after` for the next page; null on the last one. */
    readonly next: string | null
  }
  /** A model that can be called. */
  readonly Model: {
    /** Canonical id. */
    readonly id: string
    /** Type of the object. */
    readonly object: 'model'
    /** Type of the object, as clients of the Messages API read it. */
    readonly type: 'model'
    /** Release of the model, in Unix seconds; 0 if it is not known. */
    readonly created: number
    /** The same time as a date. */
    readonly created_at: string
    /** Name to show to people. */
    readonly display_name: string
    /** The operator of this service. */
    readonly owned_by: string
    /** Largest context window among its providers, in tokens. */
    readonly context_window?: number | undefined
    /** Endpoints that serve the model. */
    readonly supported_endpoints: readonly ('responses' | 'chat_completions' | 'messages')[]
    /** Providers of the model. A price that is not known is absent. */
    readonly providers: readonly {
      /** Id of the provider. */
      readonly name: string
      /** Price of input in USD per million tokens. */
      readonly input_price?: number | undefined
      /** Price of output in USD per million tokens. */
      readonly output_price?: number | undefined
      /** `zdr`, `no_training`, `may_train` or `unknown`. */
      readonly data_policy?: string | undefined
    }[]
  }
  /** A page of models. */
  readonly ModelList: {
    /** Type of the object. */
    readonly object: 'list'
    /** The models, ordered by id. */
    readonly data: readonly Schemas['Model'][]
    /** Number of models on this page. */
    readonly count: number
    /** Whether there are more in the direction of the page. */
    readonly has_more: boolean
    /** Id of the first model; null on an empty page. */
    readonly first_id: string | null
    /** Id of the last model; null on an empty page. */
    readonly last_id: string | null
  }
  /** Account tiers of a provider. */
  readonly ProviderTierList: {
    /** Type of the object. */
    readonly object: 'list'
    /** Id of the provider. */
    readonly provider: string
    /** The tiers. */
    readonly data: readonly {
      /** A value of `account_tier`. */
      readonly tier: string
      /** Name to show to people. */
      readonly display_name: string
      /** `zdr`, `no_training`, `may_train` or `unknown`. */
      readonly data_policy: string
      /** What an account needs for this tier. */
      readonly qualification: string
    }[]
    /** Number of tiers. */
    readonly count: number
  }
  /** All models with their capabilities. */
  readonly RegistryModelList: {
    /** The models. */
    readonly models: readonly {
      /** Canonical id. */
      readonly id: string
      /** Family of models that it belongs to. */
      readonly family: string
      /** Name to show to people. */
      readonly display_name: string
      /** What the model can do. */
      readonly capabilities: {
        /** Whether it supports tools. */
        readonly supports_tools: boolean
        /** Whether it supports vision. */
        readonly supports_vision: boolean
        /** Whether it supports json mode. */
        readonly supports_json_mode: boolean
        /** Whether it supports reasoning. */
        readonly supports_reasoning: boolean
        /** Whether it supports streaming. */
        readonly supports_streaming: boolean
        /** Whether it supports web search. */
        readonly supports_web_search: boolean
        /** Whether it supports computer use. */
        readonly supports_computer_use: boolean
        /** Whether it supports prompt caching. */
        readonly supports_prompt_caching: boolean
        /** Whether it supports code interpreter. */
        readonly supports_code_interpreter: boolean
        /** Whether it supports structured output. */
        readonly supports_structured_output: boolean
      }
      /** What it takes. */
      readonly input_modalities: readonly string[]
      /** What it returns. */
      readonly output_modalities: readonly string[]
      /** Company that made it. */
      readonly author: string
      /** Ids of the providers that offer it here. */
      readonly providers: readonly string[]
      /** Whether one of them charges nothing. */
      readonly has_free_provider: boolean
      /** Where its newest facts were read. */
      readonly source?: string | undefined
      /** Date on which they were read there. */
      readonly as_of?: string | undefined
    }[]
    /** Number of models. */
    readonly count: number
  }
  /** Providers. */
  readonly RegistryProviderList: {
    /** Type of the object. */
    readonly object: 'list'
    /** The entries. */
    readonly data: readonly {
      /** Id of the provider. */
      readonly id: string
      /** Name to show to people. */
      readonly display_name: string
      /** `zdr`, `no_training`, `may_train` or `unknown`. */
      readonly data_policy: string
      /** Days for which it keeps what it is sent. */
      readonly retention_days?: number | undefined
      /** Country code. */
      readonly headquarters?: string | undefined
      /** Its documentation. */
      readonly docs_url?: string | undefined
      /** Regions that it serves from. */
      readonly regions: readonly string[]
      /** The formats that it speaks itself, named by our endpoints. Every endpoint reaches every provider. */
      readonly endpoints: readonly string[]
      /** Number of models that it offers here. */
      readonly model_count: number
      /** Where its newest facts were read. */
      readonly source?: string | undefined
      /** Date on which they were read there. */
      readonly as_of?: string | undefined
    }[]
    /** Number of entries. */
    readonly count: number
  }
  /** CSV: a line of names, then one for each request. Cells that a spreadsheet would run begin with a quote. */
  readonly RequestExport: string
  /** A page of the request log. */
  readonly RequestLog: {
    /** Type of the object. */
    readonly object: 'list'
    /** The entries. */
    readonly data: readonly Schemas['LoggedRequest'][]
    /** Number of entries on this page. */
    readonly count: number
    /** Whether there is a next page. */
    readonly has_more: boolean
    /** Send it as `after` for the next page; null on the last one. */
    readonly next: string | null
  }
  readonly RoutingDefaults: {
    /** `balanced`, `cost`, `latency`, `throughput`, `availability`, `order`, or one of the operator’s own. */
    readonly strategy: string | null
    /** Whether another provider may be tried after a failure. */
    readonly allow_fallbacks: boolean | null
    /** Providers to try first, in this order. */
    readonly order: readonly string[] | null
    /** Providers that may be used. null: all. */
    readonly only: readonly string[] | null
    /** Providers that are not used. */
    readonly ignore: readonly string[] | null
    /** USD per million tokens that an offer may cost at most. */
    readonly max_price: {
      /** Of input. */
      readonly input?: number | undefined
      /** Of output. */
      readonly output?: number | undefined
    } | null
    /** Limit of one attempt, in milliseconds. */
    readonly timeout_ms: number | null
    /** Limit of the whole request, in milliseconds. */
    readonly deadline_ms: number | null
    /** Provider keys of the workspace go before those of the operator. */
    readonly byok_first: boolean | null
    /** Names in the lists that the gateway does not know any more. Absent: it knows all of them. */
    readonly warnings?:
      | readonly {
          /** There is one code. */
          readonly code: 'unknown_name'
          /** What is wrong. */
          readonly message: string
          /** The entry of the list. */
          readonly param: string
        }[]
      | undefined
  }
  /** How a request was routed. */
  readonly RoutingEvidence: {
    /** Whether every candidate is listed, or only the chosen ones. */
    readonly detail: 'full' | 'summary'
    /** How many candidates were excluded, by reason. */
    readonly excluded_counts: Readonly<Record<string, number>>
    /** Seed of the random choices, to replay them. */
    readonly seed: number
    /** Strategy that ranked the candidates. */
    readonly strategy: unknown
    /** Candidates in the order of their rank. */
    readonly order: readonly string[]
    /** Candidates that could not be used. */
    readonly excluded: readonly {
      /** Id of the provider. */
      readonly provider: string
      /** Why it could not be used. */
      readonly reason: string
      readonly [name: string]: unknown
    }[]
    /** One entry for each attempt: what was chosen, and why. */
    readonly decisions: readonly {
      /** The candidate that was chosen. */
      readonly chosen: string
      readonly [name: string]: unknown
    }[]
    /** How each attempt went. */
    readonly attempts: readonly Readonly<Record<string, unknown>>[]
    /** What other strategies would have chosen. */
    readonly counterfactuals: Readonly<Record<string, unknown>> | null
    readonly [name: string]: unknown
  }
  readonly SessionList: {
    /** Type of the object. */
    readonly object: 'list'
    /** The entries. */
    readonly data: readonly {
      /** Id of the session. */
      readonly id: string
      /** The workspace that pays. */
      readonly workspace_id: string
      /** The app’s id of the user, under which usage counts. */
      readonly user: string
      /** The beginning of the token. */
      readonly token_prefix: string
      /** Names that usage is counted by. */
      readonly tags?: readonly string[] | undefined
      /** The models that it may call, by id or alias. Default: all that the workspace may. */
      readonly models: readonly string[] | null
      /** What it may spend in all, provider keys of the workspace included. Default: what its budgets and those of the workspace allow. */
      readonly max_spend_usd: number | null
      /** Origins whose pages may use the token. Default: all pages, and programs that are no browser. */
      readonly origins: readonly string[] | null
      /** Limits of the user, in all its sessions together. */
      readonly limits?:
        | {
            /** Requests a minute for each model. */
            readonly requests_per_minute?: number | undefined
            /** Input and output tokens a minute. */
            readonly tokens_per_minute?: number | undefined
            /** Requests at the same time. */
            readonly concurrent_requests?: number | undefined
          }
        | undefined
      /** Budgets of the user, in all its sessions together. */
      readonly budgets?:
        | readonly {
            /** What may be spent in a period. */
            readonly limit_usd: number
            /** Of UTC; weeks begin on Monday. Default: `month`. */
            readonly period?: 'day' | 'week' | 'month' | 'total' | undefined
            /** The users who share it. Default: this one. */
            readonly group?: string | undefined
            /** Requests with provider keys of the workspace count too, at list price. Default: false. */
            readonly include_byok?: boolean | undefined
          }[]
        | undefined
      /** When it was created. */
      readonly created_at: string
      /** From then on the token is not valid. */
      readonly expires_at: string
    }[]
    /** Number of entries on this page. */
    readonly count: number
    /** Whether there is a next page. */
    readonly has_more: boolean
    /** Send it as `after` for the next page; null on the last one. */
    readonly next: string | null
  }
  readonly Settings: {
    /** Name of the workspace. */
    readonly name: string
    /** How providers may use what they are sent, at the least strict. */
    readonly data_policy_required: 'any' | 'no_training' | 'zdr'
    /** The providers that requests may use. null: all. */
    readonly allowed_providers: readonly string[] | null
    /** The providers that no request uses. */
    readonly blocked_providers: readonly string[]
    /** The models that requests may use. null: all. */
    readonly allowed_models: readonly string[] | null
    /** Days for which the request log is kept. Default: 365. */
    readonly log_retention_days: number
    /** USD that a second call beside a silent one may cost. null: as the gateway is configured. */
    readonly hedge_max_extra_cost: number | null
    /** Calls use provider keys of the workspace only, never credentials of the operator. Default: false. */
    readonly own_keys_only: boolean
    /** Names in the lists that the gateway does not know any more. Absent: it knows all of them. */
    readonly warnings?:
      | readonly {
          /** There is one code. */
          readonly code: 'unknown_name'
          /** What is wrong. */
          readonly message: string
          /** The entry of the list. */
          readonly param: string
        }[]
      | undefined
  }
  readonly Subscription: {
    /** Name of the plan. Default: `standard`. */
    readonly plan: string
    /** Shown only: it stops nothing. Default: `active`. */
    readonly status: 'active' | 'past_due' | 'canceled'
    /** Requests with provider keys of the workspace in a calendar month (UTC). null: any number. */
    readonly byok_monthly_request_cap: number | null
    /** Default: the beginning of the calendar month (UTC). */
    readonly current_period_start: string
    /** Default: the end of the calendar month (UTC). */
    readonly current_period_end: string
  }
  readonly UpdateApiKey: {
    /** Name of the key. */
    readonly name?: string | undefined
    /** Requests a minute for each model. */
    readonly rate_limit_rpm?: number | null | undefined
    /** In the future; from then on the key is not valid. */
    readonly expires_at?: string | null | undefined
    /** What the key may spend as long as it exists. It is listed among the budgets, and deleted with the key. */
    readonly budget?:
      | {
          /** What may be spent in a period. */
          readonly limit_usd?: number | undefined
          /** Requests beyond the limit are refused. false: the budget only reports. Default: true. */
          readonly enforce?: boolean | undefined
          /** Requests with provider keys of the workspace count too, at list price. Default: false. */
          readonly include_byok?: boolean | undefined
        }
      | null
      | undefined
  }
  readonly UpdateAutoReload: {
    /** Whether credit is reloaded. */
    readonly enabled?: boolean | undefined
    /** Below this balance, credit is reloaded. */
    readonly threshold_microdollars?: number | undefined
    /** The balance after a reload; more than the threshold. */
    readonly target_microdollars?: number | undefined
  }
  readonly UpdateBudget: {
    /** Name of the budget. */
    readonly name?: string | undefined
    /** What may be spent in a period. */
    readonly limit_usd?: number | undefined
    /** Requests beyond the limit are refused. false: the budget only reports. Default: true. */
    readonly enforce?: boolean | undefined
    /** Requests with provider keys of the workspace count too, at list price. Default: false. */
    readonly include_byok?: boolean | undefined
    /** Shares of the limit at which the operator is notified. Default: none. */
    readonly alert_at?: readonly number[] | undefined
  }
  readonly UpdateByokKey: {
    /** The secret of the provider. No reply contains it. */
    readonly api_key?: string | undefined
    /** Name of the key. */
    readonly name?: string | undefined
    /** The key that requests use for its provider. true replaces the default that there is; false is refused for the default. */
    readonly is_default?: boolean | undefined
    /** No request uses the key. */
    readonly disabled?: boolean | undefined
    /** A tier of `GET /v1/byok/providers/{provider}/tiers`. Default: as the replies of the provider show it. */
    readonly account_tier?: string | null | undefined
  }
  readonly UpdateMember: {
    /** What the member may do. */
    readonly role?: 'owner' | 'admin' | 'developer' | 'viewer' | 'billing' | undefined
  }
  readonly UpdateRoutingDefaults: {
    /** `balanced`, `cost`, `latency`, `throughput`, `availability`, `order`, or one of the operator’s own. */
    readonly strategy?: string | null | undefined
    /** Whether another provider may be tried after a failure. */
    readonly allow_fallbacks?: boolean | null | undefined
    /** Providers to try first, in this order. */
    readonly order?: readonly string[] | null | undefined
    /** Providers that may be used. null: all. */
    readonly only?: readonly string[] | null | undefined
    /** Providers that are not used. */
    readonly ignore?: readonly string[] | null | undefined
    /** USD per million tokens that an offer may cost at most. */
    readonly max_price?:
      | {
          /** Of input. */
          readonly input?: number | undefined
          /** Of output. */
          readonly output?: number | undefined
        }
      | null
      | undefined
    /** Limit of one attempt, in milliseconds. */
    readonly timeout_ms?: number | null | undefined
    /** Limit of the whole request, in milliseconds. */
    readonly deadline_ms?: number | null | undefined
    /** Provider keys of the workspace go before those of the operator. */
    readonly byok_first?: boolean | null | undefined
  }
  readonly UpdateSettings: {
    /** Name of the workspace. */
    readonly name?: string | undefined
    /** How providers may use what they are sent, at the least strict. */
    readonly data_policy_required?: 'any' | 'no_training' | 'zdr' | null | undefined
    /** The providers that requests may use. null: all. */
    readonly allowed_providers?: readonly string[] | null | undefined
    /** The providers that no request uses. */
    readonly blocked_providers?: readonly string[] | null | undefined
    /** The models that requests may use. null: all. */
    readonly allowed_models?: readonly string[] | null | undefined
    /** Days for which the request log is kept. Default: 365. */
    readonly log_retention_days?: number | null | undefined
    /** USD that a second call beside a silent one may cost. null: as the gateway is configured. */
    readonly hedge_max_extra_cost?: number | null | undefined
    /** Calls use provider keys of the workspace only, never credentials of the operator. Default: false. */
    readonly own_keys_only?: boolean | null | undefined
  }
}

/** The methods of a client, as `createClient` makes it. */
export interface Client {
  readonly models: {
    /** List the models that can be called. */
    list(
      query?: {
        /** Only models that this endpoint serves. */
        readonly endpoint?: 'responses' | 'chat_completions' | 'messages' | undefined
        /** Models of a page. Default: all there are. */
        readonly limit?: number | undefined
        /** Go on after this id, as in `last_id` of the page before. */
        readonly after_id?: string | undefined
        /** Go back before this id, as in `first_id` of the page before. */
        readonly before_id?: string | undefined
      },
      options?: CallOptions,
    ): Promise<Schemas['ModelList']>
    /** Look up one model by its id or an alias. Ids may hold slashes. */
    get(modelId: string, options?: CallOptions): Promise<Schemas['Model']>
  }
  readonly registry: {
    /** List all models with what they can do and who sells them. */
    models(options?: CallOptions): Promise<Schemas['RegistryModelList']>
    /** List the providers and what becomes of what they are sent. With filters: those that sell a model that fits. */
    providers(
      query?: {
        /** Only what this provider sells. */
        readonly provider?: string | undefined
        /** Only what can do this, as in `supports_…`. */
        readonly capability?:
          | 'tools'
          | 'vision'
          | 'json_mode'
          | 'reasoning'
          | 'streaming'
          | 'web_search'
          | 'computer_use'
          | 'prompt_caching'
          | 'code_interpreter'
          | 'structured_output'
          | undefined
        /** Only what comes from this maker. */
        readonly author?: string | undefined
      },
      options?: CallOptions,
    ): Promise<Schemas['RegistryProviderList']>
  }
  readonly directory: {
    /** List the models with all that is known of them, prices included. */
    models(
      query?: {
        /** Only what this provider sells. */
        readonly provider?: string | undefined
        /** Only what can do this, as in `supports_…`. */
        readonly capability?:
          | 'tools'
          | 'vision'
          | 'json_mode'
          | 'reasoning'
          | 'streaming'
          | 'web_search'
          | 'computer_use'
          | 'prompt_caching'
          | 'code_interpreter'
          | 'structured_output'
          | undefined
        /** Only what comes from this maker. */
        readonly author?: string | undefined
      },
      options?: CallOptions,
    ): Promise<Schemas['DirectoryModelList']>
  }
  readonly byokProviders: {
    /** List the providers for which a workspace can bring a key of its own. */
    list(options?: CallOptions): Promise<Schemas['ByokProviderList']>
    /** List what an account at a provider can be: it decides on the data policy. */
    tiers(provider: string, options?: CallOptions): Promise<Schemas['ProviderTierList']>
  }
  /** Tell what the key in use is and may do, and what is left of its budgets. */
  me(options?: CallOptions): Promise<Schemas['Identity']>
  readonly apiKeys: {
    /** Create an API key. The secret is in this answer, and nowhere else ever after. */
    create(body: Schemas['CreateApiKey'], options?: CallOptions): Promise<Schemas['CreatedApiKey']>
    /** List the API keys in the order of their making, without those that are revoked. */
    list(
      query?: {
        /** Those that are revoked too. Default: false. */
        readonly include_revoked?: boolean | undefined
        /** Entries of a page. Default: 20. */
        readonly limit?: number | undefined
        /** Go on after the entry of this id, as in `next` of the page before. */
        readonly after?: string | undefined
      },
      options?: CallOptions,
    ): PagedList<Schemas['ApiKeyList']>
    /** Look up one API key. */
    get(apiKeyId: string, options?: CallOptions): Promise<Schemas['ApiKey']>
    /** Change the name, the limit, the expiry or the budget of an API key; null takes away. */
    update(apiKeyId: string, body: Schemas['UpdateApiKey'], options?: CallOptions): Promise<Schemas['ApiKey']>
    /** Revoke an API key. It stops working within 30 seconds everywhere, and so do the keys made with it; a second time changes nothing. */
    revoke(
      apiKeyId: string,
      query?: {
        /** The keys made with it go on, below the keys above it. Default: false. */
        readonly keep_made?: boolean | undefined
      },
      options?: CallOptions,
    ): Promise<Schemas['Acknowledgement']>
    /** Tell what a key was used for in the current day, week or month (UTC; weeks begin on Monday). */
    usage(
      apiKeyId: string,
      query?: {
        /** Default: `month`. */
        readonly period?: 'day' | 'week' | 'month' | undefined
      },
      options?: CallOptions,
    ): Promise<Schemas['ApiKeyUsage']>
  }
  readonly budgets: {
    /** Limit what all keys of the workspace, or one of them, may spend in a period. */
    create(body: Schemas['CreateBudget'], options?: CallOptions): Promise<Schemas['Budget']>
    /** List the budgets in the order of their making, those of keys too. */
    list(
      query?: {
        /** Entries of a page. Default: 20. */
        readonly limit?: number | undefined
        /** Go on after the entry of this id, as in `next` of the page before. */
        readonly after?: string | undefined
      },
      options?: CallOptions,
    ): PagedList<Schemas['BudgetList']>
    /** Look up one budget, and what is left of it. */
    get(budgetId: string, options?: CallOptions): Promise<Schemas['Budget']>
    /** Change a budget. What was used of it stays used. */
    update(budgetId: string, body: Schemas['UpdateBudget'], options?: CallOptions): Promise<Schemas['Budget']>
    /** Remove a budget. */
    delete(budgetId: string, options?: CallOptions): Promise<Schemas['Acknowledgement']>
  }
  readonly billing: {
    /** Tell the credit of the workspace. */
    balance(options?: CallOptions): Promise<Schemas['Balance']>
    /** Add credit, once for each `reference`. */
    credit(body: Schemas['CreateCredit'], options?: CallOptions): Promise<Schemas['Balance']>
    /** List what came into the credit and went out of it, newest first. */
    ledger(
      query?: {
        /** Since this time, which is included. */
        readonly from?: string | Date | undefined
        /** Before this time. */
        readonly to?: string | Date | undefined
        /** Entries of a page. Default: 20. */
        readonly limit?: number | undefined
        /** Go on after the entry of this id, as in `next` of the page before. */
        readonly after?: string | undefined
      },
      options?: CallOptions,
    ): PagedList<Schemas['LedgerEntryList']>
    readonly autoReload: {
      /** Have credit paid in to a target whenever it falls below a threshold. */
      update(body: Schemas['UpdateAutoReload'], options?: CallOptions): Promise<Schemas['Balance']>
    }
  }
  readonly subscription: {
    /** Tell the plan of the workspace. */
    get(options?: CallOptions): Promise<Schemas['Subscription']>
  }
  readonly byokKeys: {
    /** Bring a key of your own for a provider. It is validated in the background; the first of a provider is its default. */
    create(body: Schemas['CreateByokKey'], options?: CallOptions): Promise<Schemas['ByokKey']>
    /** List the provider keys in the order of their making. */
    list(
      query?: {
        /** Those of this provider. */
        readonly provider?: string | undefined
        /** Entries of a page. Default: 20. */
        readonly limit?: number | undefined
        /** Go on after the entry of this id, as in `next` of the page before. */
        readonly after?: string | undefined
      },
      options?: CallOptions,
    ): PagedList<Schemas['ByokKeyList']>
    /** Look up one provider key. */
    get(byokKeyId: string, options?: CallOptions): Promise<Schemas['ByokKey']>
    /** Rename a provider key, disable it, make it the default, name its account tier, or put another secret in its place. */
    update(byokKeyId: string, body: Schemas['UpdateByokKey'], options?: CallOptions): Promise<Schemas['ByokKey']>
    /** Show a provider key to its provider now, and tell what came of it. */
    validate(byokKeyId: string, options?: CallOptions): Promise<Schemas['ByokKey']>
    /** Delete a provider key. If it was the default of its provider, no other takes its place. */
    delete(byokKeyId: string, options?: CallOptions): Promise<Schemas['Acknowledgement']>
  }
  readonly sessions: {
    /** Create a session of a user. Its token is in this answer, and nowhere else ever after. */
    create(body: Schemas['CreateSession'], options?: CallOptions): Promise<Schemas['CreatedSession']>
    /** List the sessions that have not expired, in the order of their making. */
    list(
      query?: {
        /** Only those of this user. */
        readonly user?: string | undefined
        /** Entries of a page. Default: 20. */
        readonly limit?: number | undefined
        /** Go on after the entry of this id, as in `next` of the page before. */
        readonly after?: string | undefined
      },
      options?: CallOptions,
    ): PagedList<Schemas['SessionList']>
    /** Revoke a session. Its token stops working within 30 seconds everywhere. */
    revoke(sessionId: string, options?: CallOptions): Promise<Schemas['Acknowledgement']>
  }
  readonly settings: {
    /** Tell what the workspace demands of every call. */
    get(options?: CallOptions): Promise<Schemas['Settings']>
    /** Change what the workspace demands; null takes a demand away. */
    update(body: Schemas['UpdateSettings'], options?: CallOptions): Promise<Schemas['Settings']>
  }
  readonly routingDefaults: {
    /** Tell how requests are routed that do not say so themselves. */
    get(options?: CallOptions): Promise<Schemas['RoutingDefaults']>
    /** Change the routing defaults; null takes one away. `gateway.routing` of a request takes the same fields, and wins. */
    update(body: Schemas['UpdateRoutingDefaults'], options?: CallOptions): Promise<Schemas['RoutingDefaults']>
  }
  readonly members: {
    /** List the members in the order of their joining. */
    list(
      query?: {
        /** Entries of a page. Default: 20. */
        readonly limit?: number | undefined
        /** Go on after the entry of this id, as in `next` of the page before. */
        readonly after?: string | undefined
      },
      options?: CallOptions,
    ): PagedList<Schemas['MemberList']>
    /** Change the role of a member. The last owner stays one. */
    update(memberId: string, body: Schemas['UpdateMember'], options?: CallOptions): Promise<Schemas['Member']>
    /** Remove a member. The last owner stays. */
    remove(memberId: string, options?: CallOptions): Promise<Schemas['Acknowledgement']>
  }
  readonly invites: {
    /** List the invites in the order of their making. */
    list(
      query?: {
        /** Entries of a page. Default: 20. */
        readonly limit?: number | undefined
        /** Go on after the entry of this id, as in `next` of the page before. */
        readonly after?: string | undefined
      },
      options?: CallOptions,
    ): PagedList<Schemas['InviteList']>
    /** Create an invite, which lasts 7 days. Its token is in this answer only. */
    create(body: Schemas['CreateInvite'], options?: CallOptions): Promise<Schemas['CreatedInvite']>
    /** Revoke an invite that was not accepted yet. */
    revoke(inviteId: string, options?: CallOptions): Promise<Schemas['Acknowledgement']>
    /** Become a member by the token of an invite. */
    accept(body: Schemas['AcceptInvite'], options?: CallOptions): Promise<Schemas['AcceptedInvite']>
  }
  readonly auditEvents: {
    /** List who changed what, newest first. */
    list(
      query?: {
        /** Only events of this name, as in `api_key.created`. */
        readonly event?: string | undefined
        /** Only what was done with this key. */
        readonly actor_key_id?: string | undefined
        /** Since this time, which is included. */
        readonly from?: string | Date | undefined
        /** Before this time. */
        readonly to?: string | Date | undefined
        /** Entries of a page. Default: 20. */
        readonly limit?: number | undefined
        /** Go on after the entry of this id, as in `next` of the page before. */
        readonly after?: string | undefined
      },
      options?: CallOptions,
    ): PagedList<Schemas['AuditEventList']>
    /** Tell whether the audit chain is as it was written. */
    verify(options?: CallOptions): Promise<Schemas['AuditVerification']>
  }
  readonly analytics: {
    /** Tell how many requests there were, how they ended, what they cost and how long they took. */
    summary(
      query?: {
        /** Since this time, which is included. Default: 30 days before `to`. */
        readonly from?: string | Date | undefined
        /** Before this time. Default: now. */
        readonly to?: string | Date | undefined
        /** Only this model, by its canonical id. */
        readonly model?: string | undefined
        /** Only what this provider answered. */
        readonly provider?: string | undefined
        /** Only what was asked with this key. */
        readonly api_key_id?: string | undefined
        /** Only what this user of the app asked. Not beside `api_key_id`. */
        readonly user?: string | undefined
        /** Only what has this tag. */
        readonly tag?: string | undefined
      },
      options?: CallOptions,
    ): Promise<Schemas['AnalyticsSummary']>
    /** The same by the hour or the day (UTC), as one series or one for each group. Intervals without a request are left out. */
    trends(
      query?: {
        /** Since this time, which is included. Default: 30 days before `to`. */
        readonly from?: string | Date | undefined
        /** Before this time. Default: now. */
        readonly to?: string | Date | undefined
        /** Only this model, by its canonical id. */
        readonly model?: string | undefined
        /** Only what this provider answered. */
        readonly provider?: string | undefined
        /** Only what was asked with this key. */
        readonly api_key_id?: string | undefined
        /** Only what this user of the app asked. Not beside `api_key_id`. */
        readonly user?: string | undefined
        /** Only what has this tag. */
        readonly tag?: string | undefined
        /** Default: `day`. */
        readonly interval?: 'hour' | 'day' | undefined
        /** One series for each. A request counts in each of its tags. Default: one in all. */
        readonly group_by?: 'model' | 'provider' | 'api_key' | 'user' | 'tag' | undefined
        /** Most series: those of the highest cost. Default: 100. */
        readonly top?: number | undefined
      },
      options?: CallOptions,
    ): Promise<Schemas['AnalyticsTrends']>
    /** List the request log, newest first. It never holds what was asked or answered. */
    requests(
      query?: {
        /** Since this time, which is included. Default: 30 days before `to`. */
        readonly from?: string | Date | undefined
        /** Before this time. Default: now. */
        readonly to?: string | Date | undefined
        /** Only this model, by its canonical id. */
        readonly model?: string | undefined
        /** Only what this provider answered. */
        readonly provider?: string | undefined
        /** Only what was asked with this key. */
        readonly api_key_id?: string | undefined
        /** Only what this user of the app asked. Not beside `api_key_id`. */
        readonly user?: string | undefined
        /** Only what has this tag. */
        readonly tag?: string | undefined
        /** Entries of a page. Default: 20. */
        readonly limit?: number | undefined
        /** Go on after the entry of this id, as in `next` of the page before. */
        readonly after?: string | undefined
      },
      options?: CallOptions,
    ): PagedList<Schemas['RequestLog']>
    /** Look up one request, by what `X-Request-ID` said. */
    request(requestId: string, options?: CallOptions): Promise<Schemas['LoggedRequest']>
    /** Tell why a request went where it did: who could be asked, by what numbers, who was left out, and what became of each attempt. */
    routing(requestId: string, options?: CallOptions): Promise<Schemas['RoutingEvidence']>
    /** The request log as CSV, newest first, up to a number of rows that the headers tell. */
    export(
      query?: {
        /** Since this time, which is included. Default: 30 days before `to`. */
        readonly from?: string | Date | undefined
        /** Before this time. Default: now. */
        readonly to?: string | Date | undefined
        /** Only this model, by its canonical id. */
        readonly model?: string | undefined
        /** Only what this provider answered. */
        readonly provider?: string | undefined
        /** Only what was asked with this key. */
        readonly api_key_id?: string | undefined
        /** Only what this user of the app asked. Not beside `api_key_id`. */
        readonly user?: string | undefined
        /** Only what has this tag. */
        readonly tag?: string | undefined
        /** Default: `csv`. */
        readonly format?: 'csv' | undefined
      },
      options?: CallOptions,
    ): Promise<Response>
  }
}
