import { codeRow } from './codes.ts'
import type { GatewayError } from './gateway-error.ts'

/** Some SDKs sleep for as long as `Retry-After` says and seem to hang. For a longer wait, the caller decides. */
const maxRetryWaitMs = 60_000

/** The error's own `shouldRetry` decides, then the row of its code. A `Retry-After` alone does not make a retry worthwhile. */
const mayRetry = ({ code, facts }: GatewayError): boolean => facts.shouldRetry ?? codeRow(code).retry !== false

/** How long a client should wait before it sends the request again, in milliseconds. Undefined if unknown. */
export const retryWaitMs = (error: GatewayError): number | undefined =>
  mayRetry(error) ? (error.facts.retryAfterMs ?? (error.status === 429 ? 1000 : undefined)) : undefined

/** Whether sending the same request again cannot help, or only after a long wait. */
export const isRetryPointless = (error: GatewayError): boolean => !mayRetry(error) || (retryWaitMs(error) ?? 0) > maxRetryWaitMs
