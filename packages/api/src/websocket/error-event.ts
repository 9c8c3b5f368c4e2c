import { errorBody, type GatewayError } from '@signalbox/dialects/errors'
import type { ApiReply } from '../api.ts'
import { errorHeaders, type Headers } from '../headers.ts'
import { responseHeaderNames } from '../response-headers.ts'

/** An error as a message: its HTTP status and body, and the headers that clients read. */
const event = (status: number, body: string, headers: Headers): string =>
  `{"type":"error","status":${status},${body.slice(1, -1)},"headers":${JSON.stringify(headers)}}`

/** An error of the connection itself. */
export function errorEvent(error: GatewayError): string {
  const { message, type, code, param } = errorBody(error)
  return event(error.status, JSON.stringify({ error: { message, type, param, code } }), errorHeaders(error))
}

/** The headers that an error event repeats, in lower case. */
const eventHeaders: ReadonlySet<string> = new Set(responseHeaderNames.map(name => name.toLowerCase()))

/** The message for a request that failed before its first content. */
export const replyEvent = ({ status, headers, body }: ApiReply): string =>
  event(status, String(body), Object.fromEntries(Object.entries(headers).filter(([name]) => eventHeaders.has(name))))
