import type { SettingPaths } from '../common/used-settings.ts'

export const settingPaths: SettingPaths = {
  temperature: ['temperature'],
  top_p: ['top_p'],
  top_logprobs: ['top_logprobs'],
  frequency_penalty: ['frequency_penalty'],
  presence_penalty: ['presence_penalty'],
  max_output_tokens: ['max_completion_tokens', 'max_tokens'],
  parallel_tool_calls: ['parallel_tool_calls'],
  tool_choice: ['tool_choice'],
  'reasoning.effort': ['reasoning_effort', 'reasoning.effort'],
  service_tier: ['service_tier'],
  'text.verbosity': ['verbosity'],
}
