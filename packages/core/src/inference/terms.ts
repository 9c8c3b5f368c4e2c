import type { Caller } from '../access/caller.ts'
import type { Terms, TermsBook } from '../access/terms.ts'
import { makeSchemaFitter, type SchemaCache } from '../dialects/fit-schemas.ts'
import { GatewayError } from '../errors/gateway-error.ts'
import { originalOf, remember } from '../protocol/original.ts'
import type { Credential } from '../protocol/provider.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import type { Demands } from '../routing/needs.ts'
import { defaultedIn, withDefaults } from './defaults.ts'
import type { Engine } from './infer.ts'

/** What the workspace of a caller has laid down. */
export const termsFor = async ({ terms }: Pick<Engine, 'terms'>, { workspaceId }: Caller): Promise<Terms> =>
  terms.fresh(workspaceId) ?? readTerms(terms, workspaceId)

/** Where they have to be read. Without them nobody is called: a store that is down must not lift what a workspace forbids. */
async function readTerms(book: TermsBook, workspaceId: string): Promise<Terms> {
  const terms = await book.of(workspaceId)
  if (terms) return terms
  throw new GatewayError('invalid_api_key', { message: 'The workspace of this API key does not exist. Use a key of one that does.' })
}

interface Bound {
  readonly engine: Engine
  readonly request: InferenceRequest
  readonly terms: Terms
}

/** A request as it is meant: with the defaults of its workspace, then as `prepare` changes it. */
export async function underOwnTerms(house: Engine, asked: InferenceRequest, caller: Caller): Promise<Bound> {
  const terms = house.terms.fresh(caller.workspaceId) ?? (await readTerms(house.terms, caller.workspaceId))
  const request = withDefaults(asked, terms, house)
  const prepared = house.prepare ? await house.prepare(request, caller) : request
  return { engine: underTerms(house, terms, defaultedIn(asked, terms)), terms, request: withSchemas(prepared, house.schemas) }
}

/** All attempts of the request share one budget for schemas; one without any needs none. */
function withSchemas(request: InferenceRequest, cache: SchemaCache): InferenceRequest {
  const { tools, text } = request.prompt
  if ((tools === undefined || tools.length === 0) && text?.format?.type !== 'json_schema') return request
  return remember({ ...request, schemas: makeSchemaFitter(cache) }, originalOf(request))
}

/** The engine as the workspace's terms bind it: the very same where they say nothing of whom to ask. */
export function underTerms(engine: Engine, { workspace, credentials, refusedKeys }: Terms, defaulted?: ReadonlySet<string>): Engine {
  const { settings } = workspace.body
  if (!settings && credentials.size === 0 && !refusedKeys && !defaulted) return engine
  return {
    ...engine,
    refusedKeys,
    hedgeMaxCost: Math.min(engine.hedgeMaxCost, settings?.hedgeMaxExtraCost ?? Number.POSITIVE_INFINITY),
    planning: {
      ...engine.planning,
      ...(settings && { demands: demandsOf(settings) }),
      ...(defaulted && { defaulted }),
      ...(credentials.size > 0 && { credentials: ({ id }) => usedOf(credentials.get(id)) }),
    },
  }
}

const none: readonly Credential[] = []

/** The default one alone: the others wait until they are made it. */
const usedOf = ([first]: readonly Credential[] = none): readonly Credential[] => (first ? [first] : none)

const demandsOf = ({
  dataPolicyRequired,
  allowedProviders,
  blockedProviders,
  allowedModels,
  ownKeysOnly,
}: NonNullable<Terms['workspace']['body']['settings']>): Demands => ({
  ...(dataPolicyRequired && { data_policy_required: dataPolicyRequired }),
  ...(allowedProviders && { allowed_providers: allowedProviders }),
  ...(blockedProviders && { blocked_providers: blockedProviders }),
  ...(allowedModels && { allowed_models: allowedModels }),
  ...(ownKeysOnly && { own_keys_only: true }),
})
