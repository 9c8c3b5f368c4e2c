import type { Failure, FailureKind, InferenceRequest, Warning } from '@signalbox/dialects/protocol'
import type { WorkspacePolicy } from '../../access/workspace-policy.ts'
import { placeIn } from '../../routing/candidate-ranks.ts'
import type { Candidate, Excluded, Plan } from '../../routing/plan.ts'

// If a credential of the operator is used although the workspace has a BYOK key, the workspace pays from its credit rather than at its
// provider. Every such response warns about it.

export interface ByokWarningContext {
  readonly policy: Pick<WorkspacePolicy, 'credentials' | 'unusableKeys'>
  readonly plan: Plan
  readonly request: InferenceRequest
}

/** A call with a BYOK key that failed within this request. */
export interface ByokFailure {
  readonly candidate: Candidate
  readonly kind: Failure['kind']
}

const noWarnings: readonly Warning[] = []

/** Whether a response by the candidate is charged to a workspace that has BYOK keys. */
const paysBesideKeys = ({ credential }: Candidate, { policy }: ByokWarningContext): boolean =>
  credential.owner === 'platform' && (policy.credentials.size > 0 || policy.unusableKeys !== undefined)

/** Warnings for a response that used a credential of the operator, about the BYOK keys that would have been used before it. */
export function byokWarnings(used: Candidate, failures: readonly ByokFailure[], context: ByokWarningContext): readonly Warning[] {
  if (!paysBesideKeys(used, context)) return noWarnings
  const [rejected, unavailable] = [new Map<string, KeyTexts>(), new Map<string, KeyTexts>()]
  for (const { candidate, kind } of failures) {
    const { provider, credential } = candidate
    if (kind === 'bad_credential') note(rejected, provider.id, [credential.id, quotedId(credential.id)])
    else note(unavailable, provider.id, [credential.id, `${quotedId(credential.id)} (${failureReasons[kind] ?? 'its call failed'})`])
  }
  // If the operator's credentials are tried first, no BYOK key was passed over.
  if (context.request.routing.byok_first !== false) {
    for (const { provider, id, name, isRefused } of unusableIn(used, context)) {
      if (isRefused) note(rejected, provider, [id, `"${name}" (${id})`])
      else note(unavailable, provider, [id, `"${name}" (${id}: it cannot be unsealed)`])
    }
    for (const { provider, credential } of passedOver(used, context)) {
      if (!rejected.get(provider.id)?.has(credential.id))
        note(unavailable, provider.id, [credential.id, `${quotedId(credential.id)} (rate limited, failing or slower)`])
    }
    for (const { provider, byok_key_id: id, reason } of lackingKey(used, context))
      if (typeof id === 'string') note(unavailable, provider, [id, `${quotedId(id)} (${reason})`])
  }
  return [
    ...Array.from(rejected, ([provider, keys]) => keyRefused(provider, [...keys.values()])),
    ...Array.from(unavailable, ([provider, keys]) => keyUnavailable(provider, [...keys.values()])),
  ]
}

/** A text for each key of a provider, by id. */
type KeyTexts = Map<string, string>

function note(keys: Map<string, KeyTexts>, provider: string, [id, text]: readonly [id: string, text: string]): void {
  const ofProvider = keys.get(provider) ?? new Map<string, string>()
  if (!ofProvider.has(id)) keys.set(provider, ofProvider.set(id, text))
}

const quotedId = (id: string): string => `"${id}"`

const failureReasons: Partial<Record<FailureKind, string>> = {
  rate_limited: 'rate limited',
  out_of_quota: 'out of quota',
  timed_out: 'timed out',
}

/** Unusable keys of the providers of the plan, and of those that are not in it for want of another key. */
function* unusableIn(used: Candidate, context: ByokWarningContext) {
  const { unusableKeys } = context.policy
  if (!unusableKeys) return
  const able = context.plan.candidates.map(each => each.provider.id)
  for (const provider of new Set([...able, ...lackingKey(used, context).map(each => each.provider)]))
    for (const key of unusableKeys.get(provider) ?? []) yield { provider, ...key }
}

/** Candidates with a BYOK key that rank before the one that was used. */
function passedOver(used: Candidate, { plan: { candidates, ranks } }: ByokWarningContext): readonly Candidate[] {
  if (!ranks) return []
  const rank = ranks[candidates.indexOf(used)] ?? 0
  return candidates.filter(({ credential }, index) => credential.owner === 'workspace' && (ranks[index] ?? 0) < rank)
}

/** Offers that another BYOK key could serve, and that would then rank before the candidate that was used. */
function lackingKey(used: Candidate, { plan, request: { routing } }: ByokWarningContext): readonly Excluded[] {
  const { order, models } = routing
  const placeOf = (provider: string): number => placeIn(order ?? [], provider)
  const names = [used.model.id, ...(used.model.aliases ?? [])]
  const isLater = ({ model }: Excluded): boolean => {
    const at = models.indexOf(model)
    return at !== -1 && at > models.findIndex(name => names.includes(name))
  }
  return plan.excluded.filter(
    each =>
      each.byok_key_id !== undefined && placeOf(each.provider) <= placeOf(used.provider.id) && !(plan.ruling === 'order' && isLater(each)),
  )
}

const consequence =
  'so a credential of the operator was used and the workspace is charged. Replace or disable the key, or set `own_keys_only` in the settings to make such requests fail instead.'

const named = (keys: readonly string[]): string => `the workspace's BYOK key${keys.length > 1 ? 's' : ''} ${keys.join(', ')}`

const keyRefused = (provider: string, keys: readonly string[]): Warning => ({
  code: 'byok_key_refused',
  message: `${provider} rejected ${named(keys)}, ${consequence}`,
})

const keyUnavailable = (provider: string, keys: readonly string[]): Warning => ({
  code: 'byok_key_unavailable',
  message: `${provider} could not be called with ${named(keys)}, ${consequence.replace('Replace or disable the key, or set', 'Set')}`,
})
