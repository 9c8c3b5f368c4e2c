import type { WorkspacePolicy } from '../../access/workspace-policy.ts'
import type { Failure } from '../../protocol/failure.ts'
import type { InferenceRequest } from '../../protocol/request.ts'
import type { Warning } from '../../protocol/response.ts'
import type { Candidate, Plan } from '../../routing/plan.ts'

// If a provider refuses a BYOK key and a platform key is used instead, the workspace pays from its credit rather than at its provider.
// Every response warns about this until the key is replaced or disabled.

export interface RefusedKeysContext {
  readonly refusedKeys?: WorkspacePolicy['refusedKeys'] | undefined
  readonly plan: Plan
  readonly request: InferenceRequest
}

/** A BYOK key that was refused within this request, by provider id and key id. */
export interface Refusal {
  readonly provider: string
  readonly keyId: string
}

/** The refusal for a failure with a BYOK key. Undefined for other failures. */
export function refusalOf({ kind, credential, provider = '' }: Failure): Refusal | undefined {
  return kind === 'bad_credential' && credential !== undefined ? { provider, keyId: credential } : undefined
}

const noWarnings: readonly Warning[] = []

/** Warnings about refused BYOK keys, for a response that used a platform key. */
export function refusedKeyWarnings(
  { credential }: Candidate,
  now: readonly Refusal[],
  { refusedKeys, plan, request }: RefusedKeysContext,
): readonly Warning[] {
  if (credential.owner === 'workspace' || (!refusedKeys && now.length === 0)) return noWarnings
  const byProvider = new Map<string, string>()
  // If platform keys are tried first, a refused BYOK key did not change the choice.
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
