import type { BuiltInDialect } from '@signalbox/dialects'
import { type Frame, isObject, type Json, type JsonObject } from '@signalbox/dialects/protocol'
import { defaultText, pieces } from '../answers/answer.ts'
import { answering, answeringWith, type Respond } from './acts.ts'
import { bodyOf, type Change, changed, editedAnswer, inFrame, put } from './edits.ts'
import type { Exchange } from './exchange.ts'
import { alike, type Billed, type Expected, type Fault, faultOf, fine, type Lacks, type Row } from './expect.ts'

// Rows 74 to 77: wrong usage reports.

/** The fields in which a dialect counts. */
interface Names {
  readonly holder: string
  readonly input: string
  readonly output: string
  readonly total?: string
  /** Nested in a field, if there are two names. */
  readonly cached: readonly string[]
  readonly reasoning?: readonly string[]
}

const names: Readonly<Record<BuiltInDialect, Names>> = {
  responses: {
    holder: 'usage',
    input: 'input_tokens',
    output: 'output_tokens',
    total: 'total_tokens',
    cached: ['input_tokens_details', 'cached_tokens'],
    reasoning: ['output_tokens_details', 'reasoning_tokens'],
  },
  chat: {
    holder: 'usage',
    input: 'prompt_tokens',
    output: 'completion_tokens',
    total: 'total_tokens',
    cached: ['prompt_tokens_details', 'cached_tokens'],
    reasoning: ['completion_tokens_details', 'reasoning_tokens'],
  },
  messages: {
    holder: 'usage',
    input: 'input_tokens',
    output: 'output_tokens',
    cached: ['cache_read_input_tokens'],
    reasoning: ['output_tokens_details', 'thinking_tokens'],
  },
  gemini: {
    holder: 'usageMetadata',
    input: 'promptTokenCount',
    output: 'candidatesTokenCount',
    total: 'totalTokenCount',
    cached: ['cachedContentTokenCount'],
    reasoning: ['thoughtsTokenCount'],
  },
  bedrock: { holder: 'usage', input: 'inputTokens', output: 'outputTokens', total: 'totalTokens', cached: ['cacheReadInputTokens'] },
}

type Counted = 'input' | 'output' | 'total' | 'cached' | 'reasoning'
type Counts = Readonly<Partial<Record<Counted, Json>>>

const fieldOf = ([field = '', inner]: readonly string[], value: Json): JsonObject =>
  inner === undefined ? { [field]: value } : { [field]: { [inner]: value } }

const countsIn = (dialect: BuiltInDialect, counts: Counts): JsonObject =>
  Object.assign(
    {},
    ...Object.entries(counts).map(([what, value]) => {
      const name = names[dialect][what as Counted]
      return name === undefined ? {} : fieldOf(typeof name === 'string' ? [name] : name, value)
    }),
  )

const used = { input: 12, output: pieces(defaultText).length }

const counting =
  (counts: Counts) =>
  (dialect: BuiltInDialect): Change =>
    put(names[dialect].holder, usage => (isObject(usage) ? { ...usage, ...countsIn(dialect, counts) } : usage))

/** The correct response with these values in its usage. */
const claiming =
  (counts: Counts): Respond =>
  exchange =>
    changed({ text: defaultText }, { [exchange.dialect]: counting(counts)(exchange.dialect) })(exchange)

const booked = (billed: Billed, usage: Expected['usage'] = 'UR'): Pick<Row, 'expect'> => ({
  expect: alike({
    ...fine,
    usage,
    billed: { inputTokens: used.input, outputTokens: used.output, cachedTokens: 0, reasoningTokens: 0, ...billed },
  }),
})
/** Without usage from the provider, the gateway has to estimate. */
const estimated: Pick<Row, 'expect'> = { expect: alike({ ...fine, usage: 'UE', warnings: ['usage_estimated'] }) }

/** An event with nothing but the usage so far. */
const tellers: Readonly<Record<Exclude<BuiltInDialect, 'responses'>, (exchange: Exchange, usage: JsonObject) => Frame>> = {
  chat: (_, usage) => ({ data: JSON.stringify({ id: 'chatcmpl-chaos', object: 'chat.completion.chunk', choices: [], usage }) }),
  messages: (_, usage) => ({
    event: 'message_delta',
    data: JSON.stringify({ type: 'message_delta', delta: { stop_reason: null, stop_sequence: null }, usage }),
  }),
  gemini: ({ request }, usageMetadata) => ({ data: JSON.stringify({ usageMetadata, modelVersion: request.model }) }),
  bedrock: (_, usage) => ({ event: 'metadata', data: JSON.stringify({ usage, metrics: { latencyMs: 1 } }) }),
}

const usageFrame = (exchange: Exchange, output: number): readonly Frame[] =>
  exchange.dialect === 'responses' ? [] : [tellers[exchange.dialect](exchange, countsIn(exchange.dialect, { input: used.input, output }))]

/** Each piece comes with the count so far. */
const soFar = editedAnswer({ text: defaultText }, (content, exchange) =>
  content.flatMap((frame, index) => [frame, ...usageFrame(exchange, Math.min(index, used.output))]),
)

/** The usage is repeated after the end of the response, with more tokens. */
const more = used.output + 5
const again = answeringWith(exchange => ({
  ...exchange.answer,
  closing: exchange.answer.closing.flatMap(frame =>
    isObject(bodyOf(frame)[names[exchange.dialect].holder])
      ? [frame, inFrame(frame, counting({ output: more })(exchange.dialect))]
      : [frame],
  ),
}))

/** The usage comes after the end. */
const tooLate = answeringWith(exchange => {
  const told = exchange.writer.write({ text: defaultText, usage: 'none' }, exchange.request)
  return { ...told, closing: [...told.closing, ...usageFrame(exchange, used.output)] }
})

const noEvents: Lacks = { responses: 'Its usage stands in the one event that ends the answer.' }
const besideInput = 'What was read from a cache is counted beside the input there, so it can be any number.'

const rows: readonly Row[] = [
  { row: 74, name: 'usage-missing', respond: answering({ text: defaultText, usage: 'none' }), ...estimated },
  { row: 75, name: 'usage-negative', respond: claiming({ output: -5 }), ...booked({ outputTokens: 0 }, 'UE') },
  { row: 75, name: 'usage-no-number', respond: claiming({ output: 'NaN' }), ...booked({ outputTokens: 0 }, 'UE') },
  { row: 75, name: 'usage-null', respond: claiming({ input: null, output: null }), ...estimated },
  { row: 75, name: 'usage-in-text', respond: claiming({ input: '13', output: '35' }), ...booked({ inputTokens: 13, outputTokens: 35 }) },
  {
    row: 75,
    name: 'usage-in-fractions',
    respond: claiming({ input: 12.4, output: 34.6 }),
    ...booked({ inputTokens: 12, outputTokens: 35 }),
  },
  { row: 75, name: 'usage-absurd', respond: claiming({ output: 1e15 }), ...booked({ outputTokens: 0 }, 'UE') },
  // More than any response can have: clamped to the maximum that can be charged.
  {
    row: 75,
    name: 'usage-beyond-any-answer',
    respond: claiming({ output: 1e9 }),
    asks: { max_output_tokens: 1_000 },
    ...booked({ outputTokens: 1_050 }, 'UE'),
  },
  {
    row: 75,
    name: 'usage-total-wrong',
    respond: claiming({ total: 7 }),
    ...booked({}),
    lacks: { messages: 'No total is told there.' },
  },
  {
    row: 75,
    name: 'usage-more-cached-than-read',
    respond: claiming({ cached: 50 }),
    ...booked({ cachedTokens: used.input }, 'UE'),
    lacks: { messages: besideInput, bedrock: besideInput },
  },
  {
    row: 75,
    name: 'usage-more-thought-than-written',
    respond: claiming({ reasoning: 500 }),
    ...booked({ reasoningTokens: used.output }, 'UE'),
    lacks: {
      gemini: 'Thoughts are counted beside the words there, so they can be any number.',
      bedrock: 'Thoughts are not counted there.',
    },
  },
  { row: 75, name: 'usage-of-zeros', respond: claiming({ input: 0, output: 0, total: 0 }), ...estimated },
  {
    row: 76,
    name: 'usage-in-every-event',
    applies: ['stream'],
    respond: soFar,
    expect: { stream: { ...fine, billed: { inputTokens: used.input, outputTokens: used.output } } },
    lacks: noEvents,
  },
  {
    row: 76,
    name: 'usage-twice',
    applies: ['stream'],
    respond: again,
    expect: { stream: { ...fine, billed: { outputTokens: more } } },
    // The response ends with the first usage.
    but: { bedrock: { stream: { ...fine, billed: { outputTokens: used.output } } } },
    lacks: noEvents,
  },
  {
    row: 76,
    name: 'usage-too-late',
    applies: ['stream'],
    respond: tooLate,
    expect: { stream: { ...fine, usage: 'UE' } },
    // Only the end of the stream ends a response.
    but: { gemini: { stream: fine } },
    lacks: noEvents,
  },
  {
    row: 77,
    name: 'usage-beyond-the-cap',
    respond: claiming({ output: 5_000 }),
    asks: { max_output_tokens: 16 },
    ...booked({ outputTokens: 17 }, 'UE'),
  },
]

export const usageFaults: readonly Fault[] = rows.map(faultOf)
