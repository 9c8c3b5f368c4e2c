import { nearestOf } from '@signalbox/storage/nearest'
import { GatewayError } from '../errors/gateway-error.ts'
import type { ModelDirectory } from './models.ts'

// Names of providers and models in what a workspace lays down. A name that nothing has would protect nothing, or let nothing through.

export type Directory = Pick<ModelDirectory, 'providers' | 'find' | 'nearest'>

/** The lists of names, and what they name. */
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

/** A name that was known when it was laid down, and is no more. */
export interface NameWarning {
  readonly code: 'unknown_name'
  readonly message: string
  /** As in `blockedProviders[0]`. */
  readonly param: string
}

const maxShown = 20

function knownIn(directory: Directory, list: NamedList): (name: string) => boolean {
  if (lists[list] === 'model') return name => directory.find(name) !== undefined
  const ids = new Set(directory.providers().map(({ id }) => id))
  return name => ids.has(name)
}

/** Throws for the first name that is not known and was not in the list `before`. */
export function checkKnown(directory: Directory, given: NamedLists, before: NamedLists): void {
  for (const [list, names] of Object.entries(given) as [NamedList, readonly string[] | null | undefined][]) {
    if (!names) continue
    const isKnown = knownIn(directory, list)
    const at = names.findIndex(name => !isKnown(name) && before[list]?.includes(name) !== true)
    if (at >= 0) throw unknown(directory, list, { name: names[at] ?? '', at })
  }
}

/** One warning for each name that is not known. */
export function warningsOf(directory: Directory, laidDown: NamedLists): readonly NameWarning[] {
  return (Object.entries(laidDown) as [NamedList, readonly string[] | null | undefined][]).flatMap(([list, names]) => {
    if (!names || names.length === 0) return []
    const isKnown = knownIn(directory, list)
    return names.flatMap((name, at): readonly NameWarning[] =>
      isKnown(name)
        ? []
        : [{ code: 'unknown_name', message: `This gateway no longer has the ${lists[list]} ${quoted(name)}.`, param: `${list}[${at}]` }],
    )
  })
}

function unknown(directory: Directory, list: NamedList, { name, at }: { readonly name: string; readonly at: number }): GatewayError {
  const param = `${list}[${at}]`
  const kind = lists[list]
  const ids = kind === 'model' ? [] : directory.providers().map(({ id }) => id)
  const [near] = kind === 'model' ? directory.nearest(name) : nearestOf(name, ids)
  const suggestion = near === undefined ? undefined : `Did you mean "${near}"?`
  const has = ids.length > 0 ? ` It has: ${ids.slice(0, maxShown).join(', ')}${ids.length > maxShown ? ', …' : ''}.` : ''
  return new GatewayError('invalid_parameter_value', {
    message: `\`${param}\` names the ${kind} ${quoted(name)}, which this gateway does not have.${suggestion === undefined ? has : ` ${suggestion}`}`,
    param,
    ...(suggestion !== undefined && { suggestion }),
  })
}

const quoted = (name: string): string => JSON.stringify(name.slice(0, 200))
