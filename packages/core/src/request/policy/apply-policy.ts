import { makeSchemaFitter, type SchemaCache } from '@signalbox/dialects/common'
import { GatewayError } from '@signalbox/dialects/errors'
import type { InferenceRequest } from '@signalbox/dialects/protocol'
import { originalOf, referenceOf, remember, toUsd } from '@signalbox/dialects/protocol'
import type { Awaitable } from '@signalbox/storage'
import { type Caller, itemOwnerOf } from '../../access/caller.ts'
import type { WorkspacePolicies, WorkspacePolicy } from '../../access/workspace-policy.ts'
import type { PlanInput } from '../../routing/make-plan.ts'
import type { KeyRing } from '../../runtime/seal.ts'
import { type Step, wait } from '../../runtime/steps.ts'
import { openCompactions } from '../compaction/open-compactions.ts'
import { markUnknownRecords } from '../item-references/record-origins.ts'
import { type ReferencePorts, resolveReferences } from '../item-references/resolve-references.ts'
import { defaultedIn, withDefaults } from './workspace-defaults.ts'

interface KeptItemPorts extends ReferencePorts {
  readonly ring: KeyRing
}

export interface PolicyPorts extends KeptItemPorts {
  readonly policies: Pick<WorkspacePolicies, 'of'>
  readonly planning: PlanInput
  /** Maximum cost of a hedged call in USD. */
  readonly maxHedgeCost: number
  /** Cache of recently used schemas in the form that providers accept. */
  readonly schemas: SchemaCache
  /** Changes a request after the defaults of its workspace have been applied. */
  readonly transformRequest?: (request: InferenceRequest, caller: Caller) => Awaitable<InferenceRequest>
}

/** The caller, and a limit on the memory of kept items. */
interface PolicyOptions extends Pick<ReferencePorts, 'claimMemory'> {
  readonly caller: Caller
}

/** A request with its workspace's policy applied. */
export interface PolicedRequest {
  readonly policy: WorkspacePolicy
  readonly request: InferenceRequest
  /** Fields of `routing` that are defaults of the workspace. */
  readonly defaulted: ReadonlySet<string> | undefined
  /** USD. */
  readonly maxHedgeCost: number
  /** Whether later requests may refer to the items of its response. */
  readonly keepsItems: boolean
}

/** The policy of a caller's workspace. No provider is called without it, because an outage of the store must not lift restrictions. */
export function* policyFor({ policies }: Pick<PolicyPorts, 'policies'>, { workspaceId }: Caller): Step<WorkspacePolicy> {
  const found = yield* wait(policies.of(workspaceId))
  if (found) return found
  throw new GatewayError('invalid_api_key', {
    message: 'The workspace of this API key does not exist. Use a key of an existing workspace.',
  })
}

/** Resolves the items that the request refers to, applies the defaults of its workspace, then calls `transformRequest`. */
export function* applyPolicy(
  ports: PolicyPorts,
  originalRequest: InferenceRequest,
  { caller, claimMemory }: PolicyOptions,
): Step<PolicedRequest> {
  const policy = yield* policyFor(ports, caller)
  const { settings } = policy.workspace.body
  // If zero data retention is required of providers, the gateway keeps nothing either.
  const keepsItems = settings?.dataPolicyRequired !== 'zdr' && originalRequest.routing.data_policy !== 'zdr'
  const complete = hasNativeItems(originalRequest)
    ? yield* withKeptItems({ items: keepsItems ? ports.items : undefined, claimMemory, ring: ports.ring }, originalRequest, caller)
    : originalRequest
  const request = withDefaults(complete, policy, ports)
  const prepared = ports.transformRequest ? yield* wait(ports.transformRequest(request, caller)) : request
  return {
    policy,
    request: withSchemas(prepared, ports.schemas),
    defaulted: defaultedIn(originalRequest, policy),
    maxHedgeCost: Math.min(ports.maxHedgeCost, toUsd(settings?.hedgeMaxExtraCost ?? Number.POSITIVE_INFINITY)),
    keepsItems,
  }
}

/** Whether there are items without a decoded form, which include references and compactions. Most requests have none. */
function hasNativeItems({ prompt }: InferenceRequest): boolean {
  for (const { type } of prompt.input) if (type === 'native') return true
  return false
}

/** Resolves item references first, then opens compactions, because a reference may point to one. What the gateway kept needs no check. */
function* withKeptItems(ports: KeptItemPorts, originalRequest: InferenceRequest, caller: Caller): Step<InferenceRequest> {
  const checked = yield* markUnknownRecords(ports, originalRequest, caller)
  const complete = refersToItems(checked) ? yield* resolveReferences(ports, checked, itemOwnerOf(caller)) : checked
  return yield* wait(openCompactions(complete, caller, ports.ring)) // 400 a summary cannot be opened
}

function refersToItems({ prompt }: InferenceRequest): boolean {
  for (const item of prompt.input) if (item.type === 'native' && referenceOf(item) !== undefined) return true
  return false
}

/** All attempts of a request share one work budget for its schemas. A request without schemas is returned unchanged. */
function withSchemas(request: InferenceRequest, cache: SchemaCache): InferenceRequest {
  const { tools, text } = request.prompt
  if ((tools === undefined || tools.length === 0) && text?.format?.type !== 'json_schema') return request
  return remember({ ...request, schemas: makeSchemaFitter(cache) }, originalOf(request))
}
