import { decodeFailedAnswer as decodeFailure } from '../common/failure.ts'
import { factsOf } from '../common/features.ts'
import { withFlatTools } from '../common/tool-groups.ts'
import type { ProviderDialect } from '../protocol/dialect.ts'
import type { MediaSupport } from '../protocol/media-support.ts'
import { decodeResponse } from './decode-response.ts'
import { decodeEvents } from './decode-stream.ts'
import { encodeRequest } from './encode-request.ts'
import { fields } from './fidelity.ts'
import { dialect } from './wire.ts'

/** Media from tool results is sent in a user message after them. */
const media: MediaSupport = { places: ['user', 'system', 'tool'] }

/** The Chat Completions API, as OpenAI and most other providers serve it. */
export const chatProvider: ProviderDialect = withFlatTools({
  name: dialect,
  conversationField: 'messages',
  encodeRequest,
  decodeResponse,
  decodeEvents,
  decodeFailure,
  ...factsOf(fields),
  media,
  path: '/chat/completions',
  acceptsNativeReasoningState: true,
  returnsReasoningText: true,
})
