import type { Awaitable } from '@signalbox/storage'
import { type Caller, itemOwnerOf } from '../../access/caller.ts'
import type { WorkspacePolicies, WorkspacePolicy } from '../../access/workspace-policy.ts'
import { makeSchemaFitter, type SchemaCache } from '../../dialects/fit-schemas.ts'
import { GatewayError } from '../../errors/gateway-error.ts'
import { referenceOf } from '../../protocol/item.ts'
import { originalOf, remember } from '../../protocol/original.ts'
import type { Credential } from '../../protocol/provider.ts'
import type { InferenceRequest } from '../../protocol/request.ts'
import type { PlanInput } from '../../routing/make-plan.ts'
import type { Demands } from '../../routing/needs.ts'
import type { KeyRing } from '../../runtime/seal.ts'
import { type Step, wait } from '../../runtime/steps.ts'
import { openCompactions } from '../compaction/open-compactions.ts'
import { type ReferencePorts, resolveReferences } from '../item-references/resolve-references.ts'
import { defaultedIn, withDefaults } from './workspace-defaults.ts'

interface KeptItemPorts extends ReferencePorts {
  readonly ring: KeyRing
}

export interface PolicyPorts extends KeptItemPorts {
  readonly policies: Pick<WorkspacePolicies, 'of'>
  readonly planning: PlanInput
  /** USD that a second call beside a silent one may cost. */
  readonly hedgeMaxCost: number
  /** Schemas as providers take them, of the last requests. */
  readonly schemas: SchemaCache
  /** Changes a request once the defaults of its workspace are in it. */
  readonly prepare?: (request: InferenceRequest, caller: Caller) => Awaitable<InferenceRequest>
}

/** Whose request it is. */
interface PolicyOptions extends Pick<ReferencePorts, 'claimMemory'> {
  readonly caller: Caller
}

/** A request with what its workspace lays down for it. */
export interface PolicedRequest {
  readonly policy: WorkspacePolicy
  readonly request: InferenceRequest
  readonly planning: PlanInput
  /** USD. */
  readonly hedgeMaxCost: number
  /** Later requests may refer to the items of its answer. */
  readonly keepsItems: boolean
}

/** The policy of a caller's workspace. Without it no provider is called: a store that is down must not lift what a workspace forbids. */
export function* policyFor({ policies }: Pick<PolicyPorts, 'policies'>, { workspaceId }: Caller): Step<WorkspacePolicy> {
  const found = yield* wait(policies.of(workspaceId))
  if (found) return found
  throw new GatewayError('invalid_api_key', {
    message: 'The workspace of this API key does not exist. Use a key of an existing workspace.',
  })
}

/** The request as it is meant: with the items that it refers to and the defaults of its workspace, then as `prepare` changes it. */
export function* applyPolicy(ports: PolicyPorts, asked: InferenceRequest, { caller, claimMemory }: PolicyOptions): Step<PolicedRequest> {
  const policy = yield* policyFor(ports, caller)
  const { settings } = policy.workspace.body
  // Where zero data retention is demanded of providers, the gateway keeps nothing either.
  const keepsItems = settings?.dataPolicyRequired !== 'zdr' && asked.routing.data_policy !== 'zdr'
  const complete = hasNativeItems(asked)
    ? yield* withKeptItems({ items: keepsItems ? ports.items : undefined, claimMemory, ring: ports.ring }, asked, caller)
    : asked
  const request = withDefaults(complete, policy, ports)
  const prepared = ports.prepare ? yield* wait(ports.prepare(request, caller)) : request
  return {
    policy,
    request: withSchemas(prepared, ports.schemas),
    planning: planningUnder(ports.planning, policy, { defaulted: defaultedIn(asked, policy), models: caller.models }),
    hedgeMaxCost: Math.min(ports.hedgeMaxCost, settings?.hedgeMaxExtraCost ?? Number.POSITIVE_INFINITY),
    keepsItems,
  }
}

/** References and compactions are among the items that are not decoded; most requests have none. */
function hasNativeItems({ prompt }: InferenceRequest): boolean {
  for (const { type } of prompt.input) if (type === 'native') return true
  return false
}

/** With the items that it refers to, then with the summaries that stand for earlier parts of the conversation, which may be among these. */
function* withKeptItems(ports: KeptItemPorts, asked: InferenceRequest, caller: Caller): Step<InferenceRequest> {
  const complete = refersToItems(asked) ? yield* resolveReferences(ports, asked, itemOwnerOf(caller)) : asked
  return yield* wait(openCompactions(complete, caller, ports.ring)) // 400 a summary does not open
}

function refersToItems({ prompt }: InferenceRequest): boolean {
  for (const item of prompt.input) if (item.type === 'native' && referenceOf(item) !== undefined) return true
  return false
}

/** All attempts of the request share one budget for schemas; one without any needs none. */
function withSchemas(request: InferenceRequest, cache: SchemaCache): InferenceRequest {
  const { tools, text } = request.prompt
  if ((tools === undefined || tools.length === 0) && text?.format?.type !== 'json_schema') return request
  return remember({ ...request, schemas: makeSchemaFitter(cache) }, originalOf(request))
}

interface PlanningBounds {
  /** Fields of `routing` that are defaults of the workspace. */
  readonly defaulted?: ReadonlySet<string> | undefined
  /** What the caller may call. */
  readonly models: Caller['models'] | undefined
}

/** The very same planning where the workspace and the caller say nothing of which offers to use. */
export function planningUnder(
  planning: PlanInput,
  { workspace, credentials }: WorkspacePolicy,
  { defaulted, models }: PlanningBounds,
): PlanInput {
  const { settings } = workspace.body
  if (!settings && credentials.size === 0 && !defaulted && !models) return planning
  return {
    ...planning,
    ...((settings || models) && { demands: { ...(settings && demandsOf(settings)), ...(models && { caller_models: models }) } }),
    ...(defaulted && { defaulted }),
    ...(credentials.size > 0 && { credentials: ({ id }) => usedOf(credentials.get(id)) }),
  }
}

const noCredentials: readonly Credential[] = []

/** The default one alone: the others wait until they are made it. */
const usedOf = ([first]: readonly Credential[] = noCredentials): readonly Credential[] => (first ? [first] : noCredentials)

const demandsOf = ({
  dataPolicyRequired,
  allowedProviders,
  blockedProviders,
  allowedModels,
  ownKeysOnly,
}: NonNullable<WorkspacePolicy['workspace']['body']['settings']>): Demands => ({
  ...(dataPolicyRequired && { data_policy_required: dataPolicyRequired }),
  ...(allowedProviders && { allowed_providers: allowedProviders }),
  ...(blockedProviders && { blocked_providers: blockedProviders }),
  ...(allowedModels && { allowed_models: allowedModels }),
  ...(ownKeysOnly && { own_keys_only: true }),
})
