import type { EncodedRequest, FailedAnswer, ProviderDialect, Reading } from '../../protocol/dialect.ts'
import type { Failure } from '../../protocol/failure.ts'
import type { Offer, Quirks } from '../../protocol/model.ts'
import type { InferenceRequest, Prompt } from '../../protocol/request.ts'
import type { Warning } from '../../protocol/response.ts'
import type { JsonObject } from '../../protocol/wire.ts'
import { unsupported } from '../apply-quirks.ts'
import { decodeFailedAnswer } from '../failure.ts'
import { makeSchemaFitter } from '../fit-schemas.ts'
import { objectIn } from '../json.ts'
import { cacheMarks } from './cache-points.ts'
import { decodeResponse } from './decode-response.ts'
import { decodeEvents } from './decode-stream.ts'
import { betasOf, extendBedrock } from './extensions.ts'
import { readEventStream } from './frames.ts'
import { writeSettings } from './inference-config.ts'
import { type Conversation, writeConversation } from './items.ts'
import { writeFormat } from './response-format.ts'
import { type Thinking, writeThinking } from './thinking.ts'
import { writeTools } from './tools.ts'
import { complaintOf, dialect, nameOf } from './wire.ts'

/** Model and delivery stand in the address, so the body names neither. */
function encodeRequest(request: InferenceRequest, offer: Offer, quirks: Quirks): EncodedRequest {
  const { prompt } = request
  const said = compose(request, offer, quirks)
  const { inferenceConfig, tier, fields, warnings } = writeSettings(request, offer, { quirks, thinking: said.thinking })
  const own = { ...said.fields, ...fields, ...betasOf(request, quirks) }
  const body: JsonObject = {
    ...said.body,
    ...(Object.keys(inferenceConfig).length > 0 && { inferenceConfig }),
    ...(tier !== undefined && { serviceTier: { type: tier } }),
    ...(Object.keys(own).length > 0 && { additionalModelRequestFields: own }),
  }
  return {
    ...extendBedrock({ body, warnings: [...said.warnings, ...warnings, ...unsayable(prompt)] }, prompt.extensions),
    ...(request.delivery === 'stream' && { headers: { accept: 'application/vnd.amazon.eventstream' } }),
    ...(said.reading && { reading: said.reading }),
  }
}

interface Composed {
  readonly body: JsonObject
  /** Of the model's own. */
  readonly fields: JsonObject
  readonly warnings: readonly Warning[]
  readonly reading: Reading | undefined
  readonly thinking: Thinking
}

/** What is said to the model, and how it may answer. */
function compose({ prompt, schemas = makeSchemaFitter() }: InferenceRequest, offer: Offer, quirks: Quirks): Composed {
  const marks = cacheMarks(prompt, quirks)
  const conversation = writeConversation(prompt.input, marks)
  const thinking = writeThinking({ prompt, offer, quirks, isUnthought: conversation.isUnthought })
  const canDemand = quirks.no_forced_tools !== true && thinking.rules !== 'thinking'
  const format = writeFormat(prompt, quirks, { canDemand, schemas })
  const tools = writeTools(prompt, quirks, { conversation, answer: format.answer, canDemand, marks, schemas })
  const told = [format.instruction, tools.instruction].flatMap(text => (text === undefined ? [] : [{ text }]))
  const system = [...(prompt.instructions?.trim() ? [{ text: prompt.instructions }] : []), ...conversation.system, ...told]
  // Where nobody but the system speaks, the user says it: there must be something to answer.
  const opens = system.length > 0 && (quirks.no_system === true || conversation.messages.length === 0)
  const messages = opens ? opened(conversation.messages, system) : conversation.messages
  const isUnbegun = messages[0]?.role === 'assistant'
  return {
    body: {
      messages: isUnbegun ? [beginning, ...messages] : messages,
      ...(system.length > 0 && !opens && { system }),
      ...(tools.toolConfig && { toolConfig: tools.toolConfig }),
      ...format.fields,
    },
    fields: { ...thinking.fields, ...tools.fields },
    warnings: [
      ...conversation.warnings,
      ...(isUnbegun ? [unbegun] : []),
      ...marks.warnings,
      ...thinking.warnings,
      ...format.warnings,
      ...tools.warnings,
    ],
    reading: readingOf(prompt, conversation, format.answer?.name),
    thinking,
  }
}

/** What the system says, before the first words of the user. */
function opened(messages: readonly JsonObject[], system: readonly JsonObject[]): readonly JsonObject[] {
  const [first, ...rest] = messages
  if (first?.role !== 'user' || !Array.isArray(first.content)) return [{ role: 'user', content: system }, ...messages]
  return [{ role: 'user', content: [...system, ...first.content] }, ...rest]
}

/** The user has the first word there, whoever had it elsewhere. */
const beginning: JsonObject = { role: 'user', content: [{ text: '(The conversation begins.)' }] }
const unbegun = unsupported('input', 'A conversation that the assistant begins is refused here; a note of the user was put before it.')

function readingOf({ tools = [] }: Prompt, { called }: Conversation, answerTool: string | undefined): Reading | undefined {
  const names = [...tools.flatMap(tool => (tool.type === 'function' ? [tool.name] : [])), ...called]
  const toolNames = new Map(names.filter(name => nameOf(name) !== name).map(name => [nameOf(name), name]))
  if (toolNames.size === 0 && answerTool === undefined) return undefined
  return { ...(toolNames.size > 0 && { toolNames }), ...(answerTool !== undefined && { answerTool }) }
}

/** Extra data that callers ask for on the off chance; there is none here, and nothing is lost. */
const harmless: ReadonlySet<string> = new Set(['reasoning.encrypted_content'])

/** Silent are only `metadata`, which is echoed by us and no provider's business, and `max_tool_calls`, which caps hosted tools alone. */
function unsayable({ include = [], native }: Prompt): readonly Warning[] {
  const here = 'has no counterpart here and was left out.'
  return [
    ...include.flatMap((name, at) => (harmless.has(name) ? [] : [unsupported(`include[${at}]`, `\`include[${at}]\` ${here}`)])),
    ...Object.keys(native?.body ?? {}).map(field => unsupported(field, `\`${field}\` ${here}`)),
  ]
}

/** The name of the error stands in a header, and only its words in the body. */
function decodeFailure(answer: FailedAnswer): Failure {
  const name = answer.header('x-amzn-errortype') ?? ''
  const body = objectIn(answer.body)
  if (!body && name === '') return decodeFailedAnswer(answer)
  const { message, code, type, param } = complaintOf(name, body ?? {})
  return decodeFailedAnswer({ ...answer, body: JSON.stringify({ message, code, type, param }) })
}

export const bedrockProvider: ProviderDialect = {
  name: dialect,
  encodeRequest,
  decodeResponse,
  decodeEvents,
  decodeFailure,
  frames: readEventStream,
  counting: {
    encodeRequest(request, offer, quirks) {
      const { body, warnings } = compose(request, offer, quirks)
      const { messages, system, toolConfig } = body
      return { body: { input: { converse: { messages, system, toolConfig } } }, warnings }
    },
    decode: ({ inputTokens }) =>
      typeof inputTokens === 'number' && Number.isSafeInteger(inputTokens) && inputTokens >= 0 ? inputTokens : undefined,
  },
}
