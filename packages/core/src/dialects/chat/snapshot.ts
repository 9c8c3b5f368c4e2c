import type { Stamp } from '../../protocol/dialect.ts'
import type { Failure } from '../../protocol/failure.ts'
import type { FunctionCallItem, Item } from '../../protocol/item.ts'
import type { InferenceRequest } from '../../protocol/request.ts'
import type { InferenceResponse } from '../../protocol/response.ts'
import { isObject, type JsonObject } from '../../protocol/wire.ts'
import { idUnder } from '../ids.ts'
import { renameWarnings, spellParam } from './spelling.ts'
import { firstChoice, messageFields, originalBody, without } from './wire.ts'
import {
  customTools,
  finishOf,
  paragraph,
  thoughtsOf,
  writeAnnotations,
  writeLogprobs,
  writeSealed,
  writeSignature,
  writeUsage,
} from './writing.ts'

// A whole answer: all items in one message.

export function encodeResponse(response: InferenceResponse, request: InferenceRequest, stamp: Stamp): JsonObject {
  const { output, outcome, usage } = response
  if (outcome.status === 'failed') return writeFailure(outcome.error, request)
  const original = originalBody(response)
  const choice = original && firstChoice(original)
  const message = choice && isObject(choice.message) ? without(choice.message, messageFields) : {}
  const { message: said, logprobs } = writeMessage(output, customTools(request))
  return {
    ...(original && unreadOf(original)),
    id: idUnder('chatcmpl-', stamp),
    object: 'chat.completion',
    created: stamp.created_at,
    model: stamp.model,
    choices: [
      {
        ...(choice && without(choice, choiceFields)),
        index: 0,
        message: { ...message, ...said },
        logprobs: logprobs.length > 0 ? writeLogprobs(logprobs) : null,
        finish_reason: finishOf(outcome, output.some(isCall)),
      },
    ],
    ...(usage && { usage: writeUsage(usage) }),
    ...stampOn(stamp, request),
  }
}

const isCall = (item: Item): boolean => item.type === 'function_call'

/** Read elsewhere, or the provider's view of its caller, which is us. */
const answerFields: ReadonlySet<string> = new Set([
  'id',
  'object',
  'created',
  'model',
  'choices',
  'usage',
  'error',
  'metadata',
  'user',
  'obfuscation',
  'routing_metadata',
  'warnings',
])
const choiceFields: ReadonlySet<string> = new Set(['index', 'message', 'delta', 'text', 'logprobs', 'finish_reason', 'usage', 'error'])

/** What a provider of the same language says beside its answer. Corners such as `x_vendor` hold its own account of the call. */
export const unreadOf = (original: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(original).filter(([field, value]) => value !== null && !answerFields.has(field) && !field.startsWith('x_')),
  )

/** Who answered, and what was lost on the way: on the answer, or on the last chunk of it. */
export const stampOn = ({ routing, warnings }: Stamp, request: InferenceRequest): JsonObject => ({
  ...(routing && { routing_metadata: { ...routing } }),
  ...(warnings.length > 0 && { warnings: renameWarnings(warnings, request).map(warning => ({ ...warning })) }),
})

/** Code and type are given where a failure is told (execution/told.ts); the fallback is for those who use the encoder alone. */
export const writeFailure = (
  { message, type = 'provider_error', code = 'provider_error', param, provider }: Failure,
  request: InferenceRequest,
): JsonObject => ({
  error: {
    message,
    type,
    code,
    param: param === undefined ? null : spellParam(param, request),
    ...(provider !== undefined && { provider }),
  },
})

interface Said {
  readonly message: JsonObject
  readonly logprobs: readonly JsonObject[]
}

function writeMessage(output: readonly Item[], customs: ReadonlySet<string>): Said {
  const texts: string[] = []
  const refusals: string[] = []
  const annotations: JsonObject[] = []
  const logprobs: JsonObject[] = []
  const thoughts: string[] = []
  const sealed: JsonObject[] = []
  const calls: JsonObject[] = []
  let length = 0
  let state: string | undefined
  for (const item of output) {
    if (item.type === 'reasoning') {
      for (const thought of thoughtsOf(item)) thoughts.push(thought)
      if (item.encrypted_content === undefined) continue
      sealed.push(writeSealed(item.encrypted_content, sealed.length))
      state = item.encrypted_content
    } else if (item.type === 'function_call') {
      calls.push({ ...writeCall(item, customs), ...writeSignature(state) })
      state = undefined
    } else if (item.type === 'message') {
      for (const part of item.content) {
        if (part.type === 'refusal') refusals.push(part.refusal)
        if (part.type !== 'text') continue
        for (const annotation of writeAnnotations(part, length)) annotations.push(annotation)
        for (const entry of part.logprobs ?? []) logprobs.push(entry)
        texts.push(part.text)
        length += part.text.length
      }
    }
  }
  const content = texts.join('')
  const message = {
    role: 'assistant',
    content: texts.length === 0 || (content === '' && calls.length > 0) ? null : content,
    refusal: refusals.length > 0 ? refusals.join('') : null,
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(annotations.length > 0 && { annotations }),
    ...(thoughts.length > 0 && { reasoning_content: thoughts.join(paragraph) }),
    ...(sealed.length > 0 && { reasoning_details: sealed }),
  }
  return { message, logprobs }
}

function writeCall({ call_id: id, name, arguments: written, status }: FunctionCallItem, customs: ReadonlySet<string>): JsonObject {
  if (customs.has(name)) return { id, type: 'custom', custom: { name, input: written } }
  return { id, type: 'function', function: { name, arguments: written === '' && status !== 'incomplete' ? '{}' : written } }
}
