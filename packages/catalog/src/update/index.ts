import { withWireNames } from '@signalbox/dialects/protocol'
import { CatalogError } from '../fault.ts'
import type { Overrides } from '../overrides.ts'
import { readCatalog } from '../schema/index.ts'
import type { Catalog } from '../stored.ts'
import { applyCorrections, correctedOffers } from './corrections.ts'
import { diffOf } from './diff.ts'
import { readGenaiPrices } from './genai-prices.ts'
import { guardProblems, offersByKey } from './guards.ts'
import { mergeOffers } from './merge.ts'
import { readModelsDev } from './models-dev.ts'
import { readOpenAiShutdowns } from './openai-models.ts'
import { readOpenRouter } from './openrouter.ts'
import { withSecondOpinion } from './second-opinion.ts'
import { type SourceName, type Sources, sourceProblem } from './source.ts'
import { withoutSuddenChanges } from './sudden-changes.ts'

// A separate sub-path, so that a bundle that only uses a catalog contains none of it.

export { applyCorrections, type Corrected } from './corrections.ts'
export { type FetchOptions, fetchSources, type SourceRequest, type SourcesResult } from './fetch-sources.ts'
export { type SourceName, type Sources, sourceNames } from './source.ts'

/** Input of an update. */
export interface UpdateInput {
  readonly current: Catalog
  readonly sources: Sources
  /** Applied last: they override every source. */
  readonly corrections?: Overrides
  /** ISO date. */
  readonly today: string
}

/** An updated catalog, or why there is none. */
export type UpdateResult =
  | { readonly ok: true; readonly catalog: Catalog; readonly diff: readonly string[]; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly problems: readonly string[]; readonly warnings: readonly string[] }

/**
 * Updates a catalog from public lists. Pure: the same input gives the same result.
 *
 * Rejected, with `problems`, if a source has an unknown format, if more than 5 % of the live offers would be lost, or if the median price
 * would change by more than 20 %.
 *
 * @example
 * const result = updateCatalog({ current: catalog(), sources: { 'models.dev': json }, today: '2026-11-22' })
 * if (result.ok) await writeFile('catalog.json', catalogText(result.catalog))
 */
export function updateCatalog({ current, sources, corrections = {}, today }: UpdateInput): UpdateResult {
  const warnings: string[] = []
  const problems = [...unfit(sources), ...(today < current.asOf ? [`The catalog is of ${current.asOf}, which is after ${today}.`] : [])]
  if (problems.length > 0) return { ok: false, problems, warnings }
  try {
    const next = apply({ current, sources, corrections, today }, warnings)
    const refused = guardProblems(current, next, today)
    return refused.length > 0
      ? { ok: false, problems: refused, warnings }
      : { ok: true, catalog: next, diff: diffOf(current, next), warnings }
  } catch (error) {
    return { ok: false, problems: problemsOf(error), warnings }
  }
}

function problemsOf(error: unknown): readonly string[] {
  if (error instanceof CatalogError) return error.problems
  throw error
}

const unfit = (sources: Sources): readonly string[] =>
  Object.entries(sources).flatMap(([name, json]) => (json === undefined ? [] : (sourceProblem(name as SourceName, json) ?? [])))

function apply({ current, sources, corrections, today }: Required<UpdateInput>, warnings: string[]): Catalog {
  const kept = correctedOffers(corrections)
  const lists = [
    ...(sources['models.dev'] === undefined ? [] : [readModelsDev(sources['models.dev'])]),
    ...(sources.openrouter === undefined ? [] : [readOpenRouter(sources.openrouter)]),
  ]
  let next = current
  for (const list of lists) {
    if (list.offers.length === 0) throw new CatalogError([`${list.source} lists no offer in a form that is known.`])
    warnings.push(...list.warnings)
    next = mergeOffers(next, list, { today, kept, warnings })
  }
  next = withShutdowns(withRouterFacts(next), readOpenAiShutdowns(sources.openai))
  const corrected = applyCorrections(next, corrections)
  warnings.push(...corrected.warnings)
  const before = offersByKey(current)
  const opinion = sources['genai-prices']
  const lookup = opinion === undefined ? undefined : readGenaiPrices(opinion)
  const checked = lookup ? withSecondOpinion(corrected.catalog, lookup, { today, before, warnings }) : corrected.catalog
  const steady = withoutSuddenChanges(checked, { today, before, lookup, warnings })
  // Corrections also override the second opinion, and what stays because it changed suddenly.
  const final = applyCorrections(steady, corrections).catalog
  return readCatalog(withWireNames({ ...final, asOf: lists.length > 0 ? today : current.asOf }))
}

function withShutdowns(catalog: Catalog, shutdowns: ReadonlyMap<string, string>): Catalog {
  if (shutdowns.size === 0) return catalog
  const models = catalog.models.map(model => ({
    ...model,
    offers: model.offers.map(offer => {
      const end = offer.provider === 'openai' ? shutdowns.get(offer.model) : undefined
      return end === undefined ? offer : { ...offer, retiresAt: end }
    }),
  }))
  return { ...catalog, models }
}

/** OpenRouter forwards prompts to hosts with their own data policies. */
function withRouterFacts(catalog: Catalog): Catalog {
  const sells = catalog.models.some(({ offers }) => offers.some(({ provider }) => provider === 'openrouter'))
  if (!sells || catalog.providers.some(({ id }) => id === 'openrouter')) return catalog
  const facts = {
    id: 'openrouter',
    displayName: 'OpenRouter',
    dataPolicy: 'unknown',
    docsURL: 'https://openrouter.ai/docs',
    env: ['OPENROUTER_API_KEY'],
  } as const
  return { ...catalog, providers: [...catalog.providers, facts] }
}
