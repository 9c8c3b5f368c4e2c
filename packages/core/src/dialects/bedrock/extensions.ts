import type { Quirks } from '../../protocol/model.ts'
import type { InferenceRequest } from '../../protocol/request.ts'
import type { Warning } from '../../protocol/response.ts'
import { isObject, type JsonObject } from '../../protocol/wire.ts'
import { type Encoded, extend, unsupported } from '../apply-quirks.ts'

// Parameters for this provider alone, and betas of Anthropic's.

/** Beside what no extension may touch anywhere: the length of the answer, and a faster way that is dearer. */
const ours: ReadonlySet<string> = new Set(['inferenceConfig', 'performanceConfig'])

/** Merged last. The model's own fields one by one, since some of them were written by us. */
export function extendBedrock({ body, warnings }: Encoded, extensions: JsonObject = {}): Encoded {
  const { additionalModelRequestFields: own, ...others } = extensions
  const held = Object.keys(others).filter(field => ours.has(field))
  const free = Object.fromEntries(Object.entries(others).filter(([field]) => !ours.has(field)))
  const outer = extend({ body, warnings: [...warnings, ...held.map(decidedHere)] }, free)
  if (!isObject(own)) return outer
  const known = isObject(body.additionalModelRequestFields) ? body.additionalModelRequestFields : {}
  const inner = extend({ body: known, warnings: [] }, own)
  return {
    body: { ...outer.body, ...(Object.keys(inner.body).length > 0 && { additionalModelRequestFields: inner.body }) },
    warnings: [
      ...outer.warnings,
      ...inner.warnings.map(warning => ({ ...warning, param: `extensions.additionalModelRequestFields.${lastOf(warning.param)}` })),
    ],
  }
}

const decidedHere = (field: string): Warning =>
  unsupported(`extensions.${field}`, `\`${field}\` is decided by the gateway; the extension was left out.`)

const lastOf = (param = ''): string => param.slice(param.indexOf('.') + 1)

/** Betas that models on Bedrock take; one that they do not know fails the request, so others are left out as for any other provider. */
const betas: ReadonlySet<string> = new Set(['interleaved-thinking-2025-05-14', 'fine-grained-tool-streaming-2025-05-14'])

export function betasOf({ headers }: InferenceRequest, { anthropic_fields }: Quirks): JsonObject {
  const named = anthropic_fields && headers?.dialect === 'messages' ? (headers.values['anthropic-beta'] ?? '') : ''
  const known = named
    .split(',')
    .map(beta => beta.trim())
    .filter(beta => betas.has(beta))
  return known.length > 0 ? { anthropic_beta: known } : {}
}
