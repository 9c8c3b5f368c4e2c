/** Limits on WebSocket connections. */
export interface WebSocketLimits {
  /** Maximum open connections of the keys of one workspace. Further ones get 429. Default: 1,000. */
  readonly maxConnectionsPerWorkspace?: number
  /** Maximum open connections of one end user across its sessions. Further ones get 429. Default: 20. */
  readonly maxConnectionsPerUser?: number
  /** Maximum open connections of all workspaces, of which one may open at least half of what the others leave. Further ones get 503. Default: 10,000. */
  readonly maxConnections?: number
  /** Milliseconds after which a connection is closed, once its response is complete. Default: 3,600,000, like OpenAI. */
  readonly maxAgeMs?: number
  /**
   * Milliseconds without a message or a response after which a connection is closed. Pings do not count. Default: no limit except
   * `maxAgeMs`.
   */
  readonly maxIdleMs?: number
  /** Maximum bytes of a message. A larger one closes the connection. At most `maxBodyBytes`, which is the default. */
  readonly maxMessageBytes?: number
  /** Maximum `response.create` messages of a connection that wait for the running one. One more closes the connection. Default: 16. */
  readonly maxWaiting?: number
  /**
   * Maximum bytes of memory that one connection keeps for `previous_response_id`. Beyond them the oldest turns are dropped. Default:
   * 33,554,432.
   */
  readonly maxHistoryBytes?: number
  /** Maximum bytes of earlier turns that the connections of one workspace keep together. Default: 83,886,080. */
  readonly maxHistoryBytesPerWorkspace?: number
  /** Maximum bytes of earlier turns that the connections of one end user keep together. Default: 33,554,432. */
  readonly maxHistoryBytesPerUser?: number
  /** Maximum bytes of earlier turns that all connections keep together. Default: 167,772,160. */
  readonly maxHistoryBytesTotal?: number
}

const defaultWebSocketLimits: Required<WebSocketLimits> = {
  maxConnectionsPerWorkspace: 1_000,
  maxConnectionsPerUser: 20,
  maxConnections: 10_000,
  maxAgeMs: 3_600_000,
  maxIdleMs: Number.POSITIVE_INFINITY,
  maxMessageBytes: Number.POSITIVE_INFINITY,
  maxWaiting: 16,
  maxHistoryBytes: 33_554_432,
  maxHistoryBytesPerWorkspace: 83_886_080,
  maxHistoryBytesPerUser: 33_554_432,
  maxHistoryBytesTotal: 167_772_160,
}

export const webSocketLimitsOf = (limits: WebSocketLimits = {}): Required<WebSocketLimits> => ({ ...defaultWebSocketLimits, ...limits })
