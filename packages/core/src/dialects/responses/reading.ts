import type { Failure } from '../../protocol/failure.ts'
import type { Item } from '../../protocol/item.ts'
import { remember } from '../../protocol/original.ts'
import type { InferenceResponse, Outcome } from '../../protocol/response.ts'
import { isObject, type Json, type JsonObject } from '../../protocol/wire.ts'
import { failureOf, readComplaint, unreadable } from '../failure.ts'
import { objects, stringOf } from '../json.ts'
import { isCounted, readUsage, usageNames } from '../usage.ts'
import { readItem } from './items.ts'
import { dialect } from './wire.ts'

// A provider's response object → ours. Whole answers and the snapshots of a stream are the same object.

export function decodeResponse(body: JsonObject): InferenceResponse {
  const output = objects(body.output).map(readOutputItem)
  const outcome =
    Array.isArray(body.output) || hasError(body) ? readOutcome(body) : failed(unreadable('The provider’s answer has no output.'))
  const usage = usageOf(body, output.length > 0)
  return remember({ ...headOf(body), output, outcome, ...(usage && { usage }) }, { dialect, body })
}

/** A call without arguments is a call with none. */
export function readOutputItem(body: JsonObject): Item {
  const item = readItem(body)
  if (item.type !== 'function_call' || item.arguments !== '' || item.status === 'incomplete') return item
  return remember({ ...item, arguments: '{}' }, { dialect, body })
}

export const headOf = ({ id, model, created_at }: JsonObject): Pick<InferenceResponse, 'id' | 'model' | 'created_at'> => ({
  id: stringOf(id),
  model: stringOf(model),
  created_at: typeof created_at === 'number' && created_at >= 0 && created_at < 1e11 ? Math.floor(created_at) : 0,
})

export function usageOf(body: JsonObject, answered: boolean): InferenceResponse['usage'] {
  const usage = readUsage(body.usage, usageNames.responses)
  return isCounted(usage, answered) ? usage : undefined
}

const hasError = ({ error, status }: JsonObject): boolean => (error !== undefined && error !== null) || status === 'failed'

const failed = (error: Failure): Outcome => ({ status: 'failed', error })

export function readOutcome(body: JsonObject): Outcome {
  if (hasError(body)) return failed(failureOf(readComplaint(body.error ?? '')))
  const { status, incomplete_details: details } = body
  if (status === 'incomplete') return { status, reason: (isObject(details) && stringOf(details.reason)) || 'max_output_tokens' }
  if (status === 'completed' || status === undefined || status === null) return { status: 'completed' }
  return failed(unreadable(`The provider’s answer ended as "${stringOf(status).slice(0, 40)}".`))
}

/** The `error` event: nested as it is sent, flat as it is documented, or a bare text. */
export function readErrorEvent({ error, type, ...flat }: JsonObject): Failure {
  const complaint: Json = error ?? flat
  return failureOf(readComplaint(complaint))
}
