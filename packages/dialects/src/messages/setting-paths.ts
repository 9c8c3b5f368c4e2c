import type { SettingPaths } from '../common/used-settings.ts'

export const settingPaths: SettingPaths = {
  temperature: ['temperature'],
  top_p: ['top_p'],
  max_output_tokens: ['max_tokens'],
  tool_choice: ['tool_choice'],
  'reasoning.effort': ['output_config.effort'],
  service_tier: ['service_tier'],
}
