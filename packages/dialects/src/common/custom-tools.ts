import type { EncodedRequest, EventDecoder, ProviderDialect, ResponseMapping } from '../protocol/dialect.ts'
import type { InferenceEvent } from '../protocol/event.ts'
import type { FunctionCallItem, Item } from '../protocol/item.ts'
import { originalOf, pathOf, remember } from '../protocol/original.ts'
import type { InferenceRequest, Prompt } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import type { FunctionTool, Tool } from '../protocol/tool.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { type CustomInputReader, endOfInput, inputOf, readInput, startInput } from './custom-input.ts'
import { unsupported } from './part-warnings.ts'

// Custom tools take free text. A dialect without them gets a function whose only field, `input`, is that text, and earlier calls in the
// same form. Its calls become calls of the custom tool again.

const inputSchema: JsonObject = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The input of the tool, as plain text.' } },
  required: ['input'],
  additionalProperties: false,
}

type AdaptedField = 'customTools' | 'groupedTools' | 'propertyNames'

/** How tools that a dialect cannot express are sent, and how calls of them are read. `Known`: the mapping field that lists them. */
interface ToolAdapter<Known extends AdaptedField> {
  readonly mapping: Known
  encodeWith(encode: ProviderDialect['encodeRequest']): ProviderDialect['encodeRequest']
  /** Reads an item of a whole response. */
  readItem(item: Item, known: NonNullable<ResponseMapping[Known]>): Item
  readEvents(decoder: EventDecoder, known: NonNullable<ResponseMapping[Known]>): EventDecoder
}

/** Wraps a dialect so that tools and their calls go through an adapter. */
export function withToolAdapter<Known extends AdaptedField>(dialect: ProviderDialect, adapter: ToolAdapter<Known>): ProviderDialect {
  const { counting } = dialect
  return {
    ...dialect,
    encodeRequest: adapter.encodeWith(dialect.encodeRequest),
    ...(counting && { counting: { ...counting, encodeRequest: adapter.encodeWith(counting.encodeRequest) } }),
    decodeResponse(body, mapping) {
      const response = dialect.decodeResponse(body, mapping)
      const known = mapping?.[adapter.mapping]
      if (!known) return response
      return remember({ ...response, output: response.output.map(item => adapter.readItem(item, known)) }, originalOf(response))
    },
    decodeEvents(mapping) {
      const decoder = dialect.decodeEvents(mapping)
      const known = mapping?.[adapter.mapping]
      return known ? adapter.readEvents(decoder, known) : decoder
    },
  }
}

/** Wraps a dialect so that custom tools are sent as functions. Those that came in the dialect itself are unchanged. */
export const withCustomTools = (dialect: ProviderDialect): ProviderDialect =>
  withToolAdapter(dialect, {
    mapping: 'customTools',
    encodeWith: encode => (request, offer, quirks) => {
      const sent = withFunctions(request, dialect.name)
      return sent ? withMapping(encode(sent.request, offer, quirks), sent) : encode(request, offer, quirks)
    },
    readItem: (item, names) => (isCallOf(names, item) ? asCustomCall(item) : item),
    readEvents: withCustomCalls,
  })

/** Whether the tool of this name is a custom tool. */
export const isCustomTool = (tools: readonly Tool[] = [], name: string): boolean =>
  tools.some(tool => tool.type === 'function' && tool.custom !== undefined && tool.name === name)

interface SentAsFunctions {
  readonly request: InferenceRequest
  readonly names: ReadonlySet<string>
  readonly warnings: readonly Warning[]
}

/** The prompt with functions; undefined if nothing has to change. */
function withFunctions(request: InferenceRequest, name: string): SentAsFunctions | undefined {
  const { input, tools = [] } = request.prompt
  const isForeign = (value: object): boolean => originalOf(value)?.dialect !== name
  const isTool = (tool: Tool): tool is CustomTool => tool.type === 'function' && tool.custom !== undefined && isForeign(tool)
  const isCall = (item: Item): item is FunctionCallItem => item.type === 'function_call' && item.custom === true && isForeign(item)
  if (!tools.some(isTool) && !input.some(isCall)) return undefined
  const prompt: Prompt = {
    ...request.prompt,
    input: input.map(item => (isCall(item) ? asFunctionCall(item) : item)),
    tools: request.prompt.tools && tools.map(tool => (isTool(tool) ? asFunction(tool) : tool)),
  }
  const customTools = tools.filter(isTool)
  return {
    request: remember({ ...request, prompt }, originalOf(request)),
    names: new Set(customTools.map(tool => tool.name)),
    warnings: tools.flatMap((tool, index) => (isTool(tool) && tool.custom.grammar ? [notEnforced(pathOf(tool, `tools[${index}]`))] : [])),
  }
}

type CustomTool = FunctionTool & Required<Pick<FunctionTool, 'custom'>>

function asFunction({ custom, description = '', ...tool }: CustomTool): FunctionTool {
  const rule = custom.grammar && `The field \`input\` has to follow this ${custom.grammar.syntax} grammar:\n${custom.grammar.definition}`
  const described = [description, rule].filter(Boolean).join('\n\n')
  return { ...tool, description: described || undefined, parameters: inputSchema }
}

const asFunctionCall = ({ custom, ...call }: FunctionCallItem): FunctionCallItem => ({
  ...call,
  arguments: JSON.stringify({ input: call.arguments }),
})

const notEnforced = (param: string): Warning =>
  unsupported(`${param}.format`, `This provider cannot enforce the grammar of \`${param}\`; it was added to the tool description instead.`)

const withMapping = (encoded: EncodedRequest, { names, warnings }: SentAsFunctions): EncodedRequest => ({
  ...encoded,
  warnings: [...encoded.warnings, ...warnings],
  ...(names.size > 0 && { mapping: { ...encoded.mapping, customTools: names } }),
})

type CustomTools = NonNullable<ResponseMapping['customTools']>

const isCallOf = (names: CustomTools, item: Item): item is FunctionCallItem =>
  item.type === 'function_call' && !item.custom && names.has(item.name)

const asCustomCall = (item: FunctionCallItem): FunctionCallItem => ({ ...item, arguments: inputOf(item.arguments), custom: true })

/** Wraps a decoder so that calls of these tools become custom calls, with their text streamed. */
function withCustomCalls(decoder: EventDecoder, names: CustomTools): EventDecoder {
  const open = new Map<number, CustomInputReader>()
  const unwrap = (events: readonly InferenceEvent[]): readonly InferenceEvent[] =>
    open.size > 0 || events.some(event => event.type === 'item_started') ? events.flatMap(event => unwrapEvent(open, names, event)) : events
  return { read: frames => unwrap(decoder.read(frames)), end: () => unwrap(decoder.end()) }
}

function unwrapEvent(open: Map<number, CustomInputReader>, names: CustomTools, event: InferenceEvent): readonly InferenceEvent[] {
  if (event.type === 'item_started' && isCallOf(names, event.item)) {
    open.set(event.index, startInput())
    return [{ ...event, item: { ...event.item, arguments: '', custom: true } }]
  }
  const reader = 'index' in event && event.index !== undefined ? open.get(event.index) : undefined
  if (!reader) return [event]
  if (event.type === 'delta' && event.delta.kind === 'arguments') return inputDelta(event.index, readInput(reader, event.delta.text))
  if (event.type !== 'item_finished' || event.item.type !== 'function_call') return [event]
  open.delete(event.index)
  const { input, unsent } = endOfInput(reader, event.item.arguments)
  return [...inputDelta(event.index, unsent), { ...event, item: { ...event.item, arguments: input, custom: true } }]
}

const inputDelta = (index: number, text: string): readonly InferenceEvent[] =>
  text === '' ? [] : [{ type: 'delta', index, delta: { kind: 'arguments', part: 0, text } }]
