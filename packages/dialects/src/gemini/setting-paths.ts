import type { SettingPaths } from '../common/used-settings.ts'

export const settingPaths: SettingPaths = {
  temperature: ['generationConfig.temperature'],
  top_p: ['generationConfig.topP'],
  top_logprobs: ['generationConfig.logprobs'],
  frequency_penalty: ['generationConfig.frequencyPenalty'],
  presence_penalty: ['generationConfig.presencePenalty'],
  max_output_tokens: ['generationConfig.maxOutputTokens'],
  tool_choice: ['toolConfig.functionCallingConfig.mode'],
  'reasoning.effort': ['generationConfig.thinkingConfig.thinkingLevel'],
  service_tier: ['serviceTier'],
}
