import type { Frame, JsonObject } from '../src/protocol/wire.ts'

// Big answers of every shape that a decoder knows, by the dialect of the provider. `n` is how many of a thing there are.

export interface BigAnswer {
  readonly dialect: 'responses' | 'chat' | 'messages' | 'gemini' | 'bedrock'
  readonly name: string
  /** What the frames of a stream hold; with its own name where the dialect has names for events. */
  readonly stream?: (n: number) => readonly JsonObject[]
  readonly whole?: (n: number) => JsonObject
}

const list = <T>(n: number, make: (at: number) => T): readonly T[] => Array.from({ length: n }, (_, at) => make(at))
const call = { name: 'f', arguments: '{"a":1}' }

// Chat

const choice = (delta: JsonObject, more: JsonObject = {}): JsonObject => ({ id: 'c', model: 'm', choices: [{ index: 0, delta, ...more }] })
const ended = choice({}, { finish_reason: 'stop' })
const message = (body: JsonObject): JsonObject => ({ id: 'c', model: 'm', choices: [{ index: 0, message: body, finish_reason: 'stop' }] })
const named = (at: number): JsonObject => ({ id: `call_${at}`, type: 'function', function: call })
const nameless = (at: number): JsonObject => ({ index: at, id: `call_${at}`, function: { arguments: '{}' } })
const unindexed = (at: number): JsonObject => ({ function: { ...call, name: `f${at}` } })
const sealedDetail = (at: number): JsonObject => ({ type: 'reasoning.text', index: 0, text: 'a', [`f${at}`]: 1 })
const citation = { type: 'url_citation', url_citation: { url: 'https://a.b', title: 't', start_index: 0, end_index: 1 } }
const odds = { token: 'a', logprob: -1, bytes: [97], top_logprobs: [] }

const chat: readonly Omit<BigAnswer, 'dialect'>[] = [
  {
    name: 'whole tool calls',
    stream: n => [...list(n, at => choice({ tool_calls: [{ index: at, ...named(at) }] })), ended],
    whole: n => message({ tool_calls: list(n, named) }),
  },
  { name: 'whole tool calls in one chunk', stream: n => [choice({ tool_calls: list(n, at => ({ index: at, ...named(at) })) }), ended] },
  {
    name: 'tool calls without a name',
    stream: n => [...list(n, at => choice({ tool_calls: [nameless(at)] })), ended],
    whole: n => message({ tool_calls: list(n, nameless) }),
  },
  {
    name: 'tool calls without a name between calls that have one',
    stream: n => [...list(n, at => choice({ tool_calls: [at % 2 ? nameless(at) : { ...named(at), index: at }] })), ended],
    whole: n => message({ tool_calls: list(n, at => (at % 2 ? nameless(at) : named(at))) }),
  },
  {
    name: 'tool calls without an id or a place',
    stream: n => [...list(n, at => choice({ tool_calls: [unindexed(at)] })), ended],
    whole: n => message({ tool_calls: list(n, unindexed) }),
  },
  {
    name: 'tool calls that stay open',
    stream: n => [
      ...list(n, at => choice({ tool_calls: [{ index: at, id: `c${at}`, function: { name: 'f', arguments: '{"a":' } }] })),
      ...list(n, at => choice({ tool_calls: [{ index: n - 1 - at, function: { arguments: '1' } }] })),
      ended,
    ],
  },
  {
    name: 'one call in pieces',
    stream: n => [
      choice({ tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: '{"a":"' } }] }),
      ...list(n, () => choice({ tool_calls: [{ index: 0, function: { arguments: 'x' } }] })),
      ended,
    ],
  },
  {
    name: 'thoughts and words in turn',
    stream: n => [...list(n, at => choice(at % 2 ? { content: 'w' } : { reasoning_content: 't' })), ended],
    whole: n => message({ content: list(n, at => ({ type: at % 2 ? 'text' : 'thinking', text: 'a' })) }),
  },
  {
    name: 'words and refusals in turn',
    stream: n => [...list(n, at => choice(at % 2 ? { content: 'w' } : { refusal: 'n' })), ended],
    whole: n => message({ content: list(n, at => (at % 2 ? { type: 'text', text: 'a' } : { type: 'refusal', refusal: 'n' })) }),
  },
  {
    name: 'thoughts between tool calls without a name',
    stream: n => [...list(n, at => choice(at % 2 ? { reasoning: 't', tool_calls: [nameless(at)] } : { content: 'w' })), ended],
  },
  {
    name: 'citations',
    stream: n => [choice({ content: 'w' }), ...list(n, () => choice({ annotations: [citation] })), ended],
    whole: n => message({ content: 'w', annotations: list(n, () => citation) }),
  },
  {
    name: 'probabilities',
    stream: n => [...list(n, () => choice({ content: 'w' }, { logprobs: { content: [odds] } })), ended],
    whole: n => ({
      id: 'c',
      choices: [{ index: 0, message: { content: 'w' }, logprobs: { content: list(n, () => odds) }, finish_reason: 'stop' }],
    }),
  },
  {
    name: 'pieces of one thought with a field of its own each',
    stream: n => [
      ...list(n, at => choice({ reasoning_details: [sealedDetail(at)] })),
      choice({ reasoning_details: [{ data: 'x' }] }),
      ended,
    ],
    whole: n => message({ content: 'w', reasoning_details: [...list(n, sealedDetail), { data: 'x' }] }),
  },
  {
    name: 'sealed thoughts',
    stream: n => [...list(n, at => choice({ content: 'w', reasoning_details: [{ data: `d${at}` }] })), ended],
    whole: n => message({ content: 'w', reasoning_details: list(n, at => ({ data: `d${at}` })) }),
  },
  { name: 'fields that are not read', stream: n => [...list(n, () => choice({ content: 'w', audio: { data: 'a' } })), ended] },
]

// Responses

const item = (at: number, body: JsonObject): JsonObject => ({ id: `i${at}`, ...body })
const added = (at: number, body: JsonObject, place = true): JsonObject => ({
  type: 'response.output_item.added',
  ...(place && { output_index: at }),
  item: item(at, body),
})
const done = (at: number, body: JsonObject, place = true): JsonObject => ({
  type: 'response.output_item.done',
  ...(place && { output_index: at }),
  item: item(at, body),
})
const calling = (at: number): JsonObject => ({ type: 'function_call', call_id: `c${at}`, ...call })
const speaking = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'w', annotations: [] }] }
const thinking = { type: 'reasoning', summary: [{ type: 'summary_text', text: 't' }] }
const searching = { type: 'web_search_call', status: 'completed' }
const completed = (output: readonly JsonObject[] = []): JsonObject => ({
  type: 'response.completed',
  response: { id: 'r', status: 'completed', output },
})
const response = (output: readonly JsonObject[]): JsonObject => ({ id: 'r', model: 'm', status: 'completed', output })
const textDelta = { type: 'response.output_text.delta', delta: 'w' }

const responses: readonly Omit<BigAnswer, 'dialect'>[] = [
  {
    name: 'tool calls',
    stream: n => [...list(n, at => [added(at, calling(at)), done(at, calling(at))]).flat(), completed()],
    whole: n => response(list(n, at => item(at, calling(at)))),
  },
  {
    name: 'tool calls without a place',
    stream: n => [...list(n, at => [added(at, calling(at), false), done(at, calling(at), false)]).flat(), completed()],
  },
  {
    name: 'messages that stay open, and words for each by its place',
    stream: n => [
      ...list(n, at => added(at, { ...speaking, content: [] })),
      ...list(n, at => ({ ...textDelta, output_index: n - 1 - at, content_index: 0 })),
      completed(),
    ],
  },
  {
    name: 'messages that stay open, and words for each by its id',
    stream: n => [
      ...list(n, at => added(at, { ...speaking, content: [] }, false)),
      ...list(n, at => ({ ...textDelta, item_id: `i${n - 1 - at}`, content_index: 0 })),
      completed(),
    ],
  },
  {
    name: 'items that are over, and words for the one that is not by no name at all',
    stream: n => [
      added(0, { ...speaking, content: [] }, false),
      ...list(n, at => [added(at + 1, calling(at), false), done(at + 1, calling(at), false), textDelta]).flat(),
      completed(),
    ],
  },
  {
    name: 'words for items that were never announced',
    stream: n => [...list(n, at => ({ ...textDelta, output_index: at, item_id: `x${at}` })), completed()],
  },
  {
    name: 'hosted tools by an id that is not known',
    stream: n => [
      ...list(n, at => [added(at, searching, false), { type: 'response.web_search_call.searching', item_id: `z${at}` }]).flat(),
      completed(),
    ],
    whole: n => response(list(n, at => item(at, searching))),
  },
  {
    name: 'parts of one message',
    stream: n => [
      added(0, { ...speaking, content: [] }),
      ...list(n, at => ({ ...textDelta, output_index: 0, content_index: at })),
      completed(),
    ],
    whole: n => response([item(0, { ...speaking, content: list(n, () => ({ type: 'output_text', text: 'w' })) })]),
  },
  {
    name: 'paragraphs of one thought',
    stream: n => [
      added(0, { ...thinking, summary: [] }),
      ...list(n, at => ({ type: 'response.reasoning_summary_text.delta', delta: 't', output_index: 0, summary_index: at })),
      completed(),
    ],
    whole: n => response([item(0, { ...thinking, summary: list(n, () => ({ type: 'summary_text', text: 't' })) })]),
  },
  {
    name: 'citations',
    stream: n => [
      added(0, { ...speaking, content: [] }),
      { ...textDelta, output_index: 0, content_index: 0 },
      ...list(n, () => ({
        type: 'response.output_text.annotation.added',
        output_index: 0,
        content_index: 0,
        annotation: { ...citation.url_citation, type: 'url_citation' },
      })),
      done(0, speaking),
      completed(),
    ],
  },
  {
    name: 'last words again and again',
    stream: n => [
      added(0, { ...speaking, content: [] }),
      ...list(n, () => [
        { ...textDelta, output_index: 0, content_index: 0 },
        { type: 'response.output_text.done', output_index: 0, content_index: 0, text: 'w' },
      ]).flat(),
      completed(),
    ],
  },
  {
    name: 'a last snapshot of what was never streamed',
    stream: n => [completed(list(n, at => item(at, at % 2 ? speaking : calling(at))))],
  },
  {
    name: 'a last snapshot under other ids',
    stream: n => [...list(n, at => added(at, speaking)), completed(list(n, at => ({ ...speaking, id: `other${at}` })))],
  },
  { name: 'thoughts', whole: n => response(list(n, at => item(at, thinking))) },
]

// Messages

const block = (at: number, content_block: JsonObject): JsonObject => ({ type: 'content_block_start', index: at, content_block })
const grows = (at: number, delta: JsonObject): JsonObject => ({ type: 'content_block_delta', index: at, delta })
const stops = (at: number): JsonObject => ({ type: 'content_block_stop', index: at })
const opening = { type: 'message_start', message: { id: 'm', model: 'm', role: 'assistant', content: [], usage: { input_tokens: 1 } } }
const closing: readonly JsonObject[] = [
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
  { type: 'message_stop' },
]
const use = (at: number): JsonObject => ({ type: 'tool_use', id: `t${at}`, name: 'f', input: { a: 1 } })
const told = (content: readonly JsonObject[]): JsonObject => ({ id: 'm', model: 'm', content, stop_reason: 'end_turn' })
const found = { type: 'web_search_result_location', url: 'https://a.b', title: 't', cited_text: 'w', encrypted_index: 'x' }

const messages: readonly Omit<BigAnswer, 'dialect'>[] = [
  {
    name: 'tool calls',
    stream: n => [opening, ...list(n, at => [block(at, use(at)), stops(at)]).flat(), ...closing],
    whole: n => told(list(n, use)),
  },
  {
    name: 'tool calls that stay open',
    stream: n => [
      opening,
      ...list(n, at => block(at, { ...use(at), input: {} })),
      ...list(n, at => grows(n - 1 - at, { type: 'input_json_delta', partial_json: '{}' })),
      ...closing,
    ],
  },
  {
    name: 'texts',
    stream: n => [
      opening,
      ...list(n, at => [block(at, { type: 'text', text: '' }), grows(at, { type: 'text_delta', text: 'w' }), stops(at)]).flat(),
      ...closing,
    ],
    whole: n => told(list(n, () => ({ type: 'text', text: 'w' }))),
  },
  {
    name: 'texts and thoughts in turn',
    stream: n => [
      opening,
      ...list(n, at => [block(at, at % 2 ? { type: 'text', text: 'w' } : { type: 'thinking', thinking: 't' }), stops(at)]).flat(),
      ...closing,
    ],
    whole: n => told(list(n, at => (at % 2 ? { type: 'text', text: 'w' } : { type: 'thinking', thinking: 't', signature: 's' }))),
  },
  {
    name: 'a block of an unknown kind that grows by ever new fields',
    stream: n => [
      opening,
      block(0, { type: 'new', text: '' }),
      ...list(n, at => grows(0, { type: 'x', [`f${at}`]: 1 })),
      stops(0),
      ...closing,
    ],
  },
  {
    name: 'a block of many fields that grows',
    stream: n => [
      opening,
      block(0, { type: 'new', ...Object.fromEntries(list(n, at => [`f${at}`, 1])) }),
      ...list(n, () => grows(0, { type: 'x', text: 'a' })),
      stops(0),
      ...closing,
    ],
  },
  {
    name: 'a thought whose signature brings ever new fields',
    stream: n => [
      opening,
      block(0, { type: 'thinking', thinking: '' }),
      ...list(n, at => grows(0, { type: 'signature_delta', signature: 's', [`f${at}`]: 1 })),
      stops(0),
      ...closing,
    ],
  },
  {
    name: 'ever new fields of the message and its usage',
    stream: n => [opening, ...list(n, at => ({ type: 'message_delta', delta: { [`f${at}`]: 1 }, usage: { [`u${at}`]: 1 } })), ...closing],
  },
  {
    name: 'a message of many fields that is told of often',
    stream: n => [
      { ...opening, message: { ...opening.message, ...Object.fromEntries(list(n, at => [`f${at}`, 1])) } },
      ...list(n, () => ({ type: 'message_delta', delta: { stop_sequence: 'a' }, usage: { output_tokens: 1 } })),
      ...closing,
    ],
  },
  {
    name: 'citations',
    stream: n => [
      opening,
      block(0, { type: 'text', text: 'w' }),
      ...list(n, () => grows(0, { type: 'citations_delta', citation: found })),
      stops(0),
      ...closing,
    ],
    whole: n => told([{ type: 'text', text: 'w', citations: list(n, () => found) }]),
  },
  {
    name: 'blocks of an unknown kind',
    whole: n => told(list(n, at => ({ type: 'server_tool_use', id: `s${at}`, name: 'web_search', input: { q: 'a' } }))),
  },
]

// Gemini

const candidate = (parts: readonly JsonObject[], more: JsonObject = {}): JsonObject => ({ candidates: [{ content: { parts }, ...more }] })
const stop: JsonObject = { candidates: [{ finishReason: 'STOP' }] }
const functionCall = (at: number): JsonObject => ({ functionCall: { name: 'f', args: { a: at } } })
const chunk = { web: { uri: 'https://a.b', title: 't' } }
const support = { segment: { startIndex: 0, endIndex: 1 }, groundingChunkIndices: [0] }

const gemini: readonly Omit<BigAnswer, 'dialect'>[] = [
  {
    name: 'tool calls',
    stream: n => [...list(n, at => candidate([functionCall(at)])), stop],
    whole: n => candidate(list(n, functionCall), { finishReason: 'STOP' }),
  },
  {
    name: 'thoughts and words in turn',
    stream: n => [...list(n, at => candidate([{ text: 'w', thought: at % 2 === 0 }])), stop],
    whole: n =>
      candidate(
        list(n, at => ({ text: 'w', thought: at % 2 === 0 })),
        { finishReason: 'STOP' },
      ),
  },
  {
    name: 'words that are signed',
    stream: n => [...list(n, at => candidate([{ text: 'w', thoughtSignature: `s${at}` }])), stop],
    whole: n =>
      candidate(
        list(n, at => ({ text: 'w', thoughtSignature: `s${at}` })),
        { finishReason: 'STOP' },
      ),
  },
  {
    name: 'arguments in pieces',
    stream: n => [
      candidate([{ functionCall: { name: 'f', willContinue: true } }]),
      ...list(n, at =>
        candidate([{ functionCall: { willContinue: true, partialArgs: [{ jsonPath: `$.a[${at}].b`, stringValue: 'x' }] } }]),
      ),
      candidate([{ functionCall: {} }]),
      stop,
    ],
    whole: n => candidate([{ functionCall: { name: 'f', partialArgs: list(n, at => ({ jsonPath: `$.f${at}`, stringValue: 'x' })) } }]),
  },
  {
    name: 'one argument in pieces',
    stream: n => [
      candidate([{ functionCall: { name: 'f', willContinue: true } }]),
      ...list(n, () =>
        candidate([{ functionCall: { willContinue: true, partialArgs: [{ jsonPath: '$.a', stringValue: 'x', willContinue: true }] } }]),
      ),
      candidate([{ functionCall: {} }]),
      stop,
    ],
  },
  {
    name: 'a path of quotes that are never closed',
    whole: n => candidate([{ functionCall: { name: 'f', partialArgs: [{ jsonPath: `$${"['\\'".repeat(n)}`, stringValue: 'x' }] } }]),
  },
  {
    name: 'sources',
    stream: n => [
      candidate([{ text: 'w'.repeat(1000) }]),
      candidate([], { groundingMetadata: { groundingChunks: list(n, () => chunk), groundingSupports: list(n, () => support) } }),
      stop,
    ],
    whole: n =>
      candidate([{ text: 'w'.repeat(1000) }], {
        groundingMetadata: { groundingChunks: list(n, () => chunk), groundingSupports: list(n, () => support) },
      }),
  },
  {
    name: 'parts of an unknown kind',
    stream: n => [...list(n, () => candidate([{ executableCode: { code: '1' } }])), stop],
    whole: n =>
      candidate(
        list(n, () => ({ executableCode: { code: '1' } })),
        { finishReason: 'STOP' },
      ),
  },
  {
    name: 'counts of ever new names',
    stream: n => [...list(n, at => ({ usageMetadata: { [`u${at}`]: 1 } })), candidate([{ text: 'w' }]), stop],
  },
]

// Bedrock

const start = (at: number, name: string): JsonObject => ({
  event: 'contentBlockStart',
  contentBlockIndex: at,
  start: { toolUse: { toolUseId: `t${at}`, name } },
})
const piece = (at: number, delta: JsonObject): JsonObject => ({ event: 'contentBlockDelta', contentBlockIndex: at, delta })
const halt = (at: number): JsonObject => ({ event: 'contentBlockStop', contentBlockIndex: at })
const ends: readonly JsonObject[] = [
  { event: 'messageStop', stopReason: 'end_turn' },
  { event: 'metadata', usage: { inputTokens: 1, outputTokens: 1 } },
]
const converse = (content: readonly JsonObject[]): JsonObject => ({
  output: { message: { role: 'assistant', content } },
  stopReason: 'end_turn',
})

const bedrock: readonly Omit<BigAnswer, 'dialect'>[] = [
  {
    name: 'tool calls',
    stream: n => [...list(n, at => [start(at, 'f'), piece(at, { toolUse: { input: '{}' } }), halt(at)]).flat(), ...ends],
    whole: n => converse(list(n, at => ({ toolUse: { toolUseId: `t${at}`, name: 'f', input: { a: 1 } } }))),
  },
  {
    name: 'tool calls that stay open',
    stream: n => [...list(n, at => start(at, 'f')), ...list(n, at => piece(n - 1 - at, { toolUse: { input: '{}' } })), ...ends],
  },
  {
    name: 'tool calls that stay open between words',
    stream: n => [...list(n, at => [start(at, 'f'), piece(n + at, { text: 'w' })]).flat(), ...ends],
  },
  {
    name: 'thoughts that stay open, at places of their own',
    stream: n => [...list(n, at => piece(at, { reasoningContent: { text: 't' } })), ...ends],
    whole: n => converse(list(n, () => ({ reasoningContent: { reasoningText: { text: 't', signature: 's' } } }))),
  },
  {
    name: 'thoughts in the open and hidden in turn',
    stream: n => [...list(n, at => piece(0, { reasoningContent: at % 2 ? { text: 't' } : { redactedContent: 'x' } })), ...ends],
  },
  {
    name: 'words and tool calls in turn',
    stream: n => [...list(n, at => (at % 2 ? [piece(at, { text: 'w' })] : [start(at, 'f'), halt(at)])).flat(), ...ends],
    whole: n => converse(list(n, at => (at % 2 ? { text: 'w' } : { toolUse: { toolUseId: `t${at}`, name: 'f', input: {} } }))),
  },
]

export const bigAnswers: readonly BigAnswer[] = [
  ...chat.map(each => ({ ...each, dialect: 'chat' as const })),
  ...responses.map(each => ({ ...each, dialect: 'responses' as const })),
  ...messages.map(each => ({ ...each, dialect: 'messages' as const })),
  ...gemini.map(each => ({ ...each, dialect: 'gemini' as const })),
  ...bedrock.map(each => ({ ...each, dialect: 'bedrock' as const })),
]

/** A body of a stream as its frame. */
export function frameOf({ event, ...body }: JsonObject): Frame {
  return typeof event === 'string' ? { event, data: JSON.stringify(body) } : { data: JSON.stringify(body) }
}
