import type { Logger } from '@signalbox/core/runtime'
import { GatewayError } from '@signalbox/dialects/errors'
import { similarNames } from '@signalbox/storage/similar-names'
import type { ModelDirectory } from './models.ts'

// Provider and model names in the settings of a workspace. An unknown name in a list would protect nothing, or allow nothing.

export type Directory = Pick<ModelDirectory, 'providers' | 'find' | 'similarNames'>

/** The lists of names, and the kind of each. */
const lists = {
  allowedProviders: 'provider',
  blockedProviders: 'provider',
  allowedModels: 'model',
  models: 'model',
  order: 'provider',
  only: 'provider',
  ignore: 'provider',
} as const

type NamedList = keyof typeof lists
export type NamedLists = { readonly [List in NamedList]?: readonly string[] | null | undefined }

/** A stored name that this gateway no longer has. */
export interface NameWarning {
  readonly code: 'unknown_name'
  readonly message: string
  /** The place of the name, as in `blockedProviders[0]`. */
  readonly param: string
}

const maxShown = 20

function knownIn(directory: Directory, list: NamedList): (name: string) => boolean {
  if (lists[list] === 'model') return name => directory.find(name) !== undefined
  const ids = new Set(directory.providers().map(({ id }) => id))
  return name => ids.has(name)
}

/** What the check needs of a managed workspace. */
interface Managed {
  readonly models: Directory
  readonly isForSetup: boolean
  readonly logger: Logger
  readonly workspaceId: string
}

/**
 * Throws for the first unknown name that was not in the list `before`. In `setup` the lists that the workspace has now do not matter: an
 * unknown provider is always an error, and an unknown model, which a new catalog may have removed, always a warning in the log.
 */
export function checkKnown(managed: Managed, given: NamedLists, before: NamedLists): void {
  const { models: directory, isForSetup, logger, workspaceId } = managed
  for (const [list, names] of Object.entries(given) as [NamedList, readonly string[] | null | undefined][]) {
    if (!names) continue
    const isKnown = knownIn(directory, list)
    const at = names.findIndex(name => !isKnown(name) && (isForSetup || before[list]?.includes(name) !== true))
    if (at < 0) continue
    const error = unknownNameError(directory, list, { name: names[at] ?? '', at })
    if (!isForSetup || lists[list] !== 'model') throw error
    logger.warn({ workspaceId }, `In \`setup\`: ${error.message}`)
  }
}

/** One warning for each unknown name. */
export function warningsOf(directory: Directory, laidDown: NamedLists): readonly NameWarning[] {
  return (Object.entries(laidDown) as [NamedList, readonly string[] | null | undefined][]).flatMap(([list, names]) => {
    if (!names || names.length === 0) return []
    const isKnown = knownIn(directory, list)
    return names.flatMap((name, index): readonly NameWarning[] =>
      isKnown(name)
        ? []
        : [{ code: 'unknown_name', message: `This gateway no longer has the ${lists[list]} ${quoted(name)}.`, param: `${list}[${index}]` }],
    )
  })
}

function unknownNameError(
  directory: Directory,
  list: NamedList,
  { name, at }: { readonly name: string; readonly at: number },
): GatewayError {
  const param = `${list}[${at}]`
  const kind = lists[list]
  const ids = kind === 'model' ? [] : directory.providers().map(({ id }) => id)
  const [near] = kind === 'model' ? directory.similarNames(name) : similarNames(name, ids)
  const suggestion = near === undefined ? undefined : `Did you mean "${near}"?`
  const has = ids.length > 0 ? ` It has: ${ids.slice(0, maxShown).join(', ')}${ids.length > maxShown ? ', …' : ''}.` : ''
  return new GatewayError('invalid_parameter_value', {
    message: `\`${param}\` names the ${kind} ${quoted(name)}, which this gateway does not have.${suggestion === undefined ? has : ` ${suggestion}`}`,
    param,
    ...(suggestion !== undefined && { suggestion }),
  })
}

const quoted = (name: string): string => JSON.stringify(name.slice(0, 200))
