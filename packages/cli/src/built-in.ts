import type { Provider } from '@signalbox/core/protocol'
import * as known from '@signalbox/core/providers'
import type { Access, ProviderAccess } from './access.ts'
import { readServiceAccount } from './service-account.ts'

/** A provider that can be configured by its id alone. */
export interface BuiltIn extends ProviderAccess {
  readonly id: string
  /** Whether no field is required: it is enabled once the config lists it. */
  readonly needsNoAccess?: boolean
  readonly make: (access: Access) => Provider
}

interface KeyAndUrl {
  readonly apiKey?: string | undefined
  readonly baseUrl?: string
}

const optionsOf = ({ api_key, base_url }: Access): KeyAndUrl => ({
  ...(api_key !== undefined && { apiKey: api_key }),
  ...(base_url !== undefined && { baseUrl: base_url }),
})

/** The common case: an API key, and optionally another base URL. */
const keyed = (id: string, make: (options: KeyAndUrl) => Provider, ...variables: readonly string[]): BuiltIn => ({
  id,
  fields: { api_key: variables, base_url: [] },
  ways: [['api_key']],
  make: access => make(optionsOf(access)),
})

/** A self-hosted server, enabled if its URL is set. */
const selfHosted = (id: string, make: (options: KeyAndUrl) => Provider, prefix: string): BuiltIn => ({
  id,
  fields: { base_url: [`${prefix}_BASE_URL`], api_key: [`${prefix}_API_KEY`] },
  ways: [['base_url']],
  needsNoAccess: true,
  make: access => make(optionsOf(access)),
})

const azure: BuiltIn = {
  id: 'azure',
  fields: { api_key: ['AZURE_API_KEY', 'AZURE_OPENAI_API_KEY'], resource: ['AZURE_RESOURCE_NAME'], base_url: ['AZURE_OPENAI_ENDPOINT'] },
  ways: [
    ['api_key', 'resource'],
    ['resource', 'api_key'],
    ['base_url', 'api_key'],
  ],
  make: ({ resource, ...access }) => known.azure({ ...optionsOf(access), resource }),
}

const claudeOnAws: BuiltIn = {
  id: 'anthropic-aws',
  fields: {
    api_key: ['ANTHROPIC_AWS_API_KEY'],
    workspace: ['ANTHROPIC_AWS_WORKSPACE_ID'],
    region: ['AWS_REGION', 'AWS_DEFAULT_REGION'],
    base_url: [],
  },
  ways: [
    ['api_key', 'workspace', 'region'],
    ['workspace', 'api_key', 'region'],
  ],
  make: ({ region, workspace, ...access }) => known.claudeOnAws({ ...optionsOf(access), region, workspace }),
}

const ollamaFields = { base_url: ['OLLAMA_BASE_URL', 'OLLAMA_HOST'], api_key: ['OLLAMA_API_KEY'] } as const

/** Ollama's own variable holds a host, usually without scheme and path: `0.0.0.0:11434`. */
function withOllamaHost({ baseUrl, ...options }: KeyAndUrl): KeyAndUrl {
  if (baseUrl === undefined) return options
  const isHost = !/^https?:\/\//i.test(baseUrl)
  const url = URL.parse(isHost ? `http://${baseUrl}` : baseUrl)
  if (!url) return { ...options, baseUrl }
  if (isHost && url.port === '' && !/:80$/.test(baseUrl)) url.port = '11434'
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1'
  if (url.pathname === '/') url.pathname = '/v1'
  return { ...options, baseUrl: url.href }
}

/** A Bedrock API key, or AWS access keys. */
const amazonBedrock: BuiltIn = {
  id: 'amazon-bedrock',
  fields: {
    api_key: ['AWS_BEARER_TOKEN_BEDROCK'],
    access_key_id: ['AWS_ACCESS_KEY_ID'],
    secret_access_key: ['AWS_SECRET_ACCESS_KEY'],
    session_token: ['AWS_SESSION_TOKEN'],
    region: ['AWS_REGION', 'AWS_DEFAULT_REGION'],
    base_url: [],
  },
  ways: [
    ['api_key', 'region'],
    ['access_key_id', 'secret_access_key', 'region'],
    ['secret_access_key', 'access_key_id', 'region'],
  ],
  make: ({ region, access_key_id: accessKeyId, secret_access_key: secretAccessKey, session_token: sessionToken, ...access }) =>
    known.amazonBedrock({ ...optionsOf(access), region, accessKeyId, secretAccessKey, sessionToken }),
}

/** A service account, or an express mode key. */
const googleVertex: BuiltIn = {
  id: 'google-vertex',
  fields: {
    project: ['GOOGLE_VERTEX_PROJECT'],
    location: ['GOOGLE_VERTEX_LOCATION', 'GOOGLE_CLOUD_LOCATION'],
    credentials_file: ['GOOGLE_APPLICATION_CREDENTIALS'],
    api_key: ['GOOGLE_VERTEX_API_KEY'],
    base_url: [],
  },
  // Other Google libraries use the file's variable too, so it does not signal Vertex.
  ways: [['project', 'credentials_file'], ['api_key']],
  make: ({ project, location, credentials_file: file, ...access }) =>
    known.googleVertex({
      ...optionsOf(access),
      project,
      location,
      ...(file !== undefined && access.api_key === undefined && { serviceAccount: readServiceAccount(file) }),
    }),
}

/** The built-in providers, in the order in which equal ones are tried. */
export const builtIns: readonly BuiltIn[] = [
  keyed('openai', known.openai, 'OPENAI_API_KEY'),
  keyed('anthropic', known.anthropic, 'ANTHROPIC_API_KEY'),
  keyed('google', known.google, 'GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'),
  googleVertex,
  claudeOnAws,
  amazonBedrock,
  azure,
  keyed('xai', known.xai, 'XAI_API_KEY'),
  keyed('mistral', known.mistral, 'MISTRAL_API_KEY'),
  keyed('deepseek', known.deepseek, 'DEEPSEEK_API_KEY'),
  keyed('moonshotai', known.moonshot, 'MOONSHOT_API_KEY'),
  keyed('moonshotai-cn', known.moonshotCn, 'MOONSHOT_CN_API_KEY'),
  keyed('kimi-coding', known.kimiCoding, 'KIMI_API_KEY'),
  keyed('zai', known.zai, 'ZAI_API_KEY', 'ZHIPU_API_KEY'),
  keyed('zai-cn', known.zaiCn, 'ZAI_CN_API_KEY', 'ZHIPUAI_API_KEY'),
  keyed('zai-coding', known.zaiCoding, 'ZAI_CODING_API_KEY'),
  keyed('minimax', known.minimax, 'MINIMAX_API_KEY'),
  keyed('minimax-cn', known.minimaxCn, 'MINIMAX_CN_API_KEY'),
  keyed('alibaba', known.alibaba, 'DASHSCOPE_API_KEY', 'ALIBABA_API_KEY'),
  keyed('alibaba-cn', known.alibabaCn, 'DASHSCOPE_CN_API_KEY'),
  keyed('qwen-token-plan', known.qwenTokenPlan, 'QWEN_TOKEN_PLAN_API_KEY'),
  keyed('meta', known.meta, 'META_MODEL_API_KEY', 'META_API_KEY', 'LLAMA_API_KEY'),
  keyed('cohere', known.cohere, 'COHERE_API_KEY', 'CO_API_KEY'),
  keyed('perplexity', known.perplexity, 'PERPLEXITY_API_KEY'),
  keyed('groq', known.groq, 'GROQ_API_KEY'),
  keyed('cerebras', known.cerebras, 'CEREBRAS_API_KEY'),
  keyed('fireworks', known.fireworks, 'FIREWORKS_API_KEY'),
  keyed('together', known.together, 'TOGETHER_API_KEY', 'TOGETHER_AI_API_KEY'),
  keyed('deepinfra', known.deepinfra, 'DEEPINFRA_API_KEY', 'DEEPINFRA_TOKEN'),
  {
    id: 'cloudflare-workers-ai',
    fields: { api_key: ['CLOUDFLARE_API_KEY', 'CLOUDFLARE_API_TOKEN'], account_id: ['CLOUDFLARE_ACCOUNT_ID'], base_url: [] },
    ways: [['api_key', 'account_id']],
    make: access => known.cloudflare({ ...optionsOf(access), accountId: access.account_id }),
  },
  keyed('nebius', known.nebius, 'NEBIUS_API_KEY'),
  keyed('novita', known.novita, 'NOVITA_API_KEY'),
  keyed('baseten', known.baseten, 'BASETEN_API_KEY'),
  keyed('nvidia', known.nvidia, 'NVIDIA_API_KEY'),
  keyed('openrouter', known.openrouter, 'OPENROUTER_API_KEY'),
  keyed('vercel-ai-gateway', known.vercelAiGateway, 'AI_GATEWAY_API_KEY'),
  keyed('huggingface', known.huggingface, 'HF_TOKEN', 'HUGGINGFACE_API_KEY'),
  keyed('sambanova', known.sambanova, 'SAMBANOVA_API_KEY'),
  keyed('siliconflow', known.siliconflow, 'SILICONFLOW_API_KEY'),
  keyed('siliconflow-cn', known.siliconflowCn, 'SILICONFLOW_CN_API_KEY'),
  keyed('xiaomi', known.xiaomi, 'XIAOMI_API_KEY'),
  { ...selfHosted('ollama', options => known.ollama(withOllamaHost(options)), 'OLLAMA'), fields: ollamaFields },
  selfHosted('vllm', known.vllm, 'VLLM'),
  selfHosted('lm-studio', known.lmStudio, 'LM_STUDIO'),
  selfHosted('llama.cpp', known.llamaCpp, 'LLAMA_CPP'),
  selfHosted('sglang', known.sglang, 'SGLANG'),
]
