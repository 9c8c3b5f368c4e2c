import type { EncodedRequest, ProviderDialect } from '../../protocol/dialect.ts'
import type { Offer, Quirks } from '../../protocol/model.ts'
import { originalOf } from '../../protocol/original.ts'
import type { InferenceRequest, Prompt } from '../../protocol/request.ts'
import { isObject, type Json, type JsonObject } from '../../protocol/wire.ts'
import { dropGatewayFields, dropRefused, extend } from '../apply-quirks.ts'
import { decodeFailedAnswer } from '../failure.ts'
import { makeSchemaFitter } from '../fit-schemas.ts'
import { applyServiceTier, surchargedFields } from '../service-tier.ts'
import { fits, fitsEffort } from './compatibility.ts'
import { writeFormat } from './response-format.ts'
import { writeConversation } from './items.ts'
import { decodeResponse } from './decode-response.ts'
import { writeSampling } from './sampling.ts'
import { decodeEvents } from './decode-stream.ts'
import { writeThinking } from './thinking.ts'
import { writeTools } from './tools.ts'
import { sayTier, unsayable, withTier } from './unsupported-fields.ts'
import { withoutOurs } from './passthrough.ts'
import { dialect, originalBody } from './wire.ts'
import { startWriting } from './encode-context.ts'

function encodeRequest(request: InferenceRequest, offer: Offer, quirks: Quirks): EncodedRequest {
  const said = originalOf(request)
  const { reading, ...worded } =
    said?.dialect === dialect && fits(said.body, offer, quirks)
      ? { body: withoutOurs(said.body), warnings: [], reading: {} }
      : compose(request, offer, quirks)
  const { body, warnings } = dropGatewayFields(worded, ownFields)
  const addressed = { ...quirks.fixed_fields, ...body, model: offer.provider_model_id, stream: request.delivery === 'stream' }
  const heeded = applyServiceTier({ body: addressed, warnings }, request.routing, { price: offer.price, quirks })
  const bent = dropRefused(withTier(heeded, quirks), quirks, spelled)
  return { ...extend(bent, request.prompt.extensions), headers: headersOf(request), ...(Object.keys(reading).length > 0 && { reading }) }
}

/** Of the fields that the gateway decides, those that this language has. */
const ownFields: ReadonlySet<string> = new Set([
  'model',
  'stream',
  'messages',
  'system',
  'tools',
  'max_tokens',
  'service_tier',
  ...surchargedFields,
])

/** Where a field goes by another name than the caller knows. */
const spelled: ReadonlyMap<string, string> = new Map([
  ['max_tokens', 'max_output_tokens'],
  ['stop_sequences', 'stop'],
  ['thinking', 'reasoning'],
  ['output_config', 'text.format'],
  ['metadata', 'safety_identifier'],
  ['system', 'instructions'],
])

/** What every call names where the caller does not. */
const version = '2023-06-01'

/** Headers of this language go on; nothing else that a caller may have sent does. */
function headersOf({ headers }: InferenceRequest): Readonly<Record<string, string>> {
  const own = headers?.dialect === dialect ? Object.entries(headers.values).filter(([name]) => name.startsWith('anthropic-')) : []
  return { 'anthropic-version': version, ...Object.fromEntries(own) }
}

function compose(
  { prompt, schemas = makeSchemaFitter() }: InferenceRequest,
  offer: Offer,
  quirks: Quirks,
): Required<Omit<EncodedRequest, 'headers'>> {
  const writing = startWriting(prompt, quirks, schemas)
  const { thinking, effort, max_tokens, warnings } = writeThinking(prompt, offer, quirks)
  writing.warnings.push(...warnings)
  const canForce = !quirks.no_forced_tools && thinking?.type !== 'enabled'
  const format = writeFormat(prompt, canForce, writing)
  const tools = writeTools(prompt, { format, canForce }, writing)
  const conversation = writeConversation(prompt, format.instruction, writing)
  const sampling = writeSampling(prompt, thinking, quirks)
  const config = configOf(prompt, quirks, { effort, format: format.format })
  const user = prompt.safety_identifier ?? prompt.user
  const body: JsonObject = {
    ...(prompt.native?.dialect === dialect && prompt.native.body),
    max_tokens,
    ...conversation,
    ...tools,
    ...(thinking && { thinking }),
    ...(Object.keys(config).length > 0 && { output_config: config }),
    ...sampling.body,
    ...(prompt.stop && prompt.stop.length > 0 && { stop_sequences: prompt.stop }),
    ...(user !== undefined && { metadata: { user_id: user } }),
    ...sayTier(prompt, writing),
  }
  const { toolNames } = writing
  const reading = { ...(toolNames.size > 0 && { toolNames }), ...(format.answerTool !== undefined && { answerTool: format.answerTool }) }
  return { body, warnings: [...writing.warnings, ...sampling.warnings, ...unsayable(prompt)], reading }
}

/** With what the caller put into it beside effort and format. */
function configOf(
  { text, reasoning, native }: Prompt,
  quirks: Quirks,
  { effort, format }: { readonly effort: Json | undefined; readonly format: JsonObject | undefined },
): JsonObject {
  const untold = native?.dialect === dialect ? native.body.output_config : undefined
  const told = reasoning && originalBody(reasoning)?.output_config
  const known = { ...(isObject(untold) && untold), ...(isObject(told) && told), ...(text && originalBody(text)) }
  const { effort: own, format: _, ...rest } = known
  const level = effort ?? (isObject(told) && fitsEffort(told, quirks) ? own : undefined)
  return { ...rest, ...(level !== undefined && { effort: level }), ...(format && { format }) }
}

/** Fields that say what is asked, and not how it is answered. */
const counted = ['model', 'messages', 'system', 'tools', 'tool_choice', 'thinking', 'output_config'] as const

export const messagesProvider: ProviderDialect = {
  name: dialect,
  encodeRequest,
  decodeResponse,
  decodeEvents,
  decodeFailure: decodeFailedAnswer,
  counting: {
    encodeRequest(request, offer, quirks) {
      const { body, ...encoded } = encodeRequest(request, offer, quirks)
      return { ...encoded, body: Object.fromEntries(counted.flatMap(field => (body[field] === undefined ? [] : [[field, body[field]]]))) }
    },
    decode: ({ input_tokens }) => (typeof input_tokens === 'number' ? input_tokens : undefined),
  },
}
