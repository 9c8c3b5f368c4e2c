import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'

// Finds the definitions of a JSON schema, and which of them are recursive.

/** The definitions of the root, by their `$ref` address. `#` is the schema itself. */
export function definitionsOf(schema: JsonObject): ReadonlyMap<string, Json> {
  const found = new Map<string, Json>([['#', schema]])
  for (const holder of ['$defs', 'definitions'] as const) {
    const defs = schema[holder]
    if (isObject(defs))
      for (const [name, each] of Object.entries(defs)) if (each !== undefined) found.set(`#/${holder}/${escaped(name)}`, each)
  }
  return found
}

const escaped = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')
export const definitionName = (address: string): string => address.slice(address.lastIndexOf('/') + 1)

interface Visit {
  readonly address: string
  readonly targets: readonly string[]
  /** Index of the next target to visit. */
  next: number
}

interface Search {
  readonly order: Map<string, number>
  /** The earliest address on the path that each one leads back to, as its position in the order. */
  readonly earliest: Map<string, number>
  /** Addresses whose component is incomplete. */
  readonly open: string[]
  readonly isOpen: Set<string>
  readonly looping: Set<string>
}

/**
 * Definitions that refer back to themselves through a chain of references: the strongly connected components (Tarjan), visiting each
 * reference once. Uses an explicit stack, because the client controls the length of the chains.
 */
export function loopsIn(definitions: ReadonlyMap<string, Json>): ReadonlySet<string> {
  const search: Search = { order: new Map(), earliest: new Map(), open: [], isOpen: new Set(), looping: new Set() }
  for (const address of definitions.keys()) {
    if (search.order.has(address)) continue
    const path: Visit[] = [enterVisit(address, definitions, search)]
    for (let visit = path.at(-1); visit !== undefined; visit = path.at(-1)) {
      const target = visit.targets[visit.next++]
      if (target === undefined) {
        path.pop()
        leaveVisit(visit, path.at(-1), search)
      } else if (!search.order.has(target)) path.push(enterVisit(target, definitions, search))
      else if (search.isOpen.has(target)) lower(visit.address, search.order.get(target), search)
    }
  }
  return search.looping
}

function enterVisit(address: string, definitions: ReadonlyMap<string, Json>, { order, earliest, open, isOpen, looping }: Search): Visit {
  const targets = referencesIn(definitions.get(address)).filter(target => definitions.has(target))
  earliest.set(address, order.size)
  order.set(address, order.size)
  open.push(address)
  isOpen.add(address)
  if (targets.includes(address)) looping.add(address)
  return { address, targets, next: 0 }
}

/** When the first address of a component is left, the whole component is on top of the open ones. */
function leaveVisit({ address }: Visit, parent: Visit | undefined, search: Search): void {
  const { order, earliest, open, isOpen, looping } = search
  if (earliest.get(address) === order.get(address)) {
    const component = open.splice(open.lastIndexOf(address))
    for (const each of component) {
      isOpen.delete(each)
      if (component.length > 1) looping.add(each)
    }
  }
  if (parent) lower(parent.address, earliest.get(address), search)
}

function lower(address: string, place: number | undefined, { earliest }: Search): void {
  const known = earliest.get(address)
  if (place !== undefined && known !== undefined && place < known) earliest.set(address, place)
}

/** Uses an explicit stack instead of recursion, because the client controls the depth of the schema. */
function referencesIn(schema: Json | undefined): readonly string[] {
  const found = new Set<string>()
  const left: (Json | undefined)[] = [schema]
  while (left.length > 0) {
    const next = left.pop()
    if (Array.isArray(next)) for (const each of next as readonly Json[]) left.push(each)
    else if (isObject(next)) {
      if (typeof next.$ref === 'string') found.add(next.$ref)
      for (const each of Object.values(next)) left.push(each)
    }
  }
  return [...found]
}
