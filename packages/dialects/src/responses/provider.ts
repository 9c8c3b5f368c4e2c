import { decodeFailedAnswer as decodeFailure } from '../common/failure.ts'
import { withToolParameters } from '../common/tool-parameters.ts'
import type { ProviderDialect } from '../protocol/dialect.ts'
import { decodeResponse } from './decode-response.ts'
import { decodeEvents } from './decode-stream.ts'
import { encodeRequest } from './encode-request.ts'
import { fidelity } from './fidelity.ts'
import { media } from './media.ts'
import { settingPaths } from './setting-paths.ts'
import { dialect } from './wire.ts'

/** The Responses API, as OpenAI and compatible providers serve it. */
export const responsesProvider: ProviderDialect = withToolParameters({
  name: dialect,
  conversationField: 'input',
  // Sent by Codex: turn ids and times.
  requestFields: ['client_metadata'],
  encodeRequest,
  decodeResponse,
  decodeEvents,
  decodeFailure,
  fidelity,
  media,
  settingPaths,
  minOutputTokens: ({ minOutputTokens }) => minOutputTokens,
  path: '/responses',
  acceptsNativeReasoningState: true,
  hasReasoningSummaries: true,
})
