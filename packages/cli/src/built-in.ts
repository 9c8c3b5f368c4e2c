import type { Provider } from '@signalbox/core/protocol'
import * as known from '@signalbox/core/providers'
import type { Access, Reachable } from './access.ts'

/** A provider that is known by name. */
export interface BuiltIn extends Reachable {
  readonly id: string
  /** Once listed in the config it is on: it asks for nothing. */
  readonly asksNothing?: boolean
  readonly make: (access: Access) => Provider
}

interface Options {
  readonly apiKey?: string | undefined
  readonly baseUrl?: string
}

const optionsOf = ({ api_key, base_url }: Access): Options => ({
  ...(api_key !== undefined && { apiKey: api_key }),
  ...(base_url !== undefined && { baseUrl: base_url }),
})

/** The common case: a key, and an address that may be another one. */
const keyed = (id: string, make: (options: Options) => Provider, ...variables: readonly string[]): BuiltIn => ({
  id,
  fields: { api_key: variables, base_url: [] },
  ways: [['api_key']],
  make: access => make(optionsOf(access)),
})

/** A server of one's own: on where somebody says that it is there. */
const own = (id: string, make: (options: Options) => Provider, prefix: string): BuiltIn => ({
  id,
  fields: { base_url: [`${prefix}_BASE_URL`], api_key: [`${prefix}_API_KEY`] },
  ways: [['base_url']],
  asksNothing: true,
  make: access => make(optionsOf(access)),
})

/** Whom we can speak to, in the order in which equals are tried, and the variables that turn them on. */
export const builtIns: readonly BuiltIn[] = [
  keyed('openai', known.openai, 'OPENAI_API_KEY'),
  keyed('xai', known.xai, 'XAI_API_KEY'),
  keyed('mistral', known.mistral, 'MISTRAL_API_KEY'),
  keyed('deepseek', known.deepseek, 'DEEPSEEK_API_KEY'),
  keyed('moonshotai', known.moonshot, 'MOONSHOT_API_KEY'),
  keyed('zai', known.zai, 'ZAI_API_KEY', 'ZHIPU_API_KEY'),
  keyed('minimax', known.minimax, 'MINIMAX_API_KEY'),
  keyed('alibaba', known.alibaba, 'DASHSCOPE_API_KEY'),
  keyed('meta', known.meta, 'META_MODEL_API_KEY'),
  keyed('cohere', known.cohere, 'COHERE_API_KEY'),
  keyed('perplexity', known.perplexity, 'PERPLEXITY_API_KEY'),
  keyed('groq', known.groq, 'GROQ_API_KEY'),
  keyed('cerebras', known.cerebras, 'CEREBRAS_API_KEY'),
  keyed('fireworks', known.fireworks, 'FIREWORKS_API_KEY'),
  keyed('together', known.together, 'TOGETHER_API_KEY'),
  keyed('deepinfra', known.deepinfra, 'DEEPINFRA_API_KEY'),
  {
    id: 'cloudflare-workers-ai',
    fields: { api_key: ['CLOUDFLARE_API_KEY'], account_id: ['CLOUDFLARE_ACCOUNT_ID'], base_url: [] },
    ways: [['api_key', 'account_id']],
    make: access => known.cloudflare({ ...optionsOf(access), accountId: access.account_id }),
  },
  keyed('nebius', known.nebius, 'NEBIUS_API_KEY'),
  keyed('novita', known.novita, 'NOVITA_API_KEY'),
  keyed('baseten', known.baseten, 'BASETEN_API_KEY'),
  keyed('nvidia', known.nvidia, 'NVIDIA_API_KEY'),
  keyed('openrouter', known.openrouter, 'OPENROUTER_API_KEY'),
  own('ollama', known.ollama, 'OLLAMA'),
  own('vllm', known.vllm, 'VLLM'),
  own('lm-studio', known.lmStudio, 'LM_STUDIO'),
]
