import { withFlatTools } from '../common/tool-groups.ts'
import type { ProviderDialect } from '../protocol/dialect.ts'
import { decodeResponse } from './decode-response.ts'
import { decodeEvents } from './decode-stream.ts'
import { encodeCounting, encodeRequest } from './encode-request.ts'
import { decodeFailure } from './errors.ts'
import { fidelity } from './fidelity.ts'
import { readEventStream } from './frames.ts'
import { media } from './media.ts'
import { settingPaths } from './setting-paths.ts'
import { dialect } from './wire.ts'

/** The Converse API of Amazon Bedrock. */
export const bedrockProvider: ProviderDialect = withFlatTools({
  name: dialect,
  conversationField: 'messages',
  encodeRequest,
  decodeResponse,
  decodeEvents,
  decodeFailure,
  fidelity,
  media,
  settingPaths,
  path: ({ model, stream }) => `/model/${encodeURIComponent(model)}/${stream ? 'converse-stream' : 'converse'}`,
  frames: readEventStream,
  counting: {
    encodeRequest: encodeCounting,
    decode: ({ inputTokens }) =>
      typeof inputTokens === 'number' && Number.isSafeInteger(inputTokens) && inputTokens >= 0 ? inputTokens : undefined,
  },
})
