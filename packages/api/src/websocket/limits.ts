/** Limits on WebSocket connections. */
export interface WebSocketLimits {
  /** Open connections of the keys of one workspace; a further one is 429. Default 1,000. */
  readonly connectionsPerWorkspace?: number
  /** Open connections of one end user, in all its sessions; a further one is 429. Default 20. */
  readonly connectionsPerUser?: number
  /** Open connections of all workspaces; a further one is 503. Default 10,000. */
  readonly connections?: number
  /** Milliseconds after which a connection is closed, once its response is over. Default 3,600,000, as OpenAI does. */
  readonly maxAgeMs?: number
  /** Milliseconds without a message or a response after which a connection is closed; pings do not count. Default: it stays open until `maxAgeMs`. */
  readonly maxIdleMs?: number
  /** Bytes of one message; a larger one closes the connection. At most `bodyBytes`, which is the default. */
  readonly messageBytes?: number
  /** `response.create` messages of one connection that may wait for the one that runs; one more closes the connection. Default 16. */
  readonly maxWaiting?: number
  /** Bytes of memory of earlier turns that one connection keeps for `previous_response_id`; beyond them the oldest are dropped. Default 33,554,432. */
  readonly keptBytes?: number
  /** Bytes of earlier turns that the connections of one workspace keep together. Default 83,886,080. */
  readonly keptBytesPerWorkspace?: number
  /** Bytes of earlier turns that the connections of one end user keep together. Default 33,554,432. */
  readonly keptBytesPerUser?: number
  /** Bytes of earlier turns that all connections keep together. Default 167,772,160. */
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
