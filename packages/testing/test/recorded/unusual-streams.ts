import { isObject, type Json, type JsonObject } from '@signalbox/dialects/protocol'

// The same content as each dialect streams it: texts in pieces, calls in parallel with their pieces alternating, deltas of nothing and
// events of unknown types in between.

const list = (value: Json | undefined): readonly JsonObject[] => (Array.isArray(value) ? (value as unknown as readonly JsonObject[]) : [])
const words = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

/** Three pieces, the first of which is empty. A surrogate pair may be cut. */
const pieces = (text: string): readonly string[] => {
  const middle = Math.ceil(text.length / 2)
  return ['', text.slice(0, middle), text.slice(middle)]
}

/** Interleaves the lists. */
const alternating = <T>(lists: readonly (readonly T[])[]): readonly T[] =>
  Array.from({ length: Math.max(0, ...lists.map(({ length }) => length)) }, (_, at) => lists.flatMap(each => each.slice(at, at + 1))).flat()

const partEvents = (part: JsonObject, place: JsonObject): readonly JsonObject[] => {
  const field = part.type === 'refusal' ? 'refusal' : 'text'
  const name = part.type === 'refusal' ? 'response.refusal' : 'response.output_text'
  const whole = words(part[field])
  return [
    {
      type: 'response.content_part.added',
      ...place,
      part: { ...part, [field]: '', ...(part.annotations !== undefined && { annotations: [] }) },
    },
    ...pieces(whole).map(delta => ({ type: `${name}.delta`, ...place, delta })),
    ...list(part.annotations).map((annotation, annotation_index) => ({
      ...{ type: 'response.output_text.annotation.added', ...place },
      annotation_index,
      annotation,
    })),
    { type: `${name}.done`, ...place, [field]: whole },
    { type: 'response.content_part.done', ...place, part },
  ]
}

function itemEvents(item: JsonObject, output_index: number): readonly JsonObject[] {
  const place = { output_index, item_id: item.id ?? null }
  const [field, name] = item.type === 'custom_tool_call' ? ['input', 'custom_tool_call_input'] : ['arguments', 'function_call_arguments']
  const isCall = item.type === 'function_call' || item.type === 'custom_tool_call'
  const begun = { ...item, ...(item.type === 'message' && { content: [] }), ...(isCall && { [field]: '' }), status: 'in_progress' }
  const inside =
    item.type === 'message'
      ? list(item.content).flatMap((part, content_index) => partEvents(part, { ...place, content_index }))
      : isCall
        ? [
            ...pieces(words(item[field])).map(delta => ({ type: `response.${name}.delta`, ...place, delta })),
            { type: `response.${name}.done`, ...place, [field]: item[field] ?? '' },
          ]
        : [{ type: `response.${words(item.type)}.in_progress`, ...place }]
  return [
    { type: 'response.output_item.added', output_index, item: begun },
    ...inside,
    { type: 'response.output_item.done', output_index, item },
  ]
}

export function responsesChunks(whole: JsonObject, output: readonly JsonObject[]): readonly JsonObject[] {
  const begun = { ...whole, status: 'in_progress', output: [], usage: null, incomplete_details: null }
  const items = output.map(itemEvents)
  const calls = items.filter((_, at) => output[at]?.type === 'function_call')
  const others = items.filter((_, at) => output[at]?.type !== 'function_call').flat()
  const events = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    { type: 'response.weather', forecast: { of: 'rain' } },
    ...others,
    ...alternating(calls),
    { type: `response.${words(whole.status)}`, response: whole },
  ]
  return events.map((event, sequence_number) => ({ ...event, sequence_number }))
}

export function chatChunks(
  message: JsonObject,
  [finish_reason, beside]: readonly [string, JsonObject],
  usage: JsonObject,
): readonly JsonObject[] {
  const chunk = (delta: JsonObject, more: JsonObject = {}): JsonObject => ({
    ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', usage: null },
    choices: [{ index: 0, delta, finish_reason: null, logprobs: null, ...more }],
  })
  const { content, refusal, reasoning_content, tool_calls, ...others } = message
  const textual = Object.entries({ reasoning_content, content, refusal }).flatMap(([field, value]) =>
    typeof value === 'string' ? pieces(value).map(piece => chunk({ [field]: piece })) : [],
  )
  const calls = list(tool_calls).map((entry, index) => {
    if (!isObject(entry.function)) return [chunk({ tool_calls: [{ ...entry, index }] })]
    const { name = '', arguments: written } = entry.function
    return [
      chunk({ tool_calls: [{ ...entry, index, function: { name, arguments: '' } }] }),
      ...pieces(words(written)).map(piece => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ]
  })
  const rest = Object.entries(others).filter(([, value]) => value !== null)
  return [
    chunk({ role: 'assistant', content: '', refusal: null }),
    ...textual,
    ...rest.map(([field, value]) => chunk({ [field]: value ?? null })),
    ...(beside.logprobs === undefined ? [] : [chunk({ content: '' }, beside)]),
    ...alternating(calls),
    chunk({}, { finish_reason }),
    { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage },
  ]
}

export function messagesChunks(content: readonly JsonObject[], stop: JsonObject, usage: JsonObject): readonly JsonObject[] {
  const blocks = content.flatMap((block, index): readonly JsonObject[] => {
    const delta = (type: string, field: string, value: string): JsonObject => ({
      type: 'content_block_delta',
      index,
      delta: { type, [field]: value },
    })
    const begin = (content_block: JsonObject): JsonObject => ({ type: 'content_block_start', index, content_block })
    const end = { type: 'content_block_stop', index }
    if (block.type === 'text') {
      const citations = list(block.citations).map(citation => ({
        type: 'content_block_delta',
        index,
        delta: { type: 'citations_delta', citation },
      }))
      return [
        begin({ type: 'text', text: '' }),
        ...pieces(words(block.text)).map(piece => delta('text_delta', 'text', piece)),
        ...citations,
        end,
      ]
    }
    if (block.type === 'thinking') {
      const reasoning = pieces(words(block.thinking)).map(piece => delta('thinking_delta', 'thinking', piece))
      return [
        begin({ type: 'thinking', thinking: '', signature: '' }),
        ...reasoning,
        delta('signature_delta', 'signature', words(block.signature)),
        end,
      ]
    }
    if (block.type === 'tool_use' || block.type === 'server_tool_use') {
      const input = pieces(JSON.stringify(block.input ?? {})).map(piece => delta('input_json_delta', 'partial_json', piece))
      return [begin({ ...block, input: {} }), ...input, end]
    }
    return [begin(block), end]
  })
  const { output_tokens = 0 } = usage
  return [
    {
      type: 'message_start',
      message: {
        ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, stop_sequence: null },
        usage: { ...usage, output_tokens: 1, cache_creation_input_tokens: null, server_tool_use: null },
      },
    },
    { type: 'ping' },
    { type: 'weather', forecast: 'rain' },
    ...blocks,
    { type: 'message_delta', delta: stop, usage: { output_tokens, input_tokens: null } },
    { type: 'message_stop' },
  ]
}

export function geminiChunks(parts: readonly JsonObject[], end: JsonObject, usageMetadata: JsonObject): readonly JsonObject[] {
  const chunk = (part: JsonObject): JsonObject => ({ candidates: [{ index: 0, content: { role: 'model', parts: [part] } }] })
  return [
    { usageMetadata: { promptTokenCount: 11 }, modelVersion: 'm' },
    ...parts.flatMap(part => {
      const { text, ...signed } = part
      if (typeof text !== 'string' || text === '') return [chunk(part)]
      return pieces(text)
        .slice(1)
        .map((piece, at) => chunk(at === 1 ? { ...signed, text: piece } : { text: piece, ...(part.thought === true && { thought: true }) }))
    }),
    { candidates: [{ index: 0, content: { role: 'model' }, ...end }], usageMetadata },
  ]
}

export function bedrockChunks(content: readonly JsonObject[], stopReason: string, usage: JsonObject): readonly JsonObject[] {
  const blocks = content.map((block, contentBlockIndex): readonly JsonObject[] => {
    const delta = (inner: JsonObject): JsonObject => ({ contentBlockDelta: { contentBlockIndex, delta: inner } })
    const stop = { contentBlockStop: { contentBlockIndex } }
    if (typeof block.text === 'string') return [...pieces(block.text).map(text => delta({ text })), stop]
    if (isObject(block.toolUse)) {
      const { input = {}, ...start } = block.toolUse
      const written = pieces(JSON.stringify(input)).map(piece => delta({ toolUse: { input: piece } }))
      return [{ contentBlockStart: { contentBlockIndex, start: { toolUse: start } } }, ...written, stop]
    }
    const { text = '', signature = '' } = ((block.reasoningContent as JsonObject).reasoningText ?? {}) as JsonObject
    return [
      ...pieces(words(text)).map(piece => delta({ reasoningContent: { text: piece } })),
      delta({ reasoningContent: { signature } }),
      stop,
    ]
  })
  const calls = blocks.filter((_, at) => content[at]?.toolUse !== undefined)
  const others = blocks.filter((_, at) => content[at]?.toolUse === undefined).flat()
  return [
    { messageStart: { role: 'assistant' } },
    ...others,
    ...alternating(calls),
    { messageStop: { stopReason } },
    { metadata: { usage, metrics: { latencyMs: 1 } } },
  ]
}
