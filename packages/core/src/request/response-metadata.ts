import type { UsedSettings } from '@signalbox/dialects/common'
import type { ResponseMetadata, Usage, Warning } from '@signalbox/dialects/protocol'
import type { Candidate } from '../routing/plan.ts'
import type { KeptAnswer } from './item-references/kept-items.ts'

export interface MetadataOptions {
  readonly requestId: string
  /** The requested model, shown until a candidate has responded. */
  readonly modelAsked: string
  /** Unix milliseconds. */
  readonly at: number
  /** The same time in monotonic milliseconds. */
  readonly startedAt: number
}

/** What is known about a request so far, for its reply. */
export interface MetadataFacts {
  readonly candidate?: Candidate
  readonly strategy?: string
  readonly warnings: readonly Warning[]
  readonly used?: UsedSettings | undefined
  readonly usage?: Usage
  /** Input tokens as estimated by the gateway. */
  readonly estimatedInput?: number
  /** Microdollars charged. */
  readonly cost?: number
  /** Microdollars, at list price, that the workspace owes its provider. Undefined if no BYOK key was used. */
  readonly byokCost?: number
  /** Milliseconds that the output took, at least 1. */
  readonly outputMs?: number
  /** Unix milliseconds. */
  readonly endedAt?: number
  /** Monotonic milliseconds. */
  readonly settledAt?: number
  /** Undefined if its items are not kept. */
  readonly kept?: KeptAnswer | undefined
}

/** Creates the metadata of one reply. Its ids are derived from the request id, so a reply can be traced by any of them. */
export function createResponseMetadata({
  requestId,
  modelAsked,
  at,
  startedAt,
}: MetadataOptions): (known: MetadataFacts) => ResponseMetadata {
  const tail = requestId.replaceAll('-', '')
  let items = 0
  const itemId = (prefix: string): string => {
    items += 1
    return `${prefix}_${tail}${items.toString(16).padStart(4, '0')}`
  }
  return known => {
    const { candidate, warnings, used, estimatedInput, endedAt, settledAt, kept } = known
    const metadata: Writable<ResponseMetadata> = {
      id: `resp_${tail}`,
      model: candidate?.model.id ?? modelAsked,
      created_at: Math.floor(at / 1000),
      itemId,
      warnings,
    }
    if (endedAt !== undefined) metadata.completed_at = Math.floor(endedAt / 1000)
    if (estimatedInput !== undefined) metadata.estimated_input_tokens = estimatedInput
    if (kept) {
      const claimId: ResponseMetadata['claimId'] = (id, type) => kept.items.claim(kept.owner, { id, type, at: startedAt })
      const claimIdToKeep: ResponseMetadata['claimIdToKeep'] = (id, type) => kept.items.claimToKeep(kept.owner, { id, type, at: startedAt })
      const keepItems: ResponseMetadata['keepItems'] = items => {
        kept.waiting = kept.items.keep(kept.owner, items, settledAt)
      }
      metadata.claimId = claimId
      metadata.claimIdToKeep = claimIdToKeep
      metadata.keepItems = keepItems
    }
    if (used) metadata.used = used
    if (candidate) metadata.routing = routingOf(candidate, known)
    return metadata
  }
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] }

const routingOf = (
  { provider, offer, model }: Candidate,
  { strategy = '', usage, cost, byokCost, outputMs }: MetadataFacts,
): NonNullable<ResponseMetadata['routing']> => ({
  provider: provider.id,
  provider_model_id: offer.model,
  model_canonical: model.id,
  routing_strategy: strategy,
  ...(usage && outputMs !== undefined && { throughput_tps: Math.round((usage.output_tokens / outputMs) * 1e5) / 100 }),
  ...(cost !== undefined && { cost: { usd: cost / 1_000_000, ...(byokCost !== undefined && { byok_usd: byokCost / 1_000_000 }) } }),
})
