import { imageUrlOf } from '../common/generated-image.ts'
import { stringOf } from '../common/json.ts'
import type { ResponseMetadata } from '../protocol/dialect.ts'
import type { Item, TextPart } from '../protocol/item.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import type { Outcome, Usage } from '../protocol/response.ts'
import { isObject, type JsonObject } from '../protocol/wire.ts'
import { renameFieldsInWarnings } from './field-names.ts'
import { dialect, originalBody, without } from './wire.ts'

// Fields of a whole response and of its chunks.

export const finishReasonOf = (outcome: Outcome, hasCalls: boolean): string => {
  if (outcome.status === 'completed') return hasCalls ? 'tool_calls' : 'stop'
  return outcome.status === 'incomplete' && outcome.reason === 'content_filter' ? 'content_filter' : 'length'
}

export const encodeUsage = (usage: Usage): JsonObject => ({
  prompt_tokens: usage.input_tokens,
  completion_tokens: usage.output_tokens,
  total_tokens: usage.input_tokens + usage.output_tokens,
  prompt_tokens_details: { cached_tokens: usage.cached_tokens, cache_write_tokens: usage.cache_write_tokens },
  completion_tokens_details: { reasoning_tokens: usage.reasoning_tokens },
})

/** The citations of a text at character `offset` of the content. Only web pages can be cited. Citations that came beside the message stay there. */
export const encodeAnnotations = ({ annotations = [], text }: TextPart, offset: number): readonly JsonObject[] =>
  annotations.flatMap((annotation): readonly JsonObject[] => {
    const { type, ...citation } = annotation
    const original = originalBody(annotation)
    if (type !== 'url_citation') return original ? [original] : []
    if (original) return []
    const moved: Record<string, JsonObject[string]> = { ...citation }
    for (const end of ['start_index', 'end_index']) {
      const index = citation[end]
      if (typeof index === 'number') moved[end] = Math.min(Math.max(0, Math.trunc(index)), text.length) + offset
    }
    return [{ type, url_citation: moved }]
  })

/** A call of an unmodelled type, which clients of this dialect receive unchanged. */
export const unknownCall = (item: Item): JsonObject | undefined =>
  item.type === 'native' && item.dialect === dialect && callType.test(stringOf(item.body.type)) ? item.body : undefined
const callType = /^(?!image)./

/** Encodes an image like hosts of image models do. `index`: its number among the images of the response. */
export function encodeImage(item: Item, index: number): JsonObject | undefined {
  if (item.type === 'native' && item.dialect === dialect) return item.body
  const url = imageUrlOf(item)
  return url === undefined ? undefined : (originalBody(item) ?? { type: 'image_url', image_url: { url }, index })
}

/** Fills in every field that clients check for. */
export const encodeLogprobs = (entries: readonly JsonObject[]): JsonObject => ({
  content: entries.map(({ top_logprobs, ...entry }) => ({
    ...withBytes(entry),
    top_logprobs: Array.isArray(top_logprobs) ? top_logprobs.filter(isObject).map(withBytes) : [],
  })),
  refusal: null,
})

const withBytes = (entry: JsonObject): JsonObject => ({ ...entry, bytes: entry.bytes ?? null })

/** Encodes sealed state in the format that clients of this dialect keep. */
export const encodeSealedState = (data: string, index: number): JsonObject => ({
  type: 'reasoning.encrypted',
  data,
  index,
  format: 'signalbox',
})

/** The same state on a call, where other clients keep it. */
export const encodeSignature = (state: string | undefined): JsonObject =>
  state === undefined ? {} : { extra_content: { google: { thought_signature: state } } }

/** The texts of a reasoning item: the summary if there is one, otherwise the raw text. */
export const reasoningText = (item: Extract<Item, { type: 'reasoning' }>): readonly string[] =>
  (item.summary.length > 0 ? item.summary : (item.content ?? [])).filter(text => text !== '')

/** Separator of reasoning texts. Texts of a response have no separator, since they may be split anywhere. */
export const paragraphBreak = '\n\n'

/** Fields that are encoded elsewhere, or that contain the provider's view of its client, which is the gateway. */
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
/** Unknown fields of a provider of the same dialect. Objects such as `x_vendor` hold the vendor's own accounting and are left out. */
export const unknownFieldsOf = (original: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(original).filter(([field, value]) => value !== null && !answerFields.has(field) && !field.startsWith('x_')),
  )

/** Fields that the gateway adds to the response or its last chunk: routing metadata and warnings. */
export const encodeGatewayFields = ({ routing, warnings }: ResponseMetadata, request: InferenceRequest): JsonObject => ({
  ...(routing && { routing_metadata: { ...routing } }),
  ...(warnings.length > 0 && { warnings: renameFieldsInWarnings(warnings, request).map(warning => ({ ...warning })) }),
})

const repeatedFields: ReadonlySet<string> = new Set(['service_tier', 'system_fingerprint'])

/** The fields to repeat on every chunk, if a provider of the same dialect repeats them. */
export const repeatedFieldsOf = (original: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(original).filter(([field, value]) => repeatedFields.has(field) && value !== null))

/** The fields as text to append to others, without those already present. */
export function fieldsText(fields: JsonObject, already: JsonObject): string {
  const text = JSON.stringify(without(fields, new Set(Object.keys(already))))
  return text === '{}' ? '' : `,${text.slice(1, -1)}`
}
