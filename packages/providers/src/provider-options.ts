import { checkOptionTable, checkUnquoted, type OptionTableOf } from '@signalbox/storage/option-table'

/**
 * Checks the options of a provider. `''` counts as undefined, because an unset environment variable may be an empty string. Exception: with
 * a `baseURL`, an `apiKey` of `''` means that the server needs no key.
 *
 * @throws {TypeError} An option is unknown or has an invalid value, is in quotes, or is the URL of an endpoint instead of the base URL.
 * @example const { apiKey, baseURL } = providerOptions('openai', given, vendorOptions)
 */
export function providerOptions<Options extends object>(call: string, given: Options, table: OptionTableOf<Options>): Options {
  checkOptionTable({ call }, given, table)
  checkUnquoted(call, given)
  for (const [name, value] of Object.entries(given)) if (/URL$/.test(name) && typeof value === 'string') checkBaseUrl(call, name, value)
  const isKeyless = 'baseURL' in given && given.baseURL !== undefined && given.baseURL !== ''
  return Object.fromEntries(Object.entries(given).filter(([name, value]) => value !== '' || (isKeyless && name === 'apiKey'))) as Options
}

/** The ends of the URLs that calls go to, in every dialect. */
const endpointPath =
  /\/(?:chat\/completions|responses|messages|models\/[^/]{1,200}:\w{1,40}|model\/[^/]{1,200}\/(?:converse|invoke)[\w-]{0,40})\/*$/

function checkBaseUrl(call: string, name: string, value: string): void {
  const found = URL.canParse(value) ? endpointPath.exec(new URL(value).pathname)?.[0] : undefined
  if (found === undefined) return
  const { origin, pathname } = new URL(value)
  throw new TypeError(
    `${call}: \`${name}\` ends with "${found}", which each call adds itself; it takes "${origin}${pathname.slice(0, -found.length)}".`,
  )
}
