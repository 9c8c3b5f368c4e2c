import { bedrockRecordings } from '../test/bedrock-wire.ts'
import { describeProviderDialect, readBackWith, type Sample } from '../test/laws.ts'
import { recordings } from '../test/recordings.ts'
import { bedrockProvider } from './bedrock/provider.ts'
import { chatProvider } from './chat/provider.ts'
import { geminiProvider } from './gemini/provider.ts'
import { messagesProvider } from './messages/provider.ts'
import { isObject, type JsonObject } from './protocol/wire.ts'
import { responsesProvider } from './responses/provider.ts'

readBackWith(responsesProvider)

/** A Responses stream ends with the whole response of the same run. */
const samples: readonly Sample[] = recordings
  .filter(({ dialect }) => dialect === 'responses')
  .map(({ name, frames, text }) => {
    const last = frames.at(-1)?.data ?? '{}'
    const { response } = (last.endsWith('}') && isJson(last) ? JSON.parse(last) : {}) as { readonly response?: JsonObject }
    const whole = response && Array.isArray(response.output) && response.output.length > 0 ? response : undefined
    return { name, frames, text, ...(whole && { whole }) }
  })

function isJson(text: string): boolean {
  try {
    return isObject(JSON.parse(text))
  } catch {
    return false
  }
}

describeProviderDialect(responsesProvider, samples, { silent: {}, spelled: {} })

describeProviderDialect(
  chatProvider,
  recordings.filter(({ dialect }) => dialect === 'chat').map(({ name, frames, text }) => ({ name, frames, text })),
  {
    silent: {
      metadata: 'it is echoed by us and is no provider’s business',
      max_tool_calls: 'it caps hosted tools, and there are none',
    },
    spelled: { max_output_tokens: 'max_completion_tokens', reasoning: 'reasoning_effort', top_logprobs: 'logprobs' },
  },
)

describeProviderDialect(
  geminiProvider,
  recordings.filter(({ dialect }) => dialect === 'gemini').map(({ name, frames, text }) => ({ name, frames, text })),
  {
    silent: {
      metadata: 'it is echoed by us and is no provider’s business',
      max_tool_calls: 'it caps hosted tools, and there are none',
    },
    spelled: { instructions: 'systemInstruction', max_output_tokens: 'generationConfig', service_tier: 'serviceTier' },
  },
)

describeProviderDialect(
  messagesProvider,
  recordings.filter(({ dialect }) => dialect === 'messages').map(({ name, frames, text }) => ({ name, frames, text })),
  {
    silent: {
      metadata: 'it is echoed by us and is no provider’s business',
      max_tool_calls: 'it caps hosted tools, and there are none',
    },
    spelled: {
      instructions: 'system',
      max_output_tokens: 'max_tokens',
      reasoning: 'thinking',
      stop: 'stop_sequences',
      user: 'metadata',
      safety_identifier: 'metadata',
    },
  },
)

describeProviderDialect(
  bedrockProvider,
  bedrockRecordings.map(({ name, frames, bytes }) => ({ name, frames, bytes, text: '' })),
  {
    silent: {
      metadata: 'it is echoed by us and is no provider’s business',
      max_tool_calls: 'it caps hosted tools, and there are none',
    },
    spelled: {
      instructions: 'system',
      max_output_tokens: 'inferenceConfig',
      tools: 'toolConfig',
      reasoning: 'additionalModelRequestFields',
      service_tier: 'serviceTier',
      extensions: 'their_own',
    },
  },
)
