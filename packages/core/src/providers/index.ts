export { amazonBedrock, type BedrockOptions } from './amazon-bedrock.ts'
export { type AnthropicOptions, anthropic, type ClaudeOnAwsOptions, claudeOnAws } from './anthropic.ts'
export { type AzureOptions, azure } from './azure.ts'
export {
  alibaba,
  alibabaCn,
  kimiCoding,
  minimax,
  minimaxCn,
  moonshot,
  moonshotCn,
  qwenTokenPlan,
  zai,
  zaiCn,
  zaiCoding,
} from './chinese-vendors.ts'
export { claudeQuirks } from './claude-models.ts'
export { type CloudflareOptions, cloudflare } from './cloudflare.ts'
export { type CompatibleOptions, compatible } from './compatible.ts'
export { defineProvider, type Path, type ProviderRow } from './define-provider.ts'
export { google } from './google.ts'
export { googleVertex, type VertexOptions } from './google-vertex.ts'
export {
  baseten,
  deepinfra,
  huggingface,
  nebius,
  novita,
  nvidia,
  openrouter,
  sambanova,
  siliconflow,
  siliconflowCn,
  vercelAiGateway,
  xiaomi,
} from './hosts.ts'
export { openai } from './openai.ts'
export { llamaCpp, lmStudio, ollama, sglang, vllm } from './self-hosted.ts'
export { type SimulatedOptions, simulated } from './simulated.ts'
export { type VendorOptions, type VendorRow, vendor } from './vendor.ts'
export {
  cerebras,
  cohere,
  deepseek,
  fireworks,
  groq,
  meta,
  mistral,
  perplexity,
  together,
  xai,
} from './vendors.ts'
