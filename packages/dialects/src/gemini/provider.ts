import { decodeFailedAnswer as decodeFailure } from '../common/failure.ts'
import { factsOf } from '../common/features.ts'
import { withFlatTools } from '../common/tool-groups.ts'
import type { ProviderDialect } from '../protocol/dialect.ts'
import type { MediaSupport } from '../protocol/media-support.ts'
import { decodeResponse } from './decode-response.ts'
import { decodeEvents } from './decode-stream.ts'
import { encodeCounting, encodeRequest } from './encode-request.ts'
import { fields } from './fidelity.ts'
import { dialect } from './wire.ts'

const media: MediaSupport = {
  places: ['user', 'tool'],
  image: ({ isBase64 }) => isBase64,
  file: ({ isBase64 }) => isBase64,
}

/** The Gemini API of Google AI Studio and Vertex AI. */
export const geminiProvider: ProviderDialect = withFlatTools({
  name: dialect,
  conversationField: 'contents',
  encodeRequest,
  decodeResponse,
  decodeEvents,
  decodeFailure,
  ...factsOf(fields, 'serviceTier'),
  media,
  path: ({ model, stream }) => `/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  keyHeader: 'x-goog-api-key',
  counting: {
    encodeRequest: encodeCounting,
    decode: ({ totalTokens }) =>
      typeof totalTokens === 'number' && Number.isSafeInteger(totalTokens) && totalTokens >= 0 ? totalTokens : undefined,
  },
})
