import { checkOptionTable, type OptionTableOf } from '@signalbox/storage/option-table'

/**
 * Checks the options of a provider. `''` counts as undefined, because an unset environment variable may be an empty string. Exception: with
 * a `baseUrl`, an `apiKey` of `''` means that the server needs no key.
 *
 * @throws {TypeError} An option is unknown or has an invalid value.
 * @example const { apiKey, baseUrl } = providerOptions('openai', given, vendorOptions)
 */
export function providerOptions<Options extends object>(call: string, given: Options, table: OptionTableOf<Options>): Options {
  checkOptionTable({ call }, given, table)
  const isKeyless = 'baseUrl' in given && given.baseUrl !== undefined && given.baseUrl !== ''
  return Object.fromEntries(Object.entries(given).filter(([name, value]) => value !== '' || (isKeyless && name === 'apiKey'))) as Options
}
