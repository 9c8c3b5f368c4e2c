import { type BuiltInDialect, providerDialects } from '../dialects/index.ts'
import type { OptionTableOf } from '../errors/option-table.ts'
import type { ProviderDialect } from '../protocol/dialect.ts'
import type { Quirks } from '../protocol/model.ts'
import type { Provider } from '../protocol/provider.ts'
import { defineProvider } from './define-provider.ts'
import { providerOptions } from './provider-options.ts'

/** The options of `compatible`. */
export interface CompatibleOptions<Id extends string = string> {
  /** Id of the provider, which offers name. */
  readonly id: Id
  /** Up to and including the version, as in `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string
  /** The key. Default: none is sent. */
  readonly apiKey?: string
  /** Dialects of the server. Default: `['chat']`. */
  readonly speaks?: readonly BuiltInDialect[]
  /** What the server does otherwise than its dialects say. */
  readonly quirks?: Quirks
  /** What it does with prompts: `zdr`, `no_training`, `may_train` or `unknown`. Default: `unknown`. */
  readonly data_policy?: string
  /** Whether workspaces may bring keys of their own for it; else `GET /v1/byok/providers` leaves it out. Default: true. */
  readonly byok?: boolean
}

const compatibleOptions: OptionTableOf<CompatibleOptions> = {
  id: 'text',
  baseUrl: 'text',
  apiKey: 'text',
  speaks: 'list',
  quirks: 'object',
  data_policy: 'text',
  byok: 'flag',
}

/**
 * Any server that speaks one of our languages: a gateway, a proxy, a vendor without a row of its own.
 *
 * @throws {TypeError} `id` or `baseUrl` is missing, or `speaks` names a dialect that does not exist
 * @example compatible({ id: 'local', baseUrl: 'http://127.0.0.1:8000/v1' })
 */
export function compatible<const Id extends string>(options: CompatibleOptions<Id>): Provider<Id> {
  const { id } = options
  const { baseUrl, apiKey = '', speaks = ['chat'], quirks, data_policy, byok } = providerOptions('compatible', options, compatibleOptions)
  if (!id || !baseUrl)
    throw new TypeError(
      `compatible: \`${id ? 'baseUrl' : 'id'}\` is missing, as in compatible({ id: 'local', baseUrl: 'http://127.0.0.1:8000/v1' }).`,
    )
  const dialects = speaks.map((name): ProviderDialect => {
    if (Object.hasOwn(providerDialects, name)) return providerDialects[name]
    throw new TypeError(
      `The provider "${id}" speaks "${name}", which is no dialect; there are ${Object.keys(providerDialects).join(', ')}.`,
    )
  })
  return defineProvider({
    id,
    baseUrl,
    dialects,
    apiKey,
    keyHeaders: Object.fromEntries(dialects.flatMap(({ name, keyHeader }) => (keyHeader === undefined ? [] : [[name, keyHeader]]))),
    data_policy,
    byok,
    check: '/models',
    quirks: { max_tokens_field: 'max_tokens', ...quirks },
  })
}
