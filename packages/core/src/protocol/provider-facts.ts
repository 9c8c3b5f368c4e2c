/** What is known of a provider beside how to call it: shown in the registry, and read by routing where a policy is demanded. */
export interface ProviderFacts {
  readonly id: string
  readonly display_name: string
  /** `zdr`, `no_training`, `may_train` or `unknown`, of an account without further agreements. */
  readonly data_policy: DataPolicy
  /** Days for which it keeps what it was sent. */
  readonly retention_days?: number
  /** Where its company sits: a country code. */
  readonly headquarters?: string
  readonly docs_url?: string
  /** Environment variables in which its key is looked for, the usual one first. */
  readonly env?: readonly string[]
  readonly tiers?: readonly AccountTier[]
  /** Where these facts were read, as an address or a name. */
  readonly source?: string
  /** ISO date on which they were read there. */
  readonly as_of?: string
}

/** What providers may do with prompts: keep nothing (`zdr`), not train on them, or train on them. Strictest first. */
export const dataPolicies = ['zdr', 'no_training', 'may_train', 'unknown'] as const
/** Strictest first. */
export type DataPolicy = (typeof dataPolicies)[number]

/** `no_training` accepts `zdr`, too; a provider that promises neither is accepted by `any` alone. */
export const dataPolicyDemands = ['any', 'no_training', 'zdr'] as const
/** The weakest data policy that a request accepts. */
export type DataPolicyDemand = (typeof dataPolicyDemands)[number]

/** What an account there can be: it decides the rate limits and the data policy. */
export interface AccountTier {
  readonly tier: string
  readonly display_name: string
  readonly data_policy: DataPolicy
  readonly qualification: string
}
