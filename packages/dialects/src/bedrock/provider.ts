import { factsOf } from '../common/features.ts'
import { withFlatTools } from '../common/tool-groups.ts'
import type { ProviderDialect } from '../protocol/dialect.ts'
import type { MediaSupport } from '../protocol/media-support.ts'
import { decodeResponse } from './decode-response.ts'
import { decodeEvents } from './decode-stream.ts'
import { encodeCounting, encodeRequest } from './encode-request.ts'
import { decodeFailure } from './errors.ts'
import { fields } from './fidelity.ts'
import { readEventStream } from './frames.ts'
import { documentFormats, imageFormats } from './items.ts'
import { dialect } from './wire.ts'

const media: MediaSupport = {
  places: ['user', 'tool'],
  image: ({ type, isBase64 }) => isBase64 && imageFormats.has(type),
  file: ({ type, isBase64 }) => isBase64 && documentFormats.has(type),
}

/** The Converse API of Amazon Bedrock. */
export const bedrockProvider: ProviderDialect = withFlatTools({
  name: dialect,
  conversationField: 'messages',
  encodeRequest,
  decodeResponse,
  decodeEvents,
  decodeFailure,
  ...factsOf(fields, 'serviceTier'),
  media,
  path: ({ model, stream }) => `/model/${encodeURIComponent(model)}/${stream ? 'converse-stream' : 'converse'}`,
  frames: readEventStream,
  counting: {
    encodeRequest: encodeCounting,
    decode: ({ inputTokens }) =>
      typeof inputTokens === 'number' && Number.isSafeInteger(inputTokens) && inputTokens >= 0 ? inputTokens : undefined,
  },
})
