import { providerDialects } from '../dialects/index.ts'
import type { Quirks } from '../protocol/model.ts'
import type { Provider } from '../protocol/provider.ts'
import { defineProvider, type Path } from './define-provider.ts'

/** The languages that a server of one's own may speak. */
export type Spoken = 'responses' | 'chat' | 'messages' | 'gemini' | 'bedrock'

export interface CompatibleOptions {
  readonly id: string
  /** Up to and including the version, as in `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string
  /** Default: none is sent. */
  readonly apiKey?: string
  /** Default: `['chat']`. */
  readonly speaks?: readonly Spoken[]
  readonly quirks?: Quirks
  readonly data_policy?: string
}

/** Where each language is spoken below the base URL. */
export const usualPaths: Readonly<Record<Spoken, Path>> = {
  responses: '/responses',
  chat: '/chat/completions',
  messages: '/messages',
  gemini: ({ model, stream }) => `/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  bedrock: ({ model, stream }) => `/model/${encodeURIComponent(model)}/${stream ? 'converse-stream' : 'converse'}`,
}

/** Two languages have a header of their own for a key. */
const keyHeaders = { messages: 'x-api-key', gemini: 'x-goog-api-key' }

/**
 * Any server that speaks one of our languages: a gateway, a proxy, a vendor without a row of its own.
 *
 * @example compatible({ id: 'local', baseUrl: 'http://127.0.0.1:8000/v1' })
 */
export const compatible = ({ id, baseUrl, apiKey = '', speaks = ['chat'], quirks, data_policy }: CompatibleOptions): Provider =>
  defineProvider({
    id,
    baseUrl,
    paths: usualPaths,
    dialects: speaks.flatMap(name => providerDialects[name] ?? []),
    apiKey,
    keyHeaders,
    data_policy,
    check: '/models',
    quirks: { max_tokens_field: 'max_tokens', ...quirks },
  })
