import { renameWarnings } from '@signalbox/dialects/common'
import type { JsonObject, Outcome, ResponseMetadata, Usage, Warning } from '@signalbox/dialects/protocol'
import { fieldNames } from './field-names.ts'
import type { GenerateResult } from './wire.ts'

type SdkWarning = GenerateResult['warnings'][number]

/** Encodes warnings. A setting that was left out is `unsupported`; anything else is a message. */
export const encodeWarnings = (warnings: readonly Warning[]): SdkWarning[] =>
  renameWarnings(warnings, fieldNames).map(({ code, message, param }) =>
    code === 'unsupported_parameter' && param !== undefined
      ? { type: 'unsupported', feature: param, details: message }
      : { type: 'other', message: `${message} (${code})` },
  )

const unifiedReasons: ReadonlyMap<string, GenerateResult['finishReason']['unified']> = new Map([
  ['max_output_tokens', 'length'],
  ['content_filter', 'content-filter'],
])

/** Facts about the items that determine how a response ended. */
interface AnswerContent {
  readonly hasCalls: boolean
  readonly hasRefusal: boolean
}

export function encodeFinishReason(outcome: Outcome, { hasCalls, hasRefusal }: AnswerContent): GenerateResult['finishReason'] {
  if (outcome.status === 'failed') return { unified: 'error', raw: outcome.error.code ?? outcome.error.kind }
  if (outcome.status === 'incomplete') return { unified: unifiedReasons.get(outcome.reason) ?? 'other', raw: outcome.reason }
  if (hasCalls) return { unified: 'tool-calls', raw: outcome.status }
  return hasRefusal ? { unified: 'content-filter', raw: 'refusal' } : { unified: 'stop', raw: outcome.status }
}

const unknownUsage: GenerateResult['usage'] = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
}

export function sdkUsage(usage: Usage | undefined): GenerateResult['usage'] {
  if (!usage) return unknownUsage
  const { input_tokens, output_tokens, cached_tokens, cache_write_tokens, reasoning_tokens } = usage
  const { extra_steps, ...counts } = usage
  return {
    inputTokens: {
      total: input_tokens,
      noCache: Math.max(0, input_tokens - cached_tokens - cache_write_tokens),
      cacheRead: cached_tokens,
      cacheWrite: cache_write_tokens,
    },
    outputTokens: { total: output_tokens, text: Math.max(0, output_tokens - reasoning_tokens), reasoning: reasoning_tokens },
    raw: { ...counts, ...(extra_steps && { extra_steps: { ...extra_steps } }) },
  }
}

const microdollars = (dollars: number): number => Math.round(dollars * 1_000_000)

/** Encodes `providerMetadata` of a response: `gateway` contains its id, the provider, the cost and all warnings. */
export function encodeGatewayMetadata({ id, routing, warnings }: ResponseMetadata): { gateway: GatewayMetadata } {
  const { cost } = routing ?? {}
  return {
    gateway: {
      generationId: id,
      ...(routing && {
        provider: routing.provider,
        providerModelId: routing.provider_model_id,
        model: routing.model_canonical,
        strategy: routing.routing_strategy,
      }),
      ...(cost && {
        costMicrodollars: microdollars(cost.usd),
        // As text in USD, where clients of other gateways expect it.
        cost: String(cost.usd),
        ...(cost.byok_usd !== undefined && { byokCostMicrodollars: microdollars(cost.byok_usd) }),
      }),
      ...(warnings.length > 0 && { warnings: renameWarnings(warnings, fieldNames).map((warning): JsonObject => ({ ...warning })) }),
    },
  }
}

/** `providerMetadata.gateway` of a response. */
type GatewayMetadata = NonNullable<GenerateResult['providerMetadata']>[string]
