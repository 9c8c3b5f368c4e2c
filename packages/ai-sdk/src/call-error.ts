import { APICallError, type LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { budgetHeaders, errorBody, type GatewayError, isGatewayError, isRetryPointless, retryWaitMs } from '@signalbox/core/errors'
import { encodeError } from './dialect/index.ts'

/** One call of a model. */
export interface ModelCall {
  readonly modelId: string
  readonly stream: boolean
  readonly options: LanguageModelV4CallOptions
}

/** Statuses after which the same request may succeed. */
const isPassing = (status: number): boolean => status === 408 || status === 409 || status === 429 || status >= 500

/**
 * An error of the gateway as the AI SDK's APICallError: its status, its body, and whether the SDK should try again. After an abort it
 * is the reason of the signal, which the SDK knows by its name.
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

/** The body with the types of `/v1`. Those of `/v4/ai` are for `@ai-sdk/gateway` alone, which chooses its classes of errors by them. */
function callErrorBody(error: GatewayError) {
  const body = encodeError(errorBody(error))
  return { ...body, error: { ...body.error, type: error.type } }
}
