/** A provider of models.dev, and how its offers are stored. */
export interface ListedProvider {
  readonly id: string
  /** The default dialect of its offers. */
  readonly dialect: string
  /** Whether it lists its own models, under their canonical ids. */
  readonly isMaker?: boolean
}

/** Providers of models.dev by id. Others are ignored. */
export const listedProviders: ReadonlyMap<string, ListedProvider> = new Map<string, ListedProvider>([
  ['openai', { id: 'openai', dialect: 'responses', isMaker: true }],
  ['anthropic', { id: 'anthropic', dialect: 'messages', isMaker: true }],
  ['google', { id: 'google', dialect: 'gemini', isMaker: true }],
  ['google-vertex', { id: 'google-vertex', dialect: 'gemini' }],
  ['google-vertex-anthropic', { id: 'google-vertex', dialect: 'messages' }],
  ['amazon-bedrock', { id: 'amazon-bedrock', dialect: 'bedrock' }],
  ['azure', { id: 'azure', dialect: 'responses' }],
  ['xai', { id: 'xai', dialect: 'responses', isMaker: true }],
  ['mistral', { id: 'mistral', dialect: 'chat', isMaker: true }],
  ['deepseek', { id: 'deepseek', dialect: 'chat', isMaker: true }],
  ['alibaba', { id: 'alibaba', dialect: 'chat', isMaker: true }],
  ['meta', { id: 'meta', dialect: 'responses', isMaker: true }],
  ['llama', { id: 'meta', dialect: 'responses', isMaker: true }],
  ['moonshotai', { id: 'moonshotai', dialect: 'chat', isMaker: true }],
  ['zai', { id: 'zai', dialect: 'chat', isMaker: true }],
  ['minimax', { id: 'minimax', dialect: 'chat', isMaker: true }],
  ['cohere', { id: 'cohere', dialect: 'chat', isMaker: true }],
  ['perplexity', { id: 'perplexity', dialect: 'responses', isMaker: true }],
  ['groq', { id: 'groq', dialect: 'chat' }],
  ['togetherai', { id: 'together', dialect: 'chat' }],
  ['fireworks-ai', { id: 'fireworks', dialect: 'chat' }],
  ['deepinfra', { id: 'deepinfra', dialect: 'chat' }],
  ['cerebras', { id: 'cerebras', dialect: 'chat' }],
  ['cloudflare-workers-ai', { id: 'cloudflare-workers-ai', dialect: 'chat' }],
  ['nebius', { id: 'nebius', dialect: 'chat' }],
  ['novita-ai', { id: 'novita', dialect: 'chat' }],
  ['baseten', { id: 'baseten', dialect: 'chat' }],
  ['nvidia', { id: 'nvidia', dialect: 'chat' }],
])

/** Packages that models.dev names for a model, and the dialect they use. */
const packageDialects: ReadonlyMap<string, string> = new Map([
  ['@ai-sdk/anthropic', 'messages'],
  ['@ai-sdk/google-vertex/anthropic', 'messages'],
  ['@ai-sdk/openai-compatible', 'chat'],
])

/** The dialect of an offer: by its package and shape, by its vendor on Bedrock and Vertex, or else the default of the host. */
export function dialectOf(
  { id: provider, dialect }: ListedProvider,
  { id, npm, shape }: { readonly id: string; readonly npm?: string | undefined; readonly shape?: string | undefined },
): string {
  if (provider === 'amazon-bedrock') return /^(?:[a-z-]+\.)?(?:openai\.gpt-[5-9]|xai\.)/.test(id) ? 'responses' : dialect
  if (shape === 'completions') return 'chat'
  if (provider === 'google-vertex' && id.includes('/')) return 'chat'
  return packageDialects.get(npm ?? '') ?? dialect
}
