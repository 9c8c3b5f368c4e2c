import type { ApiKeys, Provider, ProviderDialect, Quirks } from '@signalbox/dialects/protocol'
import { type BuiltInDialect, providerDialects } from '@signalbox/dialects/providers'
import type { OptionTableOf } from '@signalbox/storage/option-table'
import { defineProvider } from './define-provider.ts'
import { providerOptions } from './provider-options.ts'

/** Options of `compatible`. */
export interface CompatibleOptions<Id extends string = string> {
  /** Provider id, as referenced by offers. */
  readonly id: Id
  /** API base URL, including the version, as in `http://127.0.0.1:11434/v1`. */
  readonly baseURL: string
  /** API key, or several of different accounts. Default: no key is sent. */
  readonly apiKey?: ApiKeys
  /** The APIs that the server has: `chat` (Chat Completions), `responses`, `messages`, `gemini` or `bedrock`. Default: `['chat']`. */
  readonly apis?: readonly BuiltInDialect[]
  /** How the server departs from its dialects. */
  readonly quirks?: Quirks
  /** What the server does with prompts: `zdr`, `no_training`, `may_train` or `unknown`. Default: `unknown`. */
  readonly dataPolicy?: string
  /** Whether workspaces may bring their own keys. If false, `GET /v1/byok/providers` omits the provider. Default: true. */
  readonly byok?: boolean
}

const compatibleOptions: OptionTableOf<CompatibleOptions> = {
  id: 'text',
  baseURL: 'text',
  apiKey: 'text or texts',
  apis: 'list',
  quirks: 'object',
  dataPolicy: 'text',
  byok: 'flag',
}

/**
 * Creates a provider for any server that supports a built-in dialect: a gateway, a proxy, or a vendor that has no built-in provider.
 *
 * @throws {TypeError} `id` or `baseURL` is missing, or `apis` names an unknown API.
 * @example compatible({ id: 'local', baseURL: 'http://127.0.0.1:8000/v1' })
 */
export function compatible<const Id extends string>(options: CompatibleOptions<Id>): Provider<Id> {
  const { id } = options
  const { baseURL, apiKey = '', apis = ['chat'], quirks, dataPolicy, byok } = providerOptions('compatible', options, compatibleOptions)
  if (!id || !baseURL)
    throw new TypeError(
      `compatible: \`${id ? 'baseURL' : 'id'}\` is missing, as in compatible({ id: 'local', baseURL: 'http://127.0.0.1:8000/v1' }).`,
    )
  const dialects = apis.map((name): ProviderDialect => {
    if (Object.hasOwn(providerDialects, name)) return providerDialects[name]
    throw new TypeError(
      `The provider "${id}" has "${name}" among its \`apis\`, which is not known. Known are ${Object.keys(providerDialects).join(', ')}.`,
    )
  })
  return defineProvider({
    id,
    baseURL,
    dialects,
    apiKey,
    keyHeaders: Object.fromEntries(dialects.flatMap(({ name, keyHeader }) => (keyHeader === undefined ? [] : [[name, keyHeader]]))),
    dataPolicy,
    byok,
    check: '/models',
    quirks: { maxTokensField: 'max_tokens', ...quirks },
  })
}
