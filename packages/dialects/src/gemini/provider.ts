import { decodeFailedAnswer as decodeFailure } from '../common/failure.ts'
import { withFlatTools } from '../common/tool-groups.ts'
import type { SettingPaths } from '../common/used-settings.ts'
import type { ProviderDialect } from '../protocol/dialect.ts'
import type { MediaSupport } from '../protocol/media-support.ts'
import { decodeResponse } from './decode-response.ts'
import { decodeEvents } from './decode-stream.ts'
import { encodeCounting, encodeRequest } from './encode-request.ts'
import { fidelity } from './fidelity.ts'
import { dialect } from './wire.ts'

const media: MediaSupport = {
  places: ['user', 'tool'],
  image: ({ isBase64 }) => isBase64,
  file: ({ isBase64 }) => isBase64,
}

const settingPaths: SettingPaths = {
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

/** The Gemini API of Google AI Studio and Vertex AI. */
export const geminiProvider: ProviderDialect = withFlatTools({
  name: dialect,
  conversationField: 'contents',
  encodeRequest,
  decodeResponse,
  decodeEvents,
  decodeFailure,
  fidelity,
  media,
  settingPaths,
  path: ({ model, stream }) => `/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  keyHeader: 'x-goog-api-key',
  counting: {
    encodeRequest: encodeCounting,
    decode: ({ totalTokens }) =>
      typeof totalTokens === 'number' && Number.isSafeInteger(totalTokens) && totalTokens >= 0 ? totalTokens : undefined,
  },
})
