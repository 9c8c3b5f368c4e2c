import { decodeFailedAnswer as decodeFailure } from '../common/failure.ts'
import { withFlatTools } from '../common/tool-groups.ts'
import type { SettingPaths } from '../common/used-settings.ts'
import type { ProviderDialect } from '../protocol/dialect.ts'
import type { MediaSupport } from '../protocol/media-support.ts'
import { decodeResponse } from './decode-response.ts'
import { decodeEvents } from './decode-stream.ts'
import { imageTypes, isTextType } from './encode-parts.ts'
import { encodeCounting, encodeRequest } from './encode-request.ts'
import { fidelity } from './fidelity.ts'
import { dialect } from './wire.ts'

const media: MediaSupport = {
  places: ['user', 'tool'],
  image: ({ type, isBase64 }) => isBase64 && imageTypes.has(type),
  file: ({ type, isBase64 }) => (isBase64 && type === 'application/pdf') || isTextType(type),
}

const settingPaths: SettingPaths = {
  temperature: ['temperature'],
  top_p: ['top_p'],
  max_output_tokens: ['max_tokens'],
  tool_choice: ['tool_choice'],
  'reasoning.effort': ['output_config.effort'],
  service_tier: ['service_tier'],
}

/** The Messages API, as Anthropic and compatible providers serve it. */
export const messagesProvider: ProviderDialect = withFlatTools({
  name: dialect,
  conversationField: 'messages',
  encodeRequest,
  decodeResponse,
  decodeEvents,
  decodeFailure,
  fidelity,
  media,
  settingPaths,
  path: '/messages',
  keyHeader: 'x-api-key',
  acceptsNativeReasoningState: true,
  definesPrefill: true,
  counting: {
    encodeRequest: encodeCounting,
    decode: ({ input_tokens }) => (typeof input_tokens === 'number' ? input_tokens : undefined),
  },
})
