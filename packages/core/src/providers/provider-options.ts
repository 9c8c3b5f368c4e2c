import { checkOptionTable, type OptionTableOf } from '../errors/option-table.ts'

/**
 * The options of a provider, checked. One that is `''` counts as absent, as an environment variable does that is set to nothing; but
 * beside a `baseUrl`, an `apiKey` of `''` means that the server there asks for none.
 *
 * @throws {TypeError} An option is unknown, or has a value that it does not take.
 * @example const { apiKey, baseUrl } = providerOptions('openai', given, vendorOptions)
 */
export function providerOptions<Options extends object>(call: string, given: Options, table: OptionTableOf<Options>): Options {
  checkOptionTable({ call }, given, table)
  const isKeyless = 'baseUrl' in given && given.baseUrl !== undefined && given.baseUrl !== ''
  return Object.fromEntries(Object.entries(given).filter(([name, value]) => value !== '' || (isKeyless && name === 'apiKey'))) as Options
}
