import type { Quirks } from '@signalbox/dialects/protocol'
import { type VendorRow, vendor } from './vendor.ts'
import { oldMaxTokens, penalties, thinkingType } from './vendor-quirks.ts'

// Chinese vendors: international and mainland endpoints, plus coding plans, which have their own API keys.

const moonshotRefuses = ['top_k', 'seed']
/** Kimi models have fixed sampling, and some reject `tool_choice: required`. The first match wins. */
const kimi: readonly (readonly [id: RegExp, quirks: Quirks])[] = [
  [/^kimi-k3/, { sampling: 'none', thinking: ['level'], thinkingOff: 'never', efforts: ['low', 'high', 'max'] }],
  [/^kimi-k2\.7/, { sampling: 'none', thinking: ['toggle'], thinkingOff: 'never', refuses: [...moonshotRefuses, 'tool_choice_required'] }],
  [/^kimi-k2\.6/, { sampling: 'none', thinking: ['toggle'], refuses: [...moonshotRefuses, 'tool_choice_required'] }],
  [/^kimi-k2\.5/, { sampling: 'none', thinking: ['toggle'] }],
]
const moonshotRow: VendorRow<'moonshotai'> = {
  id: 'moonshotai',
  displayName: 'Moonshot AI',
  baseURL: 'https://api.moonshot.ai/v1',
  apiKeyVariables: ['MOONSHOT_API_KEY'],
  check: '/models',
  apis: ['chat', 'responses', 'messages'],
  paths: { messages: '../anthropic/v1/messages' },
  dataPolicy: 'no_training',
  quirks: { refuses: moonshotRefuses, thinkingSwitch: thinkingType, inlineMediaOnly: true },
  quirksOf: model => kimi.find(([id]) => id.test(model))?.[1],
}
/** Moonshot AI: Chat Completions, Responses and Messages. Source: developersdigest.tech/reference/api-compatibility/moonshot, 2026-11. */
export const moonshot = vendor(moonshotRow)
/** Moonshot AI, mainland China. Source: pi-ai 1.5.2, 2026-11. */
export const moonshotCn = vendor({
  ...moonshotRow,
  id: 'moonshotai-cn',
  displayName: 'Moonshot AI (China)',
  baseURL: 'https://api.moonshot.cn/v1',
  apiKeyVariables: ['MOONSHOT_CN_API_KEY'],
})
/** Kimi coding plan, which has its own API keys. Source: pi-ai 1.5.2, 2026-11. */
export const kimiCoding = vendor({
  id: 'kimi-coding',
  displayName: 'Kimi coding plan',
  baseURL: 'https://api.kimi.com/coding/v1',
  apiKeyVariables: ['KIMI_API_KEY'],
  apis: ['chat', 'messages'],
  dataPolicy: 'no_training',
  quirks: {
    ...oldMaxTokens,
    refuses: [...moonshotRefuses, 'strict', 'store'],
  },
})

/** Accepts only `tool_choice: auto`; JSON mode has no schemas. */
const zaiRow: VendorRow<'zai'> = {
  id: 'zai',
  displayName: 'Z.AI',
  baseURL: 'https://api.z.ai/api/paas/v4',
  apiKeyVariables: ['ZAI_API_KEY', 'ZHIPU_API_KEY'],
  apis: ['chat', 'messages'],
  paths: { messages: '../../anthropic/v1/messages' },
  dataPolicy: 'no_training',
  quirks: {
    ...oldMaxTokens,
    noForcedTools: true,
    noJsonSchema: true,
    thinkingSwitch: thinkingType,
    refuses: [...penalties, 'top_k', 'seed', 'strict'],
  },
}
/** Z.AI: Chat Completions and Messages. Source: developersdigest.tech/reference/api-compatibility/zai, 2026-11. */
export const zai = vendor(zaiRow)
/** Z.AI, mainland China (Zhipu). Source: docs.bigmodel.cn. */
export const zaiCn = vendor({
  ...zaiRow,
  id: 'zai-cn',
  displayName: 'Z.AI (China)',
  baseURL: 'https://open.bigmodel.cn/api/paas/v4',
  apiKeyVariables: ['ZAI_CN_API_KEY', 'ZHIPUAI_API_KEY'],
})
/** Z.AI coding plan. Source: pi-ai 1.5.2, 2026-11. */
export const zaiCoding = vendor({
  ...zaiRow,
  id: 'zai-coding',
  displayName: 'Z.AI coding plan',
  baseURL: 'https://api.z.ai/api/coding/paas/v4',
  apiKeyVariables: ['ZAI_CODING_API_KEY'],
  paths: { messages: '../../../anthropic/v1/messages' },
})

/** Reasoning is either on/off or has levels. */
const minimaxModels: readonly (readonly [id: RegExp, quirks: Quirks])[] = [
  [/^minimax-m3\.1/i, { efforts: ['low', 'medium', 'high', 'xhigh', 'max'], thinking: ['level'], thinkingOff: 'never' }],
  [
    /^minimax-m3/i,
    { thinkingSwitch: { on: { thinking: { type: 'adaptive' } }, off: { thinking: { type: 'disabled' } } }, thinking: ['toggle'] },
  ],
]
const minimaxRow: VendorRow<'minimax'> = {
  id: 'minimax',
  displayName: 'MiniMax',
  baseURL: 'https://api.minimax.io/v1',
  apiKeyVariables: ['MINIMAX_API_KEY'],
  apis: ['chat', 'responses', 'messages'],
  paths: { messages: '../anthropic/v1/messages' },
  dataPolicy: 'no_training',
  // Temperatures of 0 or above 1 are rejected.
  quirks: {
    temperatureRange: { min: 0.01, max: 1 },
    noForcedTools: true,
    noJsonSchema: true,
    refuses: [...penalties, 'logit_bias', 'seed', 'parallel_tool_calls'],
  },
  quirksOf: model => {
    if (!/^minimax-m[2-9]/i.test(model)) return undefined
    // Without this field, reasoning is returned inside the text, between <think> and </think>.
    return { ...minimaxModels.find(([id]) => id.test(model))?.[1], fixedFields: { reasoning_split: true } }
  },
}
/** MiniMax: Chat Completions, Responses and Messages. Source: platform.minimax.io, text API, 2026-11. */
export const minimax = vendor(minimaxRow)
/** MiniMax, mainland China. Source: pi-ai 1.5.2, 2026-11. */
export const minimaxCn = vendor({
  ...minimaxRow,
  id: 'minimax-cn',
  displayName: 'MiniMax (China)',
  baseURL: 'https://api.minimaxi.com/v1',
  apiKeyVariables: ['MINIMAX_CN_API_KEY'],
})

const alibabaRow: VendorRow<'alibaba'> = {
  id: 'alibaba',
  displayName: 'Alibaba Cloud Model Studio',
  baseURL: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
  apiKeyVariables: ['DASHSCOPE_API_KEY', 'ALIBABA_API_KEY'],
  apis: ['chat', 'responses'],
  dataPolicy: 'no_training',
  quirks: {
    ...oldMaxTokens,
    refuses: ['frequency_penalty'],
    // At most four, in any message: Model Studio, context cache, 2026-11. A hit costs a tenth.
    cacheMarks: ['system', 'user', 'assistant', 'results'],
    thinkingSwitch: { on: { enable_thinking: true }, off: { enable_thinking: false } },
  },
}
/** Alibaba Cloud Model Studio, international: Chat Completions and Responses. */
export const alibaba = vendor(alibabaRow)
/** Alibaba Cloud Model Studio, mainland China (Beijing). */
export const alibabaCn = vendor({
  ...alibabaRow,
  id: 'alibaba-cn',
  displayName: 'Alibaba Cloud Model Studio (China)',
  baseURL: 'https://dashscope.aliyuncs.com/compatible-mode/v1',
  apiKeyVariables: ['DASHSCOPE_CN_API_KEY'],
})
/** Qwen token plan, which has its own API keys. Source: pi-ai 1.5.2, 2026-11. */
export const qwenTokenPlan = vendor({
  ...alibabaRow,
  id: 'qwen-token-plan',
  displayName: 'Qwen token plan',
  baseURL: 'https://token-plan.ap-southeast-1.maas.aliyuncs.com/compatible-mode/v1',
  apiKeyVariables: ['QWEN_TOKEN_PLAN_API_KEY'],
  apis: ['chat'],
})
