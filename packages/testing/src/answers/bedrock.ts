import type { Frame, JsonObject } from '@signalbox/dialects/protocol'
import { parsed } from '../parsed.ts'
import {
  type AnswerContent,
  type AnswerError,
  type AnswerToolCall,
  type AnswerUsage,
  type AnswerWriter,
  pieces,
  usageOf,
} from './answer.ts'
import { eventMessage } from './event-stream.ts'

const frame = (event: string, body: JsonObject): Frame => ({ event, data: JSON.stringify(body) })

const usageObject = ({ input, output, cached }: Required<AnswerUsage>): JsonObject => ({
  inputTokens: input - cached,
  outputTokens: output,
  totalTokens: input + output,
  cacheReadInputTokens: cached,
  cacheWriteInputTokens: 0,
  serverToolUsage: {},
})

const reasons = { stop: 'end_turn', length: 'max_tokens', content_filter: 'content_filtered' } as const

/** A guardrail replaces the model's text with its own. */
function stopOf({ refusal, tools = [], finish = 'stop' }: AnswerContent): JsonObject {
  if (refusal !== undefined) return { stopReason: 'guardrail_intervened' }
  return { stopReason: finish === 'stop' && tools.length > 0 ? 'tool_use' : reasons[finish] }
}

const signature = 'c2lnbmF0dXJlIG9mIGEgdGhvdWdodA=='

/** One block with its start event and deltas. */
interface Spoken {
  readonly block: JsonObject
  /** Only calls have a start event. */
  readonly start?: JsonObject
  readonly deltas: readonly JsonObject[]
}

const thought = (text: string): Spoken => ({
  block: { reasoningContent: { reasoningText: { text, signature } } },
  deltas: [...pieces(text).map(piece => ({ reasoningContent: { text: piece } })), { reasoningContent: { signature } }],
})

const said = (text: string): Spoken => ({ block: { text }, deltas: pieces(text).map(piece => ({ text: piece })) })

function called({ id, name, arguments: written }: AnswerToolCall, at: number): Spoken {
  const toolUse = { toolUseId: id ?? `tooluse_${at + 1}`, name }
  return {
    block: { toolUse: { ...toolUse, input: parsed(written) ?? {} } },
    start: { toolUse },
    deltas: pieces(written).map(input => ({ toolUse: { input } })),
  }
}

const spoken = ({ reasoning, text, refusal, tools = [] }: AnswerContent): readonly Spoken[] => [
  ...(reasoning === undefined ? [] : [thought(reasoning)]),
  ...(text === undefined ? [] : [said(text)]),
  ...(refusal === undefined ? [] : [said(refusal)]),
  ...tools.map(called),
]

const framesOf = ({ start, deltas }: Spoken, contentBlockIndex: number): readonly Frame[] => [
  ...(start ? [frame('contentBlockStart', { contentBlockIndex, start })] : []),
  ...deltas.map(delta => frame('contentBlockDelta', { contentBlockIndex, delta })),
  frame('contentBlockStop', { contentBlockIndex }),
]

/** Bedrock identifies errors by exception names. */
const exceptions: ReadonlyMap<string | null, string> = new Map<string | null, string>([
  ['rate_limit_exceeded', 'throttlingException'],
  ['insufficient_quota', 'serviceQuotaExceededException'],
  ['billing_hard_limit_reached', 'serviceQuotaExceededException'],
  ['invalid_api_key', 'unrecognizedClientException'],
  ['model_not_allowed', 'accessDeniedException'],
  ['model_not_found', 'resourceNotFoundException'],
  ['server_is_overloaded', 'serviceUnavailableException'],
  ['server_error', 'internalServerException'],
])

const nameOf = ({ code, type }: AnswerError): string =>
  exceptions.get(code) ?? (type === 'invalid_request_error' ? 'validationException' : 'internalServerException')

const errorOf = (trouble: AnswerError): JsonObject => {
  const name = nameOf(trouble)
  return { __type: name.charAt(0).toUpperCase() + name.slice(1), message: trouble.message }
}

/** Bedrock's Converse API. Model and delivery are in the path. */
export const bedrockWriter: AnswerWriter = {
  path: '/v1/model',
  addressed(path) {
    const [, model, operation] = /^(?:\/v1)?\/model\/([^/?]+)\/(converse|converse-stream)$/.exec(path) ?? []
    return model === undefined ? undefined : { model: decodeURIComponent(model), stream: operation === 'converse-stream' }
  },
  wire: { type: 'application/vnd.amazon.eventstream', bytes: frames => Buffer.concat(frames.map(messageBytes)) },
  write(script) {
    const usage = usageOf(script)
    const counted = usage ? { usage: usageObject(usage) } : {}
    const blocks = spoken(script)
    return {
      whole: {
        output: { message: { role: 'assistant', content: blocks.map(({ block }) => block) } },
        ...stopOf(script),
        ...counted,
        metrics: { latencyMs: 1 },
      },
      opening: [frame('messageStart', { role: 'assistant' })],
      content: blocks.flatMap(framesOf),
      closing: [frame('messageStop', stopOf(script)), frame('metadata', { ...counted, metrics: { latencyMs: 1 } })],
    }
  },
  error: errorOf,
  errorFrames: trouble => [frame(nameOf(trouble), { message: trouble.message })],
  failed: errorOf,
  textFrame: text => frame('contentBlockDelta', { contentBlockIndex: 0, delta: { text } }),
  unknownFrame: () => frame('futureThing', { future: { kind: 'unheard-of' } }),
}

function messageBytes({ event = '', data }: Frame): Uint8Array {
  const isException = event.endsWith('Exception')
  return eventMessage(
    {
      [isException ? ':exception-type' : ':event-type']: event,
      ':content-type': 'application/json',
      ':message-type': isException ? 'exception' : 'event',
    },
    Buffer.from(data),
  )
}
