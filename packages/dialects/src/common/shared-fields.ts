import type { Quirks } from '../protocol/model.ts'
import type { Native } from '../protocol/tool.ts'
import type { DialectName, Json } from '../protocol/wire.ts'

interface NativeFields {
  /** The fields that are sent. */
  readonly shared: readonly (readonly [field: string, value: Json])[]
  /** Names of the fields that are left out. */
  readonly lost: readonly string[]
}

const noFields: NativeFields = { shared: [], lost: [] }

/** Splits fields of a client of another dialect. `sibling`: the other API of the same vendor, of which an offer may share fields. */
export function splitNativeFields(native: Native | undefined, sibling: DialectName, { sharedFields = [] }: Quirks): NativeFields {
  if (!native) return noFields
  const isShared = (field: string): boolean => native.dialect === sibling && sharedFields.includes(field)
  const fields = Object.entries(native.body)
  return {
    shared: fields.flatMap(([field, value]) => (isShared(field) && value !== undefined ? [[field, value] as const] : [])),
    lost: fields.flatMap(([field]) => (isShared(field) ? [] : field)),
  }
}
