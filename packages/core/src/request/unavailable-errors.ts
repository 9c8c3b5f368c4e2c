import { GatewayError } from '@signalbox/dialects/errors'

/** Reasons why a gateway accepts no new requests. */
export const unavailableErrors = {
  shuttingDown: (): GatewayError =>
    new GatewayError('service_unavailable', {
      message: 'The gateway is shutting down. Retry now: another instance will serve the request.',
      retryAfterMs: 1_000,
    }),
  overdue: (): GatewayError =>
    new GatewayError('service_unavailable', {
      message: 'The storage cannot be written, and too many requests are waiting to be settled. Try again later.',
      retryAfterMs: 5_000,
    }),
}
