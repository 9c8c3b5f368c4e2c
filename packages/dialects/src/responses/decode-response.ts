import { failed, namelessCall } from '../common/answer-failures.ts'
import { unreadable } from '../common/failure.ts'
import { callIdFor } from '../common/ids.ts'
import type { ResponseHead } from '../common/item-assembler.ts'
import { objects, stringOf } from '../common/json.ts'
import { hostedItems, isCounted, oneCallMore, readHostedCalls, readUsage, withOtherCalls, withTier } from '../common/usage.ts'
import type { ResponseMapping } from '../protocol/dialect.ts'
import type { Item } from '../protocol/item.ts'
import { originalOf, remember } from '../protocol/original.ts'
import type { HostedCalls, InferenceResponse, Outcome } from '../protocol/response.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { failureIn } from './errors.ts'
import { decodeItem } from './items.ts'
import { dialect, usageFields } from './wire.ts'

// Decodes a provider's response object, which is the same for whole responses and the snapshots of a stream.

export function decodeResponse(body: JsonObject, mapping?: ResponseMapping): InferenceResponse {
  const head = headOf(body)
  const items = objects(body.output).map(item => decodeOutputItem(item, mapping))
  const output = withCallIds(items, head)
  const stated =
    Array.isArray(body.output) || hasError(body) ? decodeOutcome(body) : failed(unreadable('The response of the provider has no output.'))
  const outcome = stated.status !== 'failed' && output.some(isNameless) ? namelessCall : stated
  const usage = usageOf(body, { answered: output.length > 0, mapping })
  return remember({ ...head, output, outcome, usage }, { dialect, body })
}

const isNameless = (item: Item): boolean => item.type === 'function_call' && item.name === ''

function withCallIds(output: readonly Item[], head: ResponseHead): readonly Item[] {
  if (!output.some(({ type }) => type === 'function_call')) return output
  const callIds = new Set<string>()
  return output.map(item => {
    if (item.type !== 'function_call') return item
    const call_id = callIdFor(callIds, item.call_id, [head.id, head.created_at, callIds.size, item.name])
    return call_id === item.call_id ? item : remember({ ...item, call_id }, originalOf(item))
  })
}

/** Decodes a response item. A call gets the client's tool name, and `{}` if it has no arguments. */
export function decodeOutputItem(body: JsonObject, { toolNames, clientCustomTools }: ResponseMapping = {}): Item {
  if (clientCustomTools && isHostedCustomCall(body, clientCustomTools))
    return remember<Item>({ type: 'native', dialect, body }, { dialect, body })
  const item = decodeItem(body)
  if (item.type !== 'function_call') return item
  const name = toolNames?.get(item.name) ?? item.name
  const isBlank = item.arguments === '' && item.status !== 'incomplete' && !item.custom
  if (name === item.name && !isBlank) return item
  return remember({ ...item, name, arguments: isBlank ? '{}' : item.arguments }, { dialect, body })
}

/** Whether the provider ran a custom call itself. */
const isHostedCustomCall = ({ type, name }: JsonObject, clientTools: ReadonlySet<string>): boolean =>
  type === 'custom_tool_call' && !clientTools.has(stringOf(name))

export const headOf = ({ id, model, created_at }: JsonObject): ResponseHead => ({
  id: stringOf(id),
  model: stringOf(model),
  created_at: typeof created_at === 'number' && created_at >= 0 && created_at < 1e11 ? Math.floor(created_at) : 0,
})

interface UsageContext {
  /** Whether the response has at least one item. */
  readonly answered: boolean
  readonly mapping: ResponseMapping | undefined
}

export function usageOf(body: JsonObject, { answered, mapping }: UsageContext): InferenceResponse['usage'] {
  const usage = readUsage(body.usage, usageFields)
  if (!isCounted(usage, answered)) return undefined
  const hosted_calls = readHostedCalls(body.tool_usage, hostedFields) ?? hostedCallsIn(body.output)
  const counted = hosted_calls ? { ...usage, hosted_calls } : usage
  return withTier(withOtherCalls(counted, otherCallsIn(body.output, mapping?.clientCustomTools)), body.service_tier)
}

const hostedFields = { web_search: ['web_search.num_requests'], web_fetch: ['web_fetch.num_requests'] } as const

/** Calls without their own fee: the client runs the tool, or only tokens are charged. */
const freeCalls: ReadonlySet<Json | undefined> = new Set([
  'function_call',
  'custom_tool_call',
  'computer_call',
  'local_shell_call',
  'apply_patch_call',
  'mcp_call',
  'tool_search_call',
])

const otherCallsIn = (output: Json | undefined, clientTools: ResponseMapping['clientCustomTools']): readonly string[] =>
  objects(output).flatMap(item => {
    if (clientTools && isHostedCustomCall(item, clientTools)) return stringOf(item.name)
    const { type } = item
    return typeof type === 'string' && /_(call|results)$/.test(type) && !hostedItems.has(type) && !freeCalls.has(type) ? type : []
  })

function hostedCallsIn(output: Json | undefined): HostedCalls | undefined {
  let calls: HostedCalls | undefined
  for (const { type } of objects(output)) {
    const tool = hostedItems.get(type)
    if (tool) calls = oneCallMore(calls, tool)
  }
  return calls
}

const hasError = ({ error, status }: JsonObject): boolean => (error !== undefined && error !== null) || status === 'failed'

export function decodeOutcome(body: JsonObject): Outcome {
  if (hasError(body)) return failed(failureIn(body))
  const { status, incomplete_details: details } = body
  if (status === 'incomplete') return { status, reason: (isObject(details) && stringOf(details.reason)) || 'max_output_tokens' }
  if (status === 'completed' || status === undefined || status === null) return { status: 'completed' }
  return failed(unreadable(`The response of the provider ended with status "${stringOf(status).slice(0, 40)}".`))
}
