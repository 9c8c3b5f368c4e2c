import { type Encoded, extend, unsupported, withoutOutputCaps } from '../common/apply-quirks.ts'
import type { Quirks } from '../protocol/model.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import { isObject, type JsonObject } from '../protocol/wire.ts'

/** Fields that no extension may set, in addition to the general ones: they change the length of the response or its latency class. */
const heldFields: ReadonlySet<string> = new Set(['inferenceConfig', 'performanceConfig'])

/**
 * Models on Bedrock read the output cap under their own names, in objects of their own (`inferenceConfig.maxTokens` of Amazon Nova,
 * `textGenerationConfig.maxTokenCount` of Amazon Titan), so no name of it is sent at any level.
 */
export function extendBedrock({ body, warnings }: Encoded, extensions: JsonObject = {}): Encoded {
  const caps: string[] = []
  const entries = Object.entries(extensions).map(([field, value]) => [
    field,
    // The outer names of these are reported below.
    isObject(value) || Array.isArray(value) ? withoutOutputCaps(value, field, caps) : value,
  ])
  const others = caps.length > 0 ? (Object.fromEntries(entries) as JsonObject) : extensions
  return mergeExtensions({ body, warnings: [...warnings, ...caps.map(setByGateway)] }, others)
}

/** Merges provider-specific parameters. `additionalModelRequestFields` is merged field by field, because the gateway sets some of them. */
function mergeExtensions({ body, warnings }: Encoded, extensions: JsonObject): Encoded {
  const { additionalModelRequestFields: modelFields, ...others } = extensions
  const refused = Object.keys(others).filter(field => heldFields.has(field))
  const allowed = Object.fromEntries(Object.entries(others).filter(([field]) => !heldFields.has(field)))
  const outer = extend({ body, warnings: [...warnings, ...refused.map(setByGateway)] }, allowed)
  if (!isObject(modelFields)) return outer
  const known = isObject(body.additionalModelRequestFields) ? body.additionalModelRequestFields : {}
  const inner = extend({ body: known, warnings: [] }, modelFields)
  return {
    body: { ...outer.body, ...(Object.keys(inner.body).length > 0 && { additionalModelRequestFields: inner.body }) },
    warnings: [
      ...outer.warnings,
      ...inner.warnings.map(warning => ({ ...warning, param: `extensions.additionalModelRequestFields.${afterDot(warning.param)}` })),
    ],
  }
}

const setByGateway = (field: string): Warning =>
  unsupported(`extensions.${field}`, `\`${field}\` is set by the gateway; the extension was left out.`)

const afterDot = (param = ''): string => param.slice(param.indexOf('.') + 1)

/** Anthropic betas that models on Bedrock accept. An unknown one fails the request, so all others are left out. */
const betas: ReadonlySet<string> = new Set(['interleaved-thinking-2025-05-14', 'fine-grained-tool-streaming-2025-05-14'])

export function betaFields({ headers }: InferenceRequest, { anthropicFields }: Quirks): JsonObject {
  const requested = anthropicFields && headers?.dialect === 'messages' ? (headers.values['anthropic-beta'] ?? '') : ''
  const known = requested
    .split(',')
    .map(beta => beta.trim())
    .filter(beta => betas.has(beta))
  return known.length > 0 ? { anthropic_beta: known } : {}
}
