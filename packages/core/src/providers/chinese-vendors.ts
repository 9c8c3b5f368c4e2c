import type { Quirks } from '../protocol/model.ts'
import { type VendorRow, vendor } from './vendor.ts'
import { oldMaxTokens, penalties, thinkingType } from './vendor-quirks.ts'

// Chinese vendors: international and mainland endpoints, plus coding plans, which have their own API keys.

const moonshotRefuses = ['top_k', 'seed']
/** Kimi models have fixed sampling, and some reject `tool_choice: required`. The first match wins. */
const kimi: readonly (readonly [id: RegExp, quirks: Quirks])[] = [
  [/^kimi-k3/, { sampling: 'none', thinking: ['level'], thinking_off: 'never', efforts: ['low', 'high', 'max'] }],
  [/^kimi-k2\.7/, { sampling: 'none', thinking: ['toggle'], thinking_off: 'never', refuses: [...moonshotRefuses, 'tool_choice_required'] }],
  [/^kimi-k2\.6/, { sampling: 'none', thinking: ['toggle'], refuses: [...moonshotRefuses, 'tool_choice_required'] }],
  [/^kimi-k2\.5/, { sampling: 'none', thinking: ['toggle'] }],
]
const moonshotRow: VendorRow<'moonshotai'> = {
  id: 'moonshotai',
  display_name: 'Moonshot AI',
  baseURL: 'https://api.moonshot.ai/v1',
  apiKeyVariables: ['MOONSHOT_API_KEY'],
  check: '/models',
  speaks: ['chat', 'responses', 'messages'],
  paths: { messages: '../anthropic/v1/messages' },
  data_policy: 'no_training',
  quirks: { refuses: moonshotRefuses, thinking_switch: thinkingType, inline_media_only: true },
  quirksOf: model => kimi.find(([id]) => id.test(model))?.[1],
}
/** Moonshot AI: Chat Completions, Responses and Messages. Source: developersdigest.tech/reference/api-compatibility/moonshot, 2026-11. */
export const moonshot = vendor(moonshotRow)
/** Moonshot AI, mainland China. Source: pi-ai 1.5.2, 2026-11. */
export const moonshotCn = vendor({
  ...moonshotRow,
  id: 'moonshotai-cn',
  display_name: 'Moonshot AI (China)',
  baseURL: 'https://api.moonshot.cn/v1',
  apiKeyVariables: ['MOONSHOT_CN_API_KEY'],
})
/** Kimi coding plan, which has its own API keys. Source: pi-ai 1.5.2, 2026-11. */
export const kimiCoding = vendor({
  id: 'kimi-coding',
  display_name: 'Kimi coding plan',
  baseURL: 'https://api.kimi.com/coding/v1',
  apiKeyVariables: ['KIMI_API_KEY'],
  speaks: ['chat', 'messages'],
  data_policy: 'no_training',
  quirks: {
    ...oldMaxTokens,
    refuses: [...moonshotRefuses, 'strict', 'store'],
  },
})

/** Accepts only `tool_choice: auto`; JSON mode has no schemas. */
const zaiRow: VendorRow<'zai'> = {
  id: 'zai',
  display_name: 'Z.AI',
  baseURL: 'https://api.z.ai/api/paas/v4',
  apiKeyVariables: ['ZAI_API_KEY', 'ZHIPU_API_KEY'],
  speaks: ['chat', 'messages'],
  paths: { messages: '../../anthropic/v1/messages' },
  data_policy: 'no_training',
  quirks: {
    ...oldMaxTokens,
    no_forced_tools: true,
    no_json_schema: true,
    thinking_switch: thinkingType,
    refuses: [...penalties, 'top_k', 'seed', 'strict'],
  },
}
/** Z.AI: Chat Completions and Messages. Source: developersdigest.tech/reference/api-compatibility/zai, 2026-11. */
export const zai = vendor(zaiRow)
/** Z.AI, mainland China (Zhipu). Source: docs.bigmodel.cn. */
export const zaiCn = vendor({
  ...zaiRow,
  id: 'zai-cn',
  display_name: 'Z.AI (China)',
  baseURL: 'https://open.bigmodel.cn/api/paas/v4',
  apiKeyVariables: ['ZAI_CN_API_KEY', 'ZHIPUAI_API_KEY'],
})
/** Z.AI coding plan. Source: pi-ai 1.5.2, 2026-11. */
export const zaiCoding = vendor({
  ...zaiRow,
  id: 'zai-coding',
  display_name: 'Z.AI coding plan',
  baseURL: 'https://api.z.ai/api/coding/paas/v4',
  apiKeyVariables: ['ZAI_CODING_API_KEY'],
  paths: { messages: '../../../anthropic/v1/messages' },
})

/** Reasoning is either on/off or has levels. */
const minimaxModels: readonly (readonly [id: RegExp, quirks: Quirks])[] = [
  [/^minimax-m3\.1/i, { efforts: ['low', 'medium', 'high', 'xhigh', 'max'], thinking: ['level'], thinking_off: 'never' }],
  [
    /^minimax-m3/i,
    { thinking_switch: { on: { thinking: { type: 'adaptive' } }, off: { thinking: { type: 'disabled' } } }, thinking: ['toggle'] },
  ],
]
const minimaxRow: VendorRow<'minimax'> = {
  id: 'minimax',
  display_name: 'MiniMax',
  baseURL: 'https://api.minimax.io/v1',
  apiKeyVariables: ['MINIMAX_API_KEY'],
  speaks: ['chat', 'responses', 'messages'],
  paths: { messages: '../anthropic/v1/messages' },
  data_policy: 'no_training',
  // Temperatures of 0 or above 1 are rejected.
  quirks: {
    temperature_range: { min: 0.01, max: 1 },
    no_forced_tools: true,
    no_json_schema: true,
    refuses: [...penalties, 'logit_bias', 'seed', 'parallel_tool_calls'],
  },
  quirksOf: model => {
    if (!/^minimax-m[2-9]/i.test(model)) return undefined
    // Without this field, reasoning is returned inside the text, between <think> and </think>.
    return { ...minimaxModels.find(([id]) => id.test(model))?.[1], fixed_fields: { reasoning_split: true } }
  },
}
/** MiniMax: Chat Completions, Responses and Messages. Source: platform.minimax.io, text API, 2026-11. */
export const minimax = vendor(minimaxRow)
/** MiniMax, mainland China. Source: pi-ai 1.5.2, 2026-11. */
export const minimaxCn = vendor({
  ...minimaxRow,
  id: 'minimax-cn',
  display_name: 'MiniMax (China)',
  baseURL: 'https://api.minimaxi.com/v1',
  apiKeyVariables: ['MINIMAX_CN_API_KEY'],
})

const alibabaRow: VendorRow<'alibaba'> = {
  id: 'alibaba',
  display_name: 'Alibaba Cloud Model Studio',
  baseURL: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
  apiKeyVariables: ['DASHSCOPE_API_KEY', 'ALIBABA_API_KEY'],
  speaks: ['chat', 'responses'],
  data_policy: 'no_training',
  quirks: {
    ...oldMaxTokens,
    refuses: ['frequency_penalty'],
    // At most four, in any message: Model Studio, context cache, 2026-11. A hit costs a tenth.
    cache_marks: ['system', 'user', 'assistant', 'results'],
    thinking_switch: { on: { enable_thinking: true }, off: { enable_thinking: false } },
  },
}
/** Alibaba Cloud Model Studio, international: Chat Completions and Responses. */
export const alibaba = vendor(alibabaRow)
/** Alibaba Cloud Model Studio, mainland China (Beijing). */
export const alibabaCn = vendor({
  ...alibabaRow,
  id: 'alibaba-cn',
  display_name: 'Alibaba Cloud Model Studio (China)',
  baseURL: 'https://dashscope.aliyuncs.com/compatible-mode/v1',
  apiKeyVariables: ['DASHSCOPE_CN_API_KEY'],
})
/** Qwen token plan, which has its own API keys. Source: pi-ai 1.5.2, 2026-11. */
export const qwenTokenPlan = vendor({
  ...alibabaRow,
  id: 'qwen-token-plan',
  display_name: 'Qwen token plan',
  baseURL: 'https://token-plan.ap-southeast-1.maas.aliyuncs.com/compatible-mode/v1',
  apiKeyVariables: ['QWEN_TOKEN_PLAN_API_KEY'],
  speaks: ['chat'],
})
