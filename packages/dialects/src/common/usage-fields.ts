import type { HostedTool } from '../protocol/model.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'

// What each dialect reads of the usage that a provider reports, and what it leaves out. Counts that are in neither may cost money and are
// logged.

/** The fields in which a dialect counts tokens. The first that is set is used; a dot goes one level down. */
export interface UsageFields {
  readonly input: readonly string[]
  /** Counts that are not part of the provider's `input` but of ours. */
  readonly inputBeside?: readonly string[]
  readonly output: readonly string[]
  readonly outputBeside?: readonly string[]
  readonly cached: readonly string[]
  readonly cacheWrite: readonly string[]
  /** Cache writes with a longer lifetime. */
  readonly longWrite?: readonly string[]
  readonly reasoning: readonly string[]
  /** Uncached audio input. */
  readonly audio?: readonly string[]
  /** Calls of provider-run tools. */
  readonly hosted?: { readonly [Tool in HostedTool]?: readonly string[] }
  /** Default: `total_tokens`. */
  readonly total?: string
  /** Fields that are not read, each with the reason. A name stands for everything in it. */
  readonly unbilled: Readonly<Record<string, string>>
}

/** A provider may send any number of fields. */
const maxUnread = 5
const isFieldName = /^[A-Za-z]\w{0,60}$/

const knownNames = new WeakMap<UsageFields, ReadonlySet<string>>()

/** The names that a dialect reads or leaves out on purpose, with those of the objects that hold them. */
export function usageFieldsOf(fields: UsageFields): ReadonlySet<string> {
  const known = knownNames.get(fields)
  if (known) return known
  const { hosted = {}, total = 'total_tokens', unbilled, ...lists } = fields
  const names = new Set([
    total,
    ...Object.keys(unbilled),
    ...Object.values(lists).flatMap(list => [...list]),
    ...Object.values(hosted).flatMap(list => [...list]),
  ])
  knownNames.set(fields, names)
  return names
}

/**
 * Fields with a count that is neither read nor left out on purpose: `['input_tokens_details.warp_tokens']`. Undefined if none. `rest`: tokens
 * of the total that no part has.
 */
export function unreadFields(wire: JsonObject, fields: UsageFields, rest: number): readonly string[] | undefined {
  const known = usageFieldsOf(fields)
  let unread: string[] | undefined = rest > 0 ? [fields.total ?? 'total_tokens'] : undefined
  const look = (name: string, value: Json | undefined): void => {
    if (typeof value !== 'number' || value === 0 || known.has(name) || (unread?.length ?? 0) >= maxUnread) return
    unread = [...(unread ?? []), name]
  }
  for (const field in wire) {
    if (!isFieldName.test(field) || known.has(field)) continue
    const value = wire[field]
    if (isObject(value)) {
      for (const inner in value) if (isFieldName.test(inner)) look(`${field}.${inner}`, value[inner])
    } else look(field, value)
  }
  return unread
}
