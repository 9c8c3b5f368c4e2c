/** Limits on WebSocket connections. */
export interface WebSocketLimits {
  /** Maximum open connections of the keys of one workspace. Further ones get 429. Default: 1,000. */
  readonly connectionsPerWorkspace?: number
  /** Maximum open connections of one end user across its sessions. Further ones get 429. Default: 20. */
  readonly connectionsPerUser?: number
  /** Maximum open connections of all workspaces. Further ones get 503. Default: 10,000. */
  readonly connections?: number
  /** Milliseconds after which a connection is closed, once its response is complete. Default: 3,600,000, like OpenAI. */
  readonly maxAgeMs?: number
  /**
   * Milliseconds without a message or a response after which a connection is closed. Pings do not count. Default: no limit except
   * `maxAgeMs`.
   */
  readonly maxIdleMs?: number
  /** Maximum bytes of a message. A larger one closes the connection. At most `maxBodyBytes`, which is the default. */
  readonly messageBytes?: number
  /** Maximum `response.create` messages of a connection that wait for the running one. One more closes the connection. Default: 16. */
  readonly maxWaiting?: number
  /**
   * Maximum bytes of memory that one connection keeps for `previous_response_id`. Beyond them the oldest turns are dropped. Default:
   * 33,554,432.
   */
  readonly keptBytes?: number
  /** Maximum bytes of earlier turns that the connections of one workspace keep together. Default: 83,886,080. */
  readonly keptBytesPerWorkspace?: number
  /** Maximum bytes of earlier turns that the connections of one end user keep together. Default: 33,554,432. */
  readonly keptBytesPerUser?: number
  /** Maximum bytes of earlier turns that all connections keep together. Default: 167,772,160. */
  readonly keptBytesTotal?: number
}

const defaultWebSocketLimits: Required<WebSocketLimits> = {
  connectionsPerWorkspace: 1_000,
  connectionsPerUser: 20,
  connections: 10_000,
  maxAgeMs: 3_600_000,
  maxIdleMs: Number.POSITIVE_INFINITY,
  messageBytes: Number.POSITIVE_INFINITY,
  maxWaiting: 16,
  keptBytes: 33_554_432,
  keptBytesPerWorkspace: 83_886_080,
  keptBytesPerUser: 33_554_432,
  keptBytesTotal: 167_772_160,
}

export const webSocketLimitsOf = (limits: WebSocketLimits = {}): Required<WebSocketLimits> => ({ ...defaultWebSocketLimits, ...limits })
