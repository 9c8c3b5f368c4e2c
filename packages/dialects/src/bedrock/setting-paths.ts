import type { SettingPaths } from '../common/used-settings.ts'

export const settingPaths: SettingPaths = {
  temperature: ['inferenceConfig.temperature'],
  top_p: ['inferenceConfig.topP'],
  max_output_tokens: ['inferenceConfig.maxTokens'],
  tool_choice: ['toolConfig.toolChoice'],
  'reasoning.effort': [
    'additionalModelRequestFields.output_config.effort',
    'additionalModelRequestFields.reasoning_effort',
    'additionalModelRequestFields.reasoning.effort',
    'additionalModelRequestFields.reasoningConfig.maxReasoningEffort',
  ],
  service_tier: ['serviceTier'],
}
