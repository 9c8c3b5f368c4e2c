/** The close codes of WebSocket connections, with their reasons. */
export const closeReasons = {
  1000: 'The connection has reached its maximum age. Open a new connection.',
  1001: 'The server is shutting down.',
  1003: 'Messages must be text.',
  1008: 'The key or the user was refused, or too many messages are queued.',
  1009: 'The message is too large.',
  1013: 'Too many bytes of messages are being received. Try again later.',
} as const satisfies Readonly<Record<number, string>>

export type CloseCode = keyof typeof closeReasons
