import { decodeFailedAnswer as decodeFailure } from '../common/failure.ts'
import { withFlatTools } from '../common/tool-groups.ts'
import type { SettingPaths } from '../common/used-settings.ts'
import type { ProviderDialect } from '../protocol/dialect.ts'
import type { MediaSupport } from '../protocol/media-support.ts'
import { decodeResponse } from './decode-response.ts'
import { decodeEvents } from './decode-stream.ts'
import { encodeRequest } from './encode-request.ts'
import { fidelity } from './fidelity.ts'
import { dialect } from './wire.ts'

/** Media from tool results is sent in a user message after them. */
const media: MediaSupport = { places: ['user', 'system', 'tool'] }

const settingPaths: SettingPaths = {
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

/** The Chat Completions API, as OpenAI and most other providers serve it. */
export const chatProvider: ProviderDialect = withFlatTools({
  name: dialect,
  conversationField: 'messages',
  encodeRequest,
  decodeResponse,
  decodeEvents,
  decodeFailure,
  fidelity,
  media,
  settingPaths,
  path: '/chat/completions',
  acceptsNativeReasoningState: true,
  returnsReasoningText: true,
})
