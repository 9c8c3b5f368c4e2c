import type { ErrorBody } from '../protocol/error-body.ts'
import type { JsonObject } from '../protocol/wire.ts'

/** An error in the format of the OpenAI APIs. */
export const errorObject = ({ message, type, param, code, suggestion, doc_url, provider, attempts }: ErrorBody): JsonObject => ({
  error: {
    message,
    type,
    param,
    code,
    ...(suggestion !== undefined && { suggestion }),
    ...(doc_url !== undefined && { doc_url }),
    ...(provider !== undefined && { provider }),
    ...(attempts && { attempts: attempts.map(attempt => ({ ...attempt })) }),
  },
})
