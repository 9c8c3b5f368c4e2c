import { decodeFailedAnswer as decodeFailure } from '../common/failure.ts'
import { withFlatTools } from '../common/tool-groups.ts'
import type { ProviderDialect } from '../protocol/dialect.ts'
import { decodeResponse } from './decode-response.ts'
import { decodeEvents } from './decode-stream.ts'
import { encodeRequest } from './encode-request.ts'
import { fidelity } from './fidelity.ts'
import { media } from './media.ts'
import { settingPaths } from './setting-paths.ts'
import { dialect } from './wire.ts'

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
