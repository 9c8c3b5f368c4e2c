import type { Quirks } from '../../protocol/model.ts'
import type { Prompt } from '../../protocol/request.ts'
import type { JsonObject } from '../../protocol/wire.ts'
import type { Encoded } from '../apply-quirks.ts'
import { type EncodeContext, warn } from './encode-context.ts'

/** Our names of service tiers → those of this dialect. */
const tiers: ReadonlyMap<string, string> = new Map([
  ['auto', 'auto'],
  ['priority', 'priority'],
  ['standard_only', 'standard_only'],
  ['default', 'standard_only'],
  ['standard', 'standard_only'],
  ['on_demand', 'standard_only'],
])

export function encodeServiceTier({ service_tier }: Prompt, context: EncodeContext): JsonObject {
  if (service_tier === undefined) return {}
  const tier = tiers.get(service_tier)
  if (tier === undefined) warn(context, 'service_tier', '`service_tier` has no counterpart here and was left out.')
  return tier === undefined ? {} : { service_tier: tier }
}

/** Replaces `priority` with the provider's own name for it. Called once it is clear that the tier may be bought. */
export const renamePriorityTier = ({ body, warnings }: Encoded, { priority_tier }: Quirks): Encoded =>
  body.service_tier === 'priority' ? { body: { ...body, service_tier: priority_tier ?? 'auto' }, warnings } : { body, warnings }
