import { decodeFailedAnswer as decodeFailure } from '../common/failure.ts'
import { withToolParameters } from '../common/tool-parameters.ts'
import type { SettingPaths } from '../common/used-settings.ts'
import type { ProviderDialect } from '../protocol/dialect.ts'
import type { MediaSupport } from '../protocol/media-support.ts'
import { decodeResponse } from './decode-response.ts'
import { decodeEvents } from './decode-stream.ts'
import { encodeRequest } from './encode-request.ts'
import { fidelity } from './fidelity.ts'
import { dialect } from './wire.ts'

const media: MediaSupport = { places: ['user', 'system', 'tool'] }

const settingPaths: SettingPaths = {
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

/** The Responses API, as OpenAI and compatible providers serve it. */
export const responsesProvider: ProviderDialect = withToolParameters({
  name: dialect,
  conversationField: 'input',
  // Sent by Codex: turn ids and times.
  requestFields: ['client_metadata'],
  encodeRequest,
  decodeResponse,
  decodeEvents,
  decodeFailure,
  fidelity,
  media,
  settingPaths,
  minOutputTokens: ({ minOutputTokens }) => minOutputTokens,
  path: '/responses',
  acceptsNativeReasoningState: true,
  hasReasoningSummaries: true,
})
