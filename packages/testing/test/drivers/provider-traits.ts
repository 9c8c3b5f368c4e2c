import type { BuiltInDialect } from '@signalbox/dialects'
import { bedrockProvider, chatProvider, geminiProvider, messagesProvider, responsesProvider } from '@signalbox/dialects'
import { isObject, type Json, type JsonObject, type ProviderDialect } from '@signalbox/dialects/protocol'
import type { AnswerContent } from '../../src/answers/index.ts'
import { at, textAt } from './json.ts'
import type { Call, Picture } from './sdk-response.ts'

// How to find, in a body that a provider was sent, the content that a client of any dialect sent.

interface Result {
  readonly id: string
  readonly output: string
}

/** The content of one object of a body, if it has any. */
type Reads<T> = (part: JsonObject) => T | undefined

export interface ProviderTraits {
  readonly name: BuiltInDialect
  readonly dialect: ProviderDialect
  readonly call: Reads<Call>
  readonly result: Reads<Result>
  readonly picture: Reads<Picture>
  /** The schema of the answer, at the location of this dialect. */
  readonly schemaIn: (body: JsonObject) => Json | undefined
  /** How it returns an answer that matches the schema. */
  readonly shaped: (json: string) => AnswerContent
  /** How a client receives its refusal: as a refusal, as a refusal that ends the response, as plain text, or by the finish reason alone. */
  readonly refuses: 'refusal' | 'refusal at the end' | 'words' | 'end'
  /** What it requires back from reasoning. */
  readonly signature?: string
  /** It does not report reasoning tokens. */
  readonly hidesReasoning?: boolean
}

/** All scripted ones have the same signature. */
const signature = 'c2lnbmF0dXJlIG9mIGEgdGhvdWdodA=='

const said = (json: string): AnswerContent => ({ text: json })

function pictureAt(address: string): Picture | undefined {
  const [, type, data] = /^data:(image\/png);base64,(.+)$/.exec(address) ?? []
  return type === 'image/png' && data !== undefined ? { type, data } : undefined
}
const picture = (type: string, data: string): Picture | undefined => (type === 'image/png' ? { type, data } : undefined)

export const providerTraits: readonly ProviderTraits[] = [
  {
    name: 'responses',
    dialect: responsesProvider,
    call: part =>
      part.type === 'function_call' ? { id: textAt(part.call_id), name: textAt(part.name), arguments: textAt(part.arguments) } : undefined,
    result: part => (part.type === 'function_call_output' ? { id: textAt(part.call_id), output: textAt(part.output) } : undefined),
    picture: part => (part.type === 'input_image' ? pictureAt(textAt(part.image_url)) : undefined),
    schemaIn: body => at(body, 'text', 'format', 'schema'),
    shaped: said,
    refuses: 'refusal',
  },
  {
    name: 'chat',
    dialect: chatProvider,
    call: part =>
      part.id !== undefined && isObject(part.function)
        ? { id: textAt(part.id), name: textAt(part.function.name), arguments: textAt(part.function.arguments) }
        : undefined,
    result: part => (part.role === 'tool' ? { id: textAt(part.tool_call_id), output: textAt(part.content) } : undefined),
    picture: part => (part.type === 'image_url' ? pictureAt(textAt(part.image_url, 'url')) : undefined),
    schemaIn: body => at(body, 'response_format', 'json_schema', 'schema'),
    shaped: said,
    refuses: 'refusal',
  },
  {
    name: 'messages',
    dialect: messagesProvider,
    call: part =>
      part.type === 'tool_use' ? { id: textAt(part.id), name: textAt(part.name), arguments: JSON.stringify(part.input) } : undefined,
    result: part => (part.type === 'tool_result' ? { id: textAt(part.tool_use_id), output: textAt(part.content) } : undefined),
    picture: part => (part.type === 'image' ? picture(textAt(part.source, 'media_type'), textAt(part.source, 'data')) : undefined),
    schemaIn: body => at(body, 'output_config', 'format', 'schema'),
    shaped: said,
    refuses: 'refusal at the end',
    signature,
  },
  {
    name: 'gemini',
    dialect: geminiProvider,
    call: ({ functionCall: call }) =>
      isObject(call) ? { id: textAt(call.id), name: textAt(call.name), arguments: JSON.stringify(call.args) } : undefined,
    result: ({ functionResponse: result }) =>
      isObject(result) ? { id: textAt(result.id), output: textAt(result, 'response', 'output') } : undefined,
    picture: ({ inlineData }) => picture(textAt(inlineData, 'mimeType'), textAt(inlineData, 'data')),
    schemaIn: body => at(body, 'generationConfig', 'responseJsonSchema'),
    shaped: said,
    refuses: 'end',
    signature,
  },
  {
    name: 'bedrock',
    dialect: bedrockProvider,
    call: ({ toolUse: call }) =>
      isObject(call) ? { id: textAt(call.toolUseId), name: textAt(call.name), arguments: JSON.stringify(call.input) } : undefined,
    result: ({ toolResult: result }) =>
      isObject(result) ? { id: textAt(result.toolUseId), output: textAt(result, 'content', '0', 'text') } : undefined,
    picture: ({ image }) => picture(`image/${textAt(image, 'format')}`, textAt(image, 'source', 'bytes')),
    schemaIn: body => at(body, 'toolConfig', 'tools', '0', 'toolSpec', 'inputSchema', 'json'),
    // Its hosts enforce no schema for most models: a tool with the schema is called.
    shaped: json => ({ tools: [{ name: 'answer', arguments: json }] }),
    refuses: 'words',
    signature,
    hidesReasoning: true,
  },
]

/** Everything of a kind in a body, in order. */
export function found<T>(value: Json | undefined, reads: Reads<T>): readonly T[] {
  if (Array.isArray(value)) return (value as readonly Json[]).flatMap(inner => found(inner, reads))
  if (!isObject(value)) return []
  const own = reads(value)
  return [...(own === undefined ? [] : [own]), ...Object.values(value).flatMap(inner => found(inner, reads))]
}

export function traitsOf(name: BuiltInDialect): ProviderTraits {
  const traits = providerTraits.find(each => each.name === name)
  if (!traits) throw new Error(`Nobody speaks ${name} here.`)
  return traits
}
