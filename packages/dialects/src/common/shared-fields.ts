import type { Quirks } from '../protocol/model.ts'
import type { Native } from '../protocol/tool.ts'
import type { DialectName, Json } from '../protocol/wire.ts'

interface NativeFields {
  /** The fields that are sent. */
  readonly shared: readonly (readonly [field: string, value: Json])[]
  /** Names of the fields that are left out. */
  readonly lost: readonly string[]
}

interface Vendor {
  /** The dialect of the provider, which is sent all fields of its clients. */
  readonly own: DialectName
  /** The other API of the same vendor, of which an offer may share fields. */
  readonly sibling: DialectName
  readonly quirks: Quirks
}

/** Splits fields that no prompt has. */
export function splitNativeFields(native: Native | undefined, { own, sibling, quirks }: Vendor): NativeFields {
  const shared: (readonly [string, Json])[] = []
  const lost: string[] = []
  const isSibling = native?.dialect === sibling
  for (const [field, value] of Object.entries(native?.body ?? {})) {
    if (native?.dialect !== own && !(isSibling && quirks.sharedFields?.includes(field))) lost.push(field)
    else if (value !== undefined) shared.push([field, value])
  }
  return { shared, lost }
}
