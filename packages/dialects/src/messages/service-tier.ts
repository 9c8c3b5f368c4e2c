import type { Encoded } from '../common/apply-quirks.ts'
import type { Quirks } from '../protocol/model.ts'

/** Service tier names → names in this dialect. */
export const tierWords: ReadonlyMap<string, string> = new Map([
  ['auto', 'auto'],
  ['priority', 'priority'],
  ['fast', 'priority'],
  ['standard_only', 'standard_only'],
  ['default', 'standard_only'],
  ['standard', 'standard_only'],
  ['on_demand', 'standard_only'],
])

/** Replaces `priority` with the provider's name for it. Called once the tier is known to be allowed. */
export const renamePriorityTier = ({ body, warnings }: Encoded, { priorityTier }: Quirks): Encoded =>
  body.service_tier === 'priority' ? { body: { ...body, service_tier: priorityTier ?? 'auto' }, warnings } : { body, warnings }
