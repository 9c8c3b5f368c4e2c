import type { CredentialBody } from '@signalbox/core/access'
import type { AccountTier, Provider } from '@signalbox/dialects/protocol'
import { own } from '@signalbox/dialects/protocol'

type Tiered = Pick<CredentialBody, 'accountTier' | 'accountTierSource'>

export interface Heard {
  readonly provider: Provider
  /** Model id of the response, as the provider names it. */
  readonly model: string
  readonly header: (name: string) => string | undefined
}

/** The account tier that the rate limit headers of a response indicate. Undefined if they match no known tier of the provider. */
export function tierHeard({ provider, model, header }: Heard, tiers: readonly AccountTier[]): string | undefined {
  for (const row of provider.account?.tierHeaders ?? []) {
    const tier = row.model.test(model) ? own(row.tiers, header(row.header) ?? '') : undefined
    if (tier !== undefined && tiers.some(each => each.tier === tier)) return tier
  }
  return undefined
}

/** A stated tier is never replaced by a detected one. A detected tier stays until another is detected. */
export const withTier = (before: Tiered, heard: string | undefined): Tiered =>
  heard === undefined || before.accountTierSource === 'user_specified' ? {} : { accountTier: heard, accountTierSource: 'auto_detected' }

/** The tier if none is stated or detected: the lowest one, whose data policy promises the least. */
export const usualTier = ([lowest]: readonly AccountTier[]): Tiered =>
  lowest ? { accountTier: lowest.tier, accountTierSource: 'fallback' } : {}

export const isNews = (before: Tiered, { accountTier, accountTierSource }: Tiered): boolean =>
  accountTier !== undefined && (accountTier !== before.accountTier || accountTierSource !== before.accountTierSource)
