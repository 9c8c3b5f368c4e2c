import type { SettingPaths } from '../common/used-settings.ts'

export const settingPaths: SettingPaths = {
  temperature: ['temperature'],
  top_p: ['top_p'],
  top_logprobs: ['top_logprobs'],
  frequency_penalty: ['frequency_penalty'],
  presence_penalty: ['presence_penalty'],
  max_output_tokens: ['max_output_tokens'],
  parallel_tool_calls: ['parallel_tool_calls'],
  tool_choice: ['tool_choice'],
  'reasoning.effort': ['reasoning.effort'],
  'reasoning.summary': ['reasoning.summary'],
  truncation: ['truncation'],
  service_tier: ['service_tier'],
  'text.verbosity': ['text.verbosity'],
}
