import type { Quirks } from '../protocol/model.ts'
import { vendor } from './vendor.ts'

// Third-party gateways, and hosts of open models that need no quirks.

const oldCap: Quirks = { max_tokens_field: 'max_tokens' }

/** OpenRouter. It adapts requests to its providers, so no field is dropped. */
export const openrouter = vendor({
  id: 'openrouter',
  display_name: 'OpenRouter',
  baseUrl: 'https://openrouter.ai/api/v1',
  check: '/key',
  speaks: ['chat', 'responses', 'messages'],
  quirks: { ...oldCap, reasoning_field: 'reasoning' },
})

/** Vercel AI Gateway: Chat Completions, Responses and Messages. Source: vercel.com/docs/ai-gateway, pi-ai 1.5.2, 2026-11. */
export const vercelAiGateway = vendor({
  id: 'vercel-ai-gateway',
  display_name: 'Vercel AI Gateway',
  baseUrl: 'https://ai-gateway.vercel.sh/v1',
  speaks: ['chat', 'responses', 'messages'],
  quirks: { ...oldCap, reasoning_field: 'reasoning' },
})

/** Hugging Face router, which forwards to many hosts. Source: pi-ai 1.5.2, 2026-11. */
export const huggingface = vendor({
  id: 'huggingface',
  display_name: 'Hugging Face router',
  baseUrl: 'https://router.huggingface.co/v1',
  speaks: ['chat', 'responses'],
  quirks: oldCap,
})

/** SambaNova Cloud: Chat Completions and Messages. Source: docs.sambanova.ai, OpenAI compatibility, 2026-11. */
export const sambanova = vendor({
  id: 'sambanova',
  display_name: 'SambaNova',
  baseUrl: 'https://api.sambanova.ai/v1',
  speaks: ['chat', 'messages'],
  quirks: oldCap,
})

/** SiliconFlow, international. Source: docs.siliconflow.com, chat completions, 2026-11. */
export const siliconflow = vendor({
  id: 'siliconflow',
  display_name: 'SiliconFlow',
  baseUrl: 'https://api.siliconflow.com/v1',
  check: '/models',
  speaks: ['chat'],
  quirks: oldCap,
})

/** SiliconFlow in China. Source: docs.siliconflow.cn, 2026-11. */
export const siliconflowCn = vendor({
  id: 'siliconflow-cn',
  display_name: 'SiliconFlow (China)',
  baseUrl: 'https://api.siliconflow.cn/v1',
  check: '/models',
  speaks: ['chat'],
  quirks: oldCap,
})

/** Xiaomi MiMo. Source: pi-ai 1.5.2, 2026-11. */
export const xiaomi = vendor({
  id: 'xiaomi',
  display_name: 'Xiaomi MiMo',
  baseUrl: 'https://api.xiaomimimo.com/v1',
  speaks: ['chat'],
  quirks: {
    thinking_switch: { on: { thinking: { type: 'enabled' } }, off: { thinking: { type: 'disabled' } } },
  },
})

/** Deep Infra: Chat Completions and Messages. */
export const deepinfra = vendor({
  id: 'deepinfra',
  display_name: 'Deep Infra',
  baseUrl: 'https://api.deepinfra.com/v1/openai',
  speaks: ['chat', 'messages'],
  paths: { messages: '../../anthropic/v1/messages' },
  data_policy: 'zdr',
  quirks: oldCap,
})

/** Nebius Token Factory: Chat Completions. */
export const nebius = vendor({
  id: 'nebius',
  display_name: 'Nebius Token Factory',
  baseUrl: 'https://api.tokenfactory.nebius.com/v1',
  check: '/models',
  speaks: ['chat'],
  data_policy: 'zdr',
  quirks: oldCap,
})

/** Novita AI: Chat Completions and Messages. Source: its model pages, 2026-11. */
export const novita = vendor({
  id: 'novita',
  display_name: 'Novita AI',
  baseUrl: 'https://api.novita.ai/openai/v1',
  speaks: ['chat', 'messages'],
  paths: { messages: '../../anthropic/v1/messages' },
  data_policy: 'zdr',
  quirks: oldCap,
})

/** Baseten: Chat Completions. */
export const baseten = vendor({
  id: 'baseten',
  display_name: 'Baseten',
  baseUrl: 'https://inference.baseten.co/v1',
  speaks: ['chat'],
  data_policy: 'zdr',
  quirks: oldCap,
})

/** NVIDIA NIM: Chat Completions. */
export const nvidia = vendor({
  id: 'nvidia',
  display_name: 'NVIDIA NIM',
  baseUrl: 'https://integrate.api.nvidia.com/v1',
  speaks: ['chat'],
  quirks: oldCap,
})
