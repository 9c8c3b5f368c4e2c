import { chatProvider, responsesProvider } from '../dialects/index.ts'
import type { ProviderDialect } from '../protocol/dialect.ts'
import type { Quirks } from '../protocol/model.ts'
import type { Provider } from '../protocol/provider.ts'
import { defineProvider } from './define-provider.ts'

export interface CompatibleOptions {
  readonly id: string
  /** Up to and including the version, as in `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string
  /** Default: none is sent. */
  readonly apiKey?: string
  /** Default: `['chat']`. */
  readonly speaks?: readonly ('chat' | 'responses')[]
  readonly quirks?: Quirks
  readonly data_policy?: string
}

const languages: Readonly<Record<'chat' | 'responses', { readonly path: string; readonly dialect: ProviderDialect }>> = {
  chat: { path: '/chat/completions', dialect: chatProvider },
  responses: { path: '/responses', dialect: responsesProvider },
}

/**
 * Any server that speaks Chat Completions or Responses: Ollama, vLLM, LM Studio, a gateway, a vendor without a row of its own.
 *
 * @example compatible({ id: 'local', baseUrl: 'http://127.0.0.1:11434/v1' })
 */
export const compatible = ({ id, baseUrl, apiKey = '', speaks = ['chat'], quirks, data_policy }: CompatibleOptions): Provider =>
  defineProvider({
    id,
    baseUrl,
    paths: Object.fromEntries(speaks.map(name => [name, languages[name].path])),
    dialects: speaks.map(name => languages[name].dialect),
    apiKey,
    data_policy,
    quirks: { max_tokens_field: 'max_tokens', ...quirks },
  })
