import type { Reading } from '../../protocol/dialect.ts'
import type { Failure } from '../../protocol/failure.ts'
import type { FunctionCallItem, Item } from '../../protocol/item.ts'
import { originalOf, remember } from '../../protocol/original.ts'
import type { InferenceResponse, Outcome } from '../../protocol/response.ts'
import { isObject, type Json, type JsonObject } from '../../protocol/wire.ts'
import { failureOf, readErrorDetails, unreadable } from '../failure.ts'
import { deriveCallId } from '../ids.ts'
import { objects, stringOf } from '../json.ts'
import { isCounted, readUsage, usageNames } from '../usage.ts'
import { readItem } from './items.ts'
import { dialect } from './wire.ts'

// A provider's response object → ours. Whole answers and the snapshots of a stream are the same object.

const failed = (error: Failure): Outcome => ({ status: 'failed', error })

export function decodeResponse(body: JsonObject, reading?: Reading): InferenceResponse {
  const head = headOf(body)
  const items = objects(body.output).map(item => readOutputItem(item, reading))
  const output = withCallIds(items, head)
  const told = Array.isArray(body.output) || hasError(body) ? readOutcome(body) : failed(unreadable('The provider’s answer has no output.'))
  const outcome = told.status !== 'failed' && output.some(isNameless) ? nameless : told
  const usage = usageOf(body, output.length > 0)
  return remember({ ...head, output, outcome, ...(usage && { usage }) }, { dialect, body })
}

/** Of no use to anybody: nobody can tell what to call. */
export const nameless = failed(unreadable('The provider sent a tool call without a name.'))

const isNameless = (item: Item): boolean => item.type === 'function_call' && item.name === ''

/** The id of each call of one answer: never blank, and never twice. */
export function callIds(): (call: FunctionCallItem, head: Head) => string {
  const taken = new Set<string>()
  return ({ call_id: given, name }, { id, created_at }) => {
    const call_id = given !== '' && !taken.has(given) ? given : deriveCallId(id, created_at, taken.size, name)
    taken.add(call_id)
    return call_id
  }
}

function withCallIds(output: readonly Item[], head: Head): readonly Item[] {
  const idFor = callIds()
  return output.map(item => {
    if (item.type !== 'function_call') return item
    const call_id = idFor(item, head)
    return call_id === item.call_id ? item : remember({ ...item, call_id }, originalOf(item))
  })
}

/** A call without arguments is a call with none. Its tool goes by the caller's name for it. */
export function readOutputItem(body: JsonObject, { toolNames }: Reading = {}): Item {
  const item = readItem(body)
  if (item.type !== 'function_call') return item
  const name = toolNames?.get(item.name) ?? item.name
  const isBlank = item.arguments === '' && item.status !== 'incomplete'
  if (name === item.name && !isBlank) return item
  return remember({ ...item, name, arguments: isBlank ? '{}' : item.arguments }, { dialect, body })
}

type Head = Pick<InferenceResponse, 'id' | 'model' | 'created_at'>

export const headOf = ({ id, model, created_at }: JsonObject): Head => ({
  id: stringOf(id),
  model: stringOf(model),
  created_at: typeof created_at === 'number' && created_at >= 0 && created_at < 1e11 ? Math.floor(created_at) : 0,
})

export function usageOf(body: JsonObject, answered: boolean): InferenceResponse['usage'] {
  const usage = readUsage(body.usage, usageNames.responses)
  return isCounted(usage, answered) ? usage : undefined
}

const hasError = ({ error, status }: JsonObject): boolean => (error !== undefined && error !== null) || status === 'failed'

export function readOutcome(body: JsonObject): Outcome {
  if (hasError(body)) return failed(failureOf(readErrorDetails(body.error ?? '')))
  const { status, incomplete_details: details } = body
  if (status === 'incomplete') return { status, reason: (isObject(details) && stringOf(details.reason)) || 'max_output_tokens' }
  if (status === 'completed' || status === undefined || status === null) return { status: 'completed' }
  return failed(unreadable(`The provider’s answer ended as "${stringOf(status).slice(0, 40)}".`))
}

/** The `error` event: nested as it is sent, flat as it is documented, or a bare text. */
export function readErrorEvent({ error, type, ...flat }: JsonObject): Failure {
  const complaint: Json = error ?? flat
  return failureOf(readErrorDetails(complaint))
}
