import { decodeFailedAnswer as decodeFailure } from '../common/failure.ts'
import { factsOf } from '../common/features.ts'
import { withFlatTools } from '../common/tool-groups.ts'
import type { ProviderDialect } from '../protocol/dialect.ts'
import type { MediaSupport } from '../protocol/media-support.ts'
import { decodeResponse } from './decode-response.ts'
import { decodeEvents } from './decode-stream.ts'
import { encodeCounting, encodeRequest } from './encode-request.ts'
import { fields } from './fidelity.ts'
import { imageTypes, isTextType } from './items.ts'
import { dialect } from './wire.ts'

const media: MediaSupport = {
  places: ['user', 'tool'],
  image: ({ type, isBase64 }) => isBase64 && imageTypes.has(type),
  file: ({ type, isBase64 }) => (isBase64 && type === 'application/pdf') || isTextType(type),
}

/** The Messages API, as Anthropic and compatible providers serve it. */
export const messagesProvider: ProviderDialect = withFlatTools({
  name: dialect,
  conversationField: 'messages',
  encodeRequest,
  decodeResponse,
  decodeEvents,
  decodeFailure,
  ...factsOf(fields),
  media,
  path: '/messages',
  keyHeader: 'x-api-key',
  acceptsNativeReasoningState: true,
  definesPrefill: true,
  counting: {
    encodeRequest: encodeCounting,
    decode: ({ input_tokens }) => (typeof input_tokens === 'number' ? input_tokens : undefined),
  },
})
