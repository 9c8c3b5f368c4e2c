import type { Terms } from '../../access/terms.ts'
import type { Failure } from '../../protocol/failure.ts'
import type { InferenceRequest } from '../../protocol/request.ts'
import type { Warning } from '../../protocol/response.ts'
import type { Candidate, Plan } from '../../routing/plan.ts'

// A provider key of a workspace that its provider refuses moves the cost of a call from the workspace's account there to its credit
// here. The answer says so each time, until somebody sees to the key.

export interface RefusedKeysContext {
  readonly refusedKeys?: Terms['refusedKeys'] | undefined
  readonly plan: Plan
  readonly request: InferenceRequest
}

/** A key of the workspace was refused within this request. Ids: the provider's, and the key's. */
export interface Refusal {
  readonly provider: string
  readonly key: string
}

/** The refusal that a failure is, where the credential is the workspace's. */
export function refusalOf({ kind, credential, provider = '' }: Failure): Refusal | undefined {
  return kind === 'bad_credential' && credential !== undefined ? { provider, key: credential } : undefined
}

const none: readonly Warning[] = []

/** What an answer with the operator's credential says of keys of the workspace that should have paid for it. */
export function refusedKeyWarnings(
  { credential }: Candidate,
  now: readonly Refusal[],
  { refusedKeys, plan, request }: RefusedKeysContext,
): readonly Warning[] {
  if (credential.owner === 'workspace' || (!refusedKeys && now.length === 0)) return none
  const byProvider = new Map<string, string>()
  // Where the operator's credentials are asked first, a key that is refused moved nothing.
  if (refusedKeys && request.routing.byok_first !== false) {
    for (const { provider } of plan.candidates) {
      const key = refusedKeys.get(provider.id)
      if (key) byProvider.set(provider.id, `"${key.name}" (${key.id})`)
    }
  }
  for (const { provider, key } of now) byProvider.set(provider, `"${key}"`)
  return Array.from(byProvider, ([provider, key]) => refused(provider, key))
}

const refused = (provider: string, key: string): Warning => ({
  code: 'byok_key_refused',
  message: `${provider} refused the workspace's BYOK key ${key}, so a credential of the operator answered, and the workspace is charged. Replace or disable the key; or set \`own_keys_only\` in the settings, so that such requests fail instead.`,
})
