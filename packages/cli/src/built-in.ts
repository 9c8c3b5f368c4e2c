import type { Provider, Quirks } from '@signalbox/core/protocol'
import { openai } from '@signalbox/core/providers'

/** A provider that is known by name. */
export interface BuiltIn {
  readonly id: string
  /** The first of these that is set is the credential. None: a server of one's own, which may need none. */
  readonly variables: readonly string[]
  /** `{NAME}` stands for an environment variable. */
  readonly baseUrl: string
  readonly speaks: readonly ('chat' | 'responses')[]
  readonly data_policy?: string
  readonly quirks?: Quirks
  /** Where core has a provider of its own for it. Default: any server that speaks so. */
  readonly make?: (access: { readonly apiKey: string; readonly baseUrl: string }) => Provider
}

const chat = ['chat'] as const
const both = ['responses', 'chat'] as const

/** Whom we can speak to, in the order in which equals are tried. Data policies are what they publish; a config may say otherwise. */
export const builtIns: readonly BuiltIn[] = [
  {
    id: 'openai',
    variables: ['OPENAI_API_KEY'],
    baseUrl: 'https://api.openai.com/v1',
    speaks: both,
    data_policy: 'no_training',
    make: openai,
  },
  {
    id: 'azure',
    variables: ['AZURE_API_KEY'],
    baseUrl: 'https://{AZURE_RESOURCE_NAME}.openai.azure.com/openai/v1',
    speaks: both,
    data_policy: 'no_training',
    quirks: { developer_role: true, max_tokens_field: 'max_completion_tokens' },
  },
  { id: 'xai', variables: ['XAI_API_KEY'], baseUrl: 'https://api.x.ai/v1', speaks: both, data_policy: 'no_training' },
  {
    id: 'groq',
    variables: ['GROQ_API_KEY'],
    baseUrl: 'https://api.groq.com/openai/v1',
    speaks: ['chat', 'responses'],
    data_policy: 'zdr',
    quirks: { max_tokens_field: 'max_completion_tokens', refuses: ['logprobs', 'top_logprobs'] },
  },
  {
    id: 'mistral',
    variables: ['MISTRAL_API_KEY'],
    baseUrl: 'https://api.mistral.ai/v1',
    speaks: chat,
    data_policy: 'no_training',
    quirks: { required_tool_choice: 'any', call_id_length: 9, no_stream_options: true, refuses: ['logprobs', 'top_logprobs'] },
  },
  {
    id: 'deepseek',
    variables: ['DEEPSEEK_API_KEY'],
    baseUrl: 'https://api.deepseek.com',
    speaks: chat,
    data_policy: 'may_train',
    quirks: { no_json_schema: true },
  },
  {
    id: 'cerebras',
    variables: ['CEREBRAS_API_KEY'],
    baseUrl: 'https://api.cerebras.ai/v1',
    speaks: chat,
    data_policy: 'zdr',
    quirks: { max_tokens_field: 'max_completion_tokens' },
  },
  {
    id: 'fireworks',
    variables: ['FIREWORKS_API_KEY'],
    baseUrl: 'https://api.fireworks.ai/inference/v1',
    speaks: ['chat', 'responses'],
    data_policy: 'zdr',
  },
  { id: 'together', variables: ['TOGETHER_API_KEY'], baseUrl: 'https://api.together.ai/v1', speaks: chat, data_policy: 'zdr' },
  { id: 'deepinfra', variables: ['DEEPINFRA_API_KEY'], baseUrl: 'https://api.deepinfra.com/v1/openai', speaks: chat, data_policy: 'zdr' },
  { id: 'moonshotai', variables: ['MOONSHOT_API_KEY'], baseUrl: 'https://api.moonshot.ai/v1', speaks: chat, data_policy: 'no_training' },
  { id: 'zai', variables: ['ZHIPU_API_KEY'], baseUrl: 'https://api.z.ai/api/paas/v4', speaks: chat, data_policy: 'no_training' },
  { id: 'minimax', variables: ['MINIMAX_API_KEY'], baseUrl: 'https://api.minimax.io/v1', speaks: chat, data_policy: 'no_training' },
  {
    id: 'alibaba',
    variables: ['DASHSCOPE_API_KEY'],
    baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    speaks: ['chat', 'responses'],
    data_policy: 'no_training',
  },
  { id: 'meta', variables: ['META_MODEL_API_KEY'], baseUrl: 'https://api.meta.ai/v1', speaks: both, data_policy: 'no_training' },
  {
    id: 'cohere',
    variables: ['COHERE_API_KEY'],
    baseUrl: 'https://api.cohere.ai/compatibility/v1',
    speaks: chat,
    data_policy: 'no_training',
  },
  { id: 'perplexity', variables: ['PERPLEXITY_API_KEY'], baseUrl: 'https://api.perplexity.ai', speaks: chat, data_policy: 'zdr' },
  {
    id: 'cloudflare-workers-ai',
    variables: ['CLOUDFLARE_API_KEY'],
    baseUrl: 'https://api.cloudflare.com/client/v4/accounts/{CLOUDFLARE_ACCOUNT_ID}/ai/v1',
    speaks: ['chat', 'responses'],
    data_policy: 'zdr',
  },
  { id: 'nebius', variables: ['NEBIUS_API_KEY'], baseUrl: 'https://api.tokenfactory.nebius.com/v1', speaks: chat, data_policy: 'zdr' },
  { id: 'novita', variables: ['NOVITA_API_KEY'], baseUrl: 'https://api.novita.ai/openai/v1', speaks: chat, data_policy: 'zdr' },
  { id: 'baseten', variables: ['BASETEN_API_KEY'], baseUrl: 'https://inference.baseten.co/v1', speaks: chat, data_policy: 'zdr' },
  { id: 'nvidia', variables: ['NVIDIA_API_KEY'], baseUrl: 'https://integrate.api.nvidia.com/v1', speaks: chat },
  { id: 'openrouter', variables: ['OPENROUTER_API_KEY'], baseUrl: 'https://openrouter.ai/api/v1', speaks: chat },
  { id: 'ollama', variables: [], baseUrl: 'http://127.0.0.1:11434/v1', speaks: chat },
]

/** Whom we know, but whose language this version does not speak. */
export const unspoken: readonly { readonly id: string; readonly variables: readonly string[]; readonly language: string }[] = [
  { id: 'anthropic', variables: ['ANTHROPIC_API_KEY'], language: 'messages' },
  { id: 'google', variables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'], language: 'gemini' },
  { id: 'google-vertex', variables: ['GOOGLE_VERTEX_PROJECT'], language: 'gemini' },
  { id: 'amazon-bedrock', variables: ['AWS_BEARER_TOKEN_BEDROCK', 'AWS_ACCESS_KEY_ID'], language: 'bedrock' },
]
