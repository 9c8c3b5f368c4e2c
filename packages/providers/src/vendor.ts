import type { ApiKeys, Provider } from '@signalbox/dialects/protocol'
import { type BuiltInDialect, providerDialects } from '@signalbox/dialects/providers'
import type { OptionTableOf } from '@signalbox/storage/option-table'
import { defineProvider, type ProviderRow } from './define-provider.ts'
import { providerOptions } from './provider-options.ts'

/** A vendor with an OpenAI-compatible API, and the quirks of that API. */
export interface VendorRow<Id extends string = string>
  extends Pick<
    ProviderRow<Id>,
    'id' | 'displayName' | 'baseURL' | 'paths' | 'quirks' | 'quirksOf' | 'dataPolicy' | 'hostSurcharges' | 'check'
  > {
  readonly apis: readonly BuiltInDialect[]
  /** Set for self-hosted servers that need no API key. */
  readonly keyless?: boolean
  /** Set for hosts of other vendors' models. */
  readonly isHost?: boolean
  /** Environment variables that may hold the API key; the first one that is set is used. Only the standalone server reads them. */
  readonly apiKeyVariables?: readonly string[]
  /** Environment variables that may hold the URL of a self-hosted server. */
  readonly baseURLVariables?: readonly string[]
}

/** Creates the provider of a vendor. `row` is the vendor's definition. */
export interface VendorFactory<Id extends string = string> {
  (options?: VendorOptions): Provider<Id>
  readonly row: VendorRow<Id>
}

/** Options of a built-in vendor. */
export interface VendorOptions {
  /**
   * API key, or several of different accounts, as in `apiKey: ['sk-one', 'sk-two']`. Without one, the provider is listed but disabled, unless
   * it is a self-hosted server.
   */
  readonly apiKey?: ApiKeys | undefined
  /** API base URL, including the version. Default: the vendor's own. */
  readonly baseURL?: string | undefined
}

export const vendorOptions: OptionTableOf<VendorOptions> = { apiKey: 'text or texts', baseURL: 'text' }

/** Creates the factory function of an OpenAI-compatible vendor. */
export const vendor = <const Id extends string>(row: VendorRow<Id>): VendorFactory<Id> =>
  Object.assign((options: VendorOptions = {}) => makeVendor(row, providerOptions(row.id, options, vendorOptions)), { row })

/** Whether a value is the factory function of a vendor. */
export const isVendor = (value: unknown): value is VendorFactory => typeof value === 'function' && 'row' in value

/** Creates an OpenAI-compatible provider. `extra`: account facts other than the key. */
export const makeVendor = <const Id extends string>(
  { apis, keyless = false, ...row }: VendorRow<Id>,
  { apiKey = keyless ? '' : undefined, baseURL = row.baseURL, extra }: VendorOptions & Pick<ProviderRow, 'extra'>,
): Provider<Id> =>
  defineProvider({
    ...row,
    baseURL,
    apiKey,
    extra,
    dialects: apis.map(name => providerDialects[name]),
  })
