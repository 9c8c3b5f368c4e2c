import type { CallLimits } from '../access/kinds.ts'

/** Maximum durations, in milliseconds. */
export interface Timeouts {
  /** From sending the request to the first content of a stream. Default 120,000. */
  readonly firstByteMs: number
  /** From sending the request to the end of a non-streamed response. Default 300,000. */
  readonly wholeMs: number
  /** The whole request, including retries and fallbacks. Default 1,080,000. */
  readonly deadlineMs: number
  /** Silence in the middle of a stream; comments do not count as content. Default 120,000. */
  readonly idleMs: number
}

/** Default limits of a gateway. Keys and workspaces may set their own. */
export interface Limits {
  /** Requests per minute, per key and model. Default 1,000. */
  readonly inferenceRpm: number
  /** Input and output tokens per minute and key. Default: unlimited. */
  readonly tokensPerMinute?: number
  /** Read requests to the management API, per minute and key. Default 300. */
  readonly managementReadsRpm: number
  /** Write requests to the management API, per minute and key. Default 60. */
  readonly managementWritesRpm: number
  /** Concurrent requests of one key. Default 200. */
  readonly concurrentRequests: number
  /** Limits of all keys of a workspace together, unless the workspace sets its own. Default: none. */
  readonly workspace?: CallLimits
  /**
   * Output token limit for requests without `max_output_tokens` that credit or an enforced budget bounds: the hold covers this many
   * tokens, and the provider gets it as its limit. Doubled for high reasoning effort. Default 16,384.
   */
  readonly maxOutputTokens: number
  /** Upstream calls per request, including retries and fallbacks. Default 4. */
  readonly attempts: number
}
