import { type BuiltInDialect, providerDialects } from '../dialects/index.ts'
import type { OptionTableOf } from '../errors/option-table.ts'
import type { Provider } from '../protocol/provider.ts'
import { defineProvider, type ProviderRow } from './define-provider.ts'
import { providerOptions } from './provider-options.ts'

/** A vendor whose surface is OpenAI's, and how it departs from it. */
export interface VendorRow<Id extends string = string>
  extends Pick<
    ProviderRow<Id>,
    'id' | 'display_name' | 'baseUrl' | 'paths' | 'quirks' | 'quirksOf' | 'data_policy' | 'hostSurcharges' | 'check'
  > {
  readonly speaks: readonly BuiltInDialect[]
  /** A server of one's own, which asks for no key. */
  readonly keyless?: boolean
}

/** The options of a built-in vendor. */
export interface VendorOptions {
  /** Absent: the provider is known, and off. A server of one's own is on without. */
  readonly apiKey?: string | undefined
  /** Address of the API, with its version. Default: the vendor's own. */
  readonly baseUrl?: string | undefined
}

export const vendorOptions: OptionTableOf<VendorOptions> = { apiKey: 'text', baseUrl: 'text' }

/** Makes the factory of a vendor with OpenAI's surface from its row. */
export const vendor =
  <const Id extends string>(row: VendorRow<Id>): ((options?: VendorOptions) => Provider<Id>) =>
  (options = {}) =>
    makeVendor(row, providerOptions(row.id, options, vendorOptions))

/** `extra`: what belongs to the account beside its key. */
export const makeVendor = <const Id extends string>(
  { speaks, keyless = false, ...row }: VendorRow<Id>,
  { apiKey = keyless ? '' : undefined, baseUrl = row.baseUrl, extra }: VendorOptions & Pick<ProviderRow, 'extra'>,
): Provider<Id> =>
  defineProvider({
    ...row,
    baseUrl,
    apiKey,
    ...(extra && { extra }),
    dialects: speaks.map(name => providerDialects[name]),
  })
