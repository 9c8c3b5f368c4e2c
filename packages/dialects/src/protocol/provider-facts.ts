/**
 * Facts about a provider that are not needed to call it. The registry shows them, and routing reads them when a request demands a data
 * policy.
 */
export interface ProviderFacts {
  readonly id: string
  readonly displayName: string
  /** Data policy of an account without further agreements: `zdr`, `no_training`, `may_train` or `unknown`. */
  readonly dataPolicy: DataPolicy
  /** Days for which the provider keeps prompts. */
  readonly retentionDays?: number
  /** Country code of the company's headquarters. */
  readonly headquarters?: string
  readonly docsURL?: string
  /** Environment variables that may hold the API key, the most common one first. */
  readonly env?: readonly string[]
  readonly tiers?: readonly AccountTier[]
  /** Where these facts come from: a URL or a name. */
  readonly source?: string
  /** The ISO date on which the source was read. */
  readonly asOf?: string
}

/** What a provider may do with prompts: store nothing (`zdr`), not train on them, or train on them. Strictest first. */
export const dataPolicies = ['zdr', 'no_training', 'may_train', 'unknown'] as const
/** A data policy. Strictest first. */
type DataPolicy = (typeof dataPolicies)[number]

/** Values of a data policy demand. `no_training` also accepts `zdr`; only `any` accepts a provider that promises neither. */
export const dataPolicyDemands = ['any', 'no_training', 'zdr'] as const
/** The weakest data policy that a request accepts. */
export type DataPolicyDemand = (typeof dataPolicyDemands)[number]

/** An account tier at a provider. It determines rate limits and data policy. */
export interface AccountTier {
  readonly tier: string
  readonly displayName: string
  readonly dataPolicy: DataPolicy
  readonly qualification: string
}
