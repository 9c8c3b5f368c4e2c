import { type InferenceRequest, type InferenceResponse, type JsonObject, type ResponseMetadata, unfold } from '@signalbox/dialects/protocol'
import { PartWriter } from './encode-stream.ts'
import { encodeFailure } from './errors.ts'
import { encodeGatewayMetadata, encodeWarnings, sdkUsage } from './response-fields.ts'
import type { GenerateResult, ResultContent, StreamPart } from './wire.ts'

/** Encodes the body of a whole response. Its only non-JSON value, a date, is serialized as text. */
export const encodeResponse = (response: InferenceResponse, request: InferenceRequest, metadata: ResponseMetadata): JsonObject =>
  encodeResult(response, request, metadata) as unknown as JsonObject

/** Encodes a whole response by joining the parts of its stream. */
export function encodeResult(response: InferenceResponse, request: InferenceRequest, metadata: ResponseMetadata): GenerateResult {
  const parts = new PartWriter(request, { metadata: () => metadata, encodeFailure }).write(unfold(response))
  const finish = parts.findLast(part => part.type === 'finish')
  const content = joinParts(parts)
  const finalText = finalAnswerOf(response)
  return {
    content,
    structuredOutputText: finalText,
    finishReason: finish?.finishReason ?? { unified: 'interrupted', raw: undefined },
    usage: sdkUsage(response.usage),
    providerMetadata: encodeGatewayMetadata(metadata),
    response: { id: metadata.id, modelId: metadata.model, timestamp: new Date(metadata.created_at * 1_000) },
    warnings: encodeWarnings(metadata.warnings),
  }
}

/** If a model comments along the way, only its final answer is the structured output. */
function finalAnswerOf({ output }: InferenceResponse): string | undefined {
  if (!output.some(item => item.type === 'message' && item.phase === 'commentary')) return undefined
  return output
    .flatMap(item => (item.type === 'message' && item.phase !== 'commentary' ? item.content : []))
    .map(part => (part.type === 'text' ? part.text : ''))
    .join('')
}

/** Joins each block into one entry, in the order in which blocks began. */
function joinParts(parts: readonly StreamPart[]): ResultContent[] {
  const texts = new Map<string, string>()
  const ends = new Map<string, Extract<StreamPart, { type: 'text-end' | 'reasoning-end' }>>()
  for (const part of parts) {
    if (part.type === 'text-delta' || part.type === 'reasoning-delta') texts.set(part.id, (texts.get(part.id) ?? '') + part.delta)
    else if (part.type === 'text-end' || part.type === 'reasoning-end') ends.set(part.id, part)
  }
  return parts.flatMap((part): readonly ResultContent[] => {
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start': {
        const { providerMetadata, ...end } = ends.get(part.id) ?? part
        const entry = { text: texts.get(part.id) ?? '', providerMetadata }
        if (part.type === 'reasoning-start') return [{ type: 'reasoning', ...entry }]
        return [{ type: 'text', ...entry, citations: 'citations' in end ? end.citations : undefined }]
      }
      case 'tool-call':
      case 'source':
      case 'file':
      case 'custom':
        return [part]
      default:
        return []
    }
  })
}
