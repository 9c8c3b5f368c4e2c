import type { Quirks } from '../protocol/model.ts'
import type { Effort } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import type { Json, JsonObject } from '../protocol/wire.ts'

// How a finished body bends to an offer. Whatever is left out is named in a warning.

export const unsupported = (param: string, message: string): Warning => ({ code: 'unsupported_parameter', message, param })

export interface Encoded {
  readonly body: JsonObject
  readonly warnings: readonly Warning[]
}

/** What a field means when it is not there: leaving such a value out changes nothing, so nobody needs to hear of it. */
const defaults: ReadonlyMap<string, Json> = new Map<string, Json>([
  ['temperature', 1],
  ['top_p', 1],
  ['frequency_penalty', 0],
  ['presence_penalty', 0],
  ['logprobs', false],
  ['top_logprobs', 0],
  ['n', 1],
  ['store', false],
  ['verbosity', 'medium'],
  ['parallel_tool_calls', true],
  ['tool_choice', 'auto'],
  ['service_tier', 'auto'],
  ['truncation', 'disabled'],
])

/** Takes out what the offer refuses. `spelled`: what the caller calls a field, where that differs. */
export function dropRefused({ body, warnings }: Encoded, quirks: Quirks, spelled?: ReadonlyMap<string, string>): Encoded {
  const refused = (quirks.refuses ?? []).filter(field => body[field] !== undefined)
  if (refused.length === 0) return { body, warnings }
  const gone = new Set(refused)
  const heard = refused.filter(field => body[field] !== null && body[field] !== defaults.get(field))
  return {
    body: Object.fromEntries(Object.entries(body).filter(([field]) => !gone.has(field))),
    warnings: [
      ...warnings,
      ...[...new Set(heard.map(field => spelled?.get(field) ?? field))].map(param =>
        unsupported(param, `\`${param}\` is not supported here and was left out.`),
      ),
    ],
  }
}

/** Fields that decide whom we pay and how much, what we keep or how the answer comes: no extension may touch them. */
const ours: ReadonlySet<string> = new Set([
  'model',
  'models',
  'fallbacks',
  // By these a provider that is a gateway itself is told whom to ask.
  'provider',
  'route',
  'stream',
  'stream_options',
  'store',
  'background',
  'previous_response_id',
  'conversation',
  'gateway',
  'extensions',
  // Money is set aside for this prompt, and for one answer of a known length at a known price.
  'input',
  'messages',
  'contents',
  'instructions',
  'system',
  'systemInstruction',
  'system_instruction',
  'tools',
  'functions',
  'toolConfig',
  'tool_config',
  'cachedContent',
  'cached_content',
  'prompt',
  'max_output_tokens',
  'max_completion_tokens',
  'max_tokens',
  'n',
  'best_of',
  'service_tier',
  'serviceTier',
  'speed',
  'inference_geo',
  'performanceConfig',
])

/** Whether this body field is the gateway's to set, whoever names it. */
export const isGatewayField = (field: string): boolean => ours.has(field)

/**
 * Takes out of a caller's own body what is decided here and is no field of the provider's language: a provider that is a gateway
 * itself reads it all the same. `own`: those that are, which others see to.
 */
export function dropGatewayFields({ body, warnings }: Encoded, own: ReadonlySet<string>): Encoded {
  const gone = Object.keys(body).filter(field => ours.has(field) && !own.has(field))
  if (gone.length === 0) return { body, warnings }
  return {
    body: Object.fromEntries(Object.entries(body).filter(([field]) => !gone.includes(field))),
    warnings: [...warnings, ...gone.map(field => unsupported(field, `\`${field}\` is decided by the gateway; it was left out.`))],
  }
}

/** Parameters for this provider alone, merged last. */
export function extend({ body, warnings }: Encoded, extensions: JsonObject | undefined): Encoded {
  if (!extensions) return { body, warnings }
  const kept = Object.entries(extensions).filter(([field]) => !ours.has(field))
  const held = Object.keys(extensions).filter(field => ours.has(field))
  return {
    body: { ...body, ...Object.fromEntries(kept) },
    warnings: [
      ...warnings,
      ...held.map(field => unsupported(`extensions.${field}`, `\`${field}\` is decided by the gateway; the extension was left out.`)),
    ],
  }
}

const ladder: readonly Effort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/** The effort itself, else the next lower one that the offer knows, else the next higher. `none` is no lower one: it switches off. */
export function nearestEffort(
  effort: Effort,
  known: readonly string[] | undefined,
): { readonly effort?: Effort; readonly warnings: readonly Warning[] } {
  if (!known || known.includes(effort)) return { effort, warnings: [] }
  const rung = ladder.indexOf(effort)
  const isKnown = (each: Effort): boolean => known.includes(each)
  const near = ladder.slice(1, Math.max(rung, 1)).findLast(isKnown) ?? ladder.slice(rung + 1).find(isKnown) ?? ladder.find(isKnown)
  const param = 'reasoning.effort'
  if (near === undefined) return { warnings: [unsupported(param, 'This model has no reasoning effort to set; it was left out.')] }
  return { effort: near, warnings: [unsupported(param, `Reasoning effort "${effort}" is not available here; "${near}" was used.`)] }
}
