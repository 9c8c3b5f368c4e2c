import { idUnder } from '../common/ids.ts'
import type { ResponseMetadata } from '../protocol/dialect.ts'
import type { FunctionCallItem, Item } from '../protocol/item.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import type { InferenceResponse } from '../protocol/response.ts'
import { isObject, type JsonObject } from '../protocol/wire.ts'
import { encodeFailure } from './errors.ts'
import {
  encodeAnnotations,
  encodeGatewayFields,
  encodeImage,
  encodeLogprobs,
  encodeSealedState,
  encodeSignature,
  encodeUsage,
  finishReasonOf,
  paragraphBreak,
  reasoningText,
  unknownCall,
  unknownFieldsOf,
} from './response-fields.ts'
import { firstChoice, messageFields, originalBody, without } from './wire.ts'

/** Encodes a whole response, with all items in one message. */
export function encodeResponse(response: InferenceResponse, request: InferenceRequest, metadata: ResponseMetadata): JsonObject {
  const { output, outcome, usage } = response
  if (outcome.status === 'failed') return encodeFailure(outcome.error, request)
  const original = originalBody(response)
  const choice = original && firstChoice(original)
  const message = choice && isObject(choice.message) ? without(choice.message, messageFields) : {}
  const { message: encoded, logprobs } = encodeMessage(output)
  return {
    ...(original && unknownFieldsOf(original)),
    id: idUnder('chatcmpl-', metadata),
    object: 'chat.completion',
    created: metadata.created_at,
    model: metadata.model,
    choices: [
      {
        ...(choice && without(choice, choiceFields)),
        index: 0,
        message: { ...message, ...encoded },
        logprobs: logprobs.length > 0 ? encodeLogprobs(logprobs) : null,
        finish_reason: finishReasonOf(outcome, output.some(isCall)),
      },
    ],
    ...(usage && { usage: encodeUsage(usage) }),
    ...encodeGatewayFields(metadata, request),
  }
}

const isCall = (item: Item): boolean => item.type === 'function_call' || unknownCall(item) !== undefined

const choiceFields: ReadonlySet<string> = new Set(['index', 'message', 'delta', 'text', 'logprobs', 'finish_reason', 'usage', 'error'])

function encodeMessage(output: readonly Item[]): { readonly message: JsonObject; readonly logprobs: readonly JsonObject[] } {
  const texts: string[] = []
  const refusals: string[] = []
  const annotations: JsonObject[] = []
  const logprobs: JsonObject[] = []
  const reasoningTexts: string[] = []
  const sealed: JsonObject[] = []
  const calls: JsonObject[] = []
  const images: JsonObject[] = []
  let length = 0
  let state: string | undefined
  for (const item of output) {
    if (item.type === 'reasoning') {
      for (const text of reasoningText(item)) reasoningTexts.push(text)
      if (item.encrypted_content === undefined) continue
      sealed.push(encodeSealedState(item.encrypted_content, sealed.length))
      state = item.encrypted_content
    } else if (item.type === 'function_call') {
      calls.push({ ...encodeCall(item), ...encodeSignature(state) })
      state = undefined
    } else if (item.type === 'message') {
      for (const part of item.content) {
        if (part.type === 'refusal') refusals.push(part.refusal)
        if (part.type !== 'text') continue
        for (const annotation of encodeAnnotations(part, length)) annotations.push(annotation)
        for (const entry of part.logprobs ?? []) logprobs.push(entry)
        texts.push(part.text)
        length += part.text.length
      }
    } else {
      const call = unknownCall(item)
      const image = call ? undefined : encodeImage(item, images.length)
      if (call) calls.push(call)
      else if (image) images.push(image)
    }
  }
  const content = texts.join('')
  const message = {
    role: 'assistant',
    content: texts.length === 0 || (content === '' && calls.length > 0) ? null : content,
    refusal: refusals.length > 0 ? refusals.join('') : null,
    tool_calls: calls.length > 0 ? calls : undefined,
    annotations: annotations.length > 0 ? annotations : undefined,
    images: images.length > 0 ? images : undefined,
    reasoning_content: reasoningTexts.length > 0 ? reasoningTexts.join(paragraphBreak) : undefined,
    reasoning_details: sealed.length > 0 ? sealed : undefined,
  }
  return { message, logprobs }
}

function encodeCall(item: FunctionCallItem): JsonObject {
  const { call_id: id, name, arguments: written, status, custom } = item
  if (custom) return { id, type: 'custom', custom: { name, input: written } }
  return { id, type: 'function', function: { name, arguments: written === '' && status !== 'incomplete' ? '{}' : written } }
}
