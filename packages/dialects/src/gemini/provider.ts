import { decodeFailedAnswer as decodeFailure } from '../common/failure.ts'
import { withFlatTools } from '../common/tool-groups.ts'
import type { ProviderDialect } from '../protocol/dialect.ts'
import { decodeResponse } from './decode-response.ts'
import { decodeEvents } from './decode-stream.ts'
import { encodeCounting, encodeRequest } from './encode-request.ts'
import { fidelity } from './fidelity.ts'
import { media } from './media.ts'
import { settingPaths } from './setting-paths.ts'
import { dialect } from './wire.ts'

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
