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
