import type { CallLimits } from '../access/kinds.ts'

/** Maximum durations, in milliseconds. */
export interface Timeouts {
  /** Request sent → first content of a stream. Default 120,000. */
  readonly firstByteMs: number
  /** Request sent → end of a whole answer. Default 300,000. */
  readonly wholeMs: number
  /** Everything, retries and fallbacks included. Default 1,080,000. */
  readonly deadlineMs: number
  /** Silence in the middle of a stream; comments do not count as sound. Default 120,000. */
  readonly idleMs: number
}

/** Default limits of a gateway; keys and workspaces may have their own. */
export interface Limits {
  /** Requests a minute of each key for each model. Default 1,000. */
  readonly inferenceRpm: number
  /** Input and output tokens a minute and key. Default: any number. */
  readonly tokensPerMinute?: number
  /** Reading requests to the management API, a minute and key. Default 300. */
  readonly managementReadsRpm: number
  /** Changing requests to the management API, a minute and key. Default 60. */
  readonly managementWritesRpm: number
  /** Requests of one key at the same time. Default 200. */
  readonly concurrentRequests: number
  /** Of all keys of a workspace together, where it has no limits of its own. Default: none. */
  readonly workspace?: CallLimits
  /**
   * Output token limit for requests without `max_output_tokens` that credit or an enforced budget bounds: the hold covers this many
   * tokens, and the provider gets it as its limit. Doubled for high reasoning effort. Default 16,384.
   */
  readonly maxOutputTokens: number
  /** Upstream calls that one request may make, retries and fallbacks together. Default 4. */
  readonly attempts: number
}
