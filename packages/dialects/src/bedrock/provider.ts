import { withFlatTools } from '../common/tool-groups.ts'
import type { SettingPaths } from '../common/used-settings.ts'
import type { ProviderDialect } from '../protocol/dialect.ts'
import type { MediaSupport } from '../protocol/media-support.ts'
import { decodeResponse } from './decode-response.ts'
import { decodeEvents } from './decode-stream.ts'
import { documentFormats, imageFormats } from './encode-parts.ts'
import { encodeCounting, encodeRequest } from './encode-request.ts'
import { decodeFailure } from './errors.ts'
import { fidelity } from './fidelity.ts'
import { readEventStream } from './frames.ts'
import { dialect } from './wire.ts'

const media: MediaSupport = {
  places: ['user', 'tool'],
  image: ({ type, isBase64 }) => isBase64 && imageFormats.has(type),
  file: ({ type, isBase64 }) => isBase64 && documentFormats.has(type),
}

const settingPaths: SettingPaths = {
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

/** The Converse API of Amazon Bedrock. */
export const bedrockProvider: ProviderDialect = withFlatTools({
  name: dialect,
  conversationField: 'messages',
  encodeRequest,
  decodeResponse,
  decodeEvents,
  decodeFailure,
  fidelity,
  media,
  settingPaths,
  path: ({ model, stream }) => `/model/${encodeURIComponent(model)}/${stream ? 'converse-stream' : 'converse'}`,
  frames: readEventStream,
  counting: {
    encodeRequest: encodeCounting,
    decode: ({ inputTokens }) =>
      typeof inputTokens === 'number' && Number.isSafeInteger(inputTokens) && inputTokens >= 0 ? inputTokens : undefined,
  },
})
