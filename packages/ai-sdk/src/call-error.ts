import { APICallError, type LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { budgetHeaders, errorBody, type GatewayError, isGatewayError, isRetryPointless, retryWaitMs } from '@signalbox/dialects/errors'
import { encodeError } from './dialect/index.ts'

/** One model call. */
export interface ModelCall {
  readonly modelId: string
  readonly stream: boolean
  readonly options: LanguageModelV4CallOptions
}

/** Whether the same request may succeed later. */
const isPassing = (status: number): boolean => status === 408 || status === 409 || status === 429 || status >= 500

/**
 * Converts a gateway error to the AI SDK's APICallError, with status, body, and whether the SDK should retry. After an abort, returns the
 * signal's reason, which the SDK recognizes by name.
 */
export function callError(error: unknown, { modelId, options }: ModelCall): unknown {
  const { abortSignal } = options
  if (abortSignal?.aborted) return abortSignal.reason
  if (!isGatewayError(error)) return error
  const waitMs = retryWaitMs(error)
  const body = callErrorBody(error)
  return new APICallError({
    message: body.error.message,
    url: `signalbox:${encodeURIComponent(modelId)}`,
    requestBodyValues: options,
    statusCode: error.status,
    responseHeaders: {
      ...(waitMs !== undefined && { 'retry-after-ms': String(Math.max(1, Math.ceil(waitMs))) }),
      ...budgetHeaders(error.facts.budget),
    },
    responseBody: JSON.stringify(body),
    data: body,
    isRetryable: isPassing(error.status) && !isRetryPointless(error),
    cause: error,
  })
}

/** The error body with the types of `/v1`. Those of `/v4/ai` are only for `@ai-sdk/gateway`, which selects its error classes by them. */
function callErrorBody(error: GatewayError) {
  const body = encodeError(errorBody(error))
  return { ...body, error: { ...body.error, type: error.type } }
}
