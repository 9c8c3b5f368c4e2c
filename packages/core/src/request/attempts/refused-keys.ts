import type { WorkspacePolicy } from '../../access/workspace-policy.ts'
import type { Failure } from '../../protocol/failure.ts'
import type { InferenceRequest } from '../../protocol/request.ts'
import type { Warning } from '../../protocol/response.ts'
import type { Candidate, Plan } from '../../routing/plan.ts'

// If a provider refuses a workspace's key, the cost of a request moves from the workspace's own account to its credit here. Every
// answer warns of that until the key is replaced or disabled.

export interface RefusedKeysContext {
  readonly refusedKeys?: WorkspacePolicy['refusedKeys'] | undefined
  readonly plan: Plan
  readonly request: InferenceRequest
}

/** A key of the workspace was refused within this request. Ids: the provider's, and the key's. */
export interface Refusal {
  readonly provider: string
  readonly keyId: string
}

/** The refusal that a failure is, where the credential is the workspace's. */
export function refusalOf({ kind, credential, provider = '' }: Failure): Refusal | undefined {
  return kind === 'bad_credential' && credential !== undefined ? { provider, keyId: credential } : undefined
}

const noWarnings: readonly Warning[] = []

/** Warnings of a response with the operator's credential about rejected keys of the workspace. */
export function refusedKeyWarnings(
  { credential }: Candidate,
  now: readonly Refusal[],
  { refusedKeys, plan, request }: RefusedKeysContext,
): readonly Warning[] {
  if (credential.owner === 'workspace' || (!refusedKeys && now.length === 0)) return noWarnings
  const byProvider = new Map<string, string>()
  // If the operator's credentials go first, a rejected key did not change the choice.
  if (refusedKeys && request.routing.byok_first !== false) {
    for (const { provider } of plan.candidates) {
      const key = refusedKeys.get(provider.id)
      if (key) byProvider.set(provider.id, `"${key.name}" (${key.id})`)
    }
  }
  for (const { provider, keyId } of now) byProvider.set(provider, `"${keyId}"`)
  return Array.from(byProvider, ([provider, key]) => keyRefusedWarning(provider, key))
}

const keyRefusedWarning = (provider: string, key: string): Warning => ({
  code: 'byok_key_refused',
  message: `${provider} rejected the workspace's BYOK key ${key}, so a credential of the operator was used and the workspace is charged. Replace or disable the key, or set \`own_keys_only\` in the settings to make such requests fail instead.`,
})
