import { decodeFailedAnswer as decodeFailure } from '../common/failure.ts'
import { factsOf } from '../common/features.ts'
import { withToolParameters } from '../common/tool-parameters.ts'
import type { ProviderDialect } from '../protocol/dialect.ts'
import type { MediaSupport } from '../protocol/media-support.ts'
import { decodeResponse } from './decode-response.ts'
import { decodeEvents } from './decode-stream.ts'
import { encodeRequest } from './encode-request.ts'
import { fields } from './fidelity.ts'
import { dialect } from './wire.ts'

const media: MediaSupport = { places: ['user', 'system', 'tool'] }

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
  ...factsOf(fields),
  media,
  minOutputTokens: ({ minOutputTokens }) => minOutputTokens,
  path: '/responses',
  acceptsNativeReasoningState: true,
  hasReasoningSummaries: true,
})
