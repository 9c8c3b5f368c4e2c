import type { BuiltInDialect } from '@signalbox/dialects'
import { isObject, type Json, type JsonObject } from '@signalbox/dialects/protocol'
import { type AnswerContent, defaultText, pieces } from '../answers/answer.ts'
import { answering, answeringWith, type Respond } from './acts.ts'
import { type Change, type Changes, changed, editedAnswer, inAll, put, where } from './edits.ts'
import { alike, broken, type Expected, e502, type Fault, faultOf, fine, fineInOtherWords, onlyIn, type Row } from './expect.ts'

// Rows 69, 70, 72, 73, 78 and 84: responses with valid content but wrong metadata.

const right: AnswerContent = { text: defaultText }
const call: AnswerContent = { tools: [{ name: 'get_time', arguments: '{}' }] }
const emptyMessage: JsonObject = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: '' }] }
const incomplete = (reason: string): Expected => ({ ...fine, ends: 'incomplete', reason })

const reasonFields = { chat: 'finish_reason', messages: 'stop_reason', gemini: 'finishReason', bedrock: 'stopReason' } as const

type Reasoned = keyof typeof reasonFields

/** Sets the finish reason wherever it is sent. Chat Completions chunks each state that they are not the last. */
const reasonIn = (dialect: Reasoned, reason: Json): Changes => ({
  [dialect]: put(reasonFields[dialect], before => (before === null ? null : reason)),
})
const ending = (reason: Json): Changes => ({
  ...reasonIn('chat', reason),
  ...reasonIn('messages', reason),
  ...reasonIn('gemini', reason),
  ...reasonIn('bedrock', reason),
})

const isResponse = ({ object, status }: JsonObject): boolean => object === 'response' && status !== 'in_progress'
/** Sets the status that a response states. */
const withStatus = (status: Json, reason: Json): Change =>
  where(isResponse, response => ({ ...response, status, incomplete_details: reason === null ? null : { reason } }))

/** Removes the status. In a stream, the name of the last event still says that it is completed. */
const statusless: Change = where(isResponse, put('status', null))

const noReason = 'Its responses have a status, and no reason to have stopped.'

const answers = ['chat', 'gemini'] as const
const oneAnswer = onlyIn(answers, 'An answer is one answer there.')
const lists: Readonly<Record<(typeof answers)[number], string>> = { chat: 'choices', gemini: 'candidates' }

const choosing = (choose: (right: JsonObject) => readonly JsonObject[]): Changes =>
  Object.fromEntries(
    answers.map(dialect => [
      dialect,
      put(lists[dialect], choices => (Array.isArray(choices) ? (choices as readonly Json[]).filter(isObject).flatMap(choose) : choices)),
    ]),
  )

/** The same location in another choice, which must be ignored. */
const otherChoice = (choice: JsonObject): JsonObject => ({
  ...choice,
  index: 1,
  ...(isObject(choice.message) && { message: { ...choice.message, content: 'Not this.' } }),
  ...(isObject(choice.delta) && { delta: { content: 'Not this.' } }),
  ...(isObject(choice.content) && { content: { ...choice.content, parts: [{ text: 'Not this.' }] } }),
})

const elsewhere = 'somebody-elses-model'
const models: Changes = {
  responses: put('model', elsewhere),
  chat: put('model', elsewhere),
  messages: put('model', elsewhere),
  gemini: put('modelVersion', elsewhere),
}

/** Sets the creation time. */
const createdAt = (seconds: number): Changes => ({
  responses: put('created_at', seconds),
  chat: put('created', seconds),
  gemini: where(
    object => 'responseId' in object,
    answer => ({ ...answer, createTime: timeOf(seconds) }),
  ),
})
const timeOf = (seconds: number): string => (seconds > 1e11 ? String(seconds) : new Date(seconds * 1000).toISOString())
const noTime = onlyIn(['responses', 'chat', 'gemini'], 'It does not say when.')

const roles: Change = put('role', role => (role === 'assistant' || role === 'model' ? 'narrator' : role))

/** Null instead of a piece. */
const nullPieces: Readonly<Record<Exclude<BuiltInDialect, 'responses'>, readonly JsonObject[]>> = {
  chat: [
    { choices: [{ index: 0, delta: null, finish_reason: null }] },
    { choices: [{ index: 0, delta: { content: null, tool_calls: null } }] },
  ],
  messages: [
    { type: 'content_block_delta', index: 0, delta: null },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: null } },
  ],
  gemini: [
    { candidates: [{ content: null, index: 0 }] },
    { candidates: [{ content: { parts: null }, index: 0 }] },
    { candidates: [{ content: { parts: [{ text: null }] } }] },
    { candidates: null },
  ],
  bedrock: [
    { contentBlockIndex: 0, delta: null },
    { contentBlockIndex: 0, delta: { text: null } },
  ],
}

const withNulls = editedAnswer(right, (content, { dialect }) => {
  const pieces =
    dialect === 'responses' ? [{ type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: null }] : nullPieces[dialect]
  const event = content.at(1)?.event
  const frames = pieces.map(body => ({
    ...(event !== undefined && { event: dialect === 'responses' || dialect === 'messages' ? String(body.type) : event }),
    data: JSON.stringify(body),
  }))
  return [...content.slice(0, 4), ...frames, ...content.slice(4)]
})

const nothing: Changes = {
  responses: where(({ type }) => type === 'message', put('content', null)),
  chat: put('content', null),
  messages: put('content', null),
  gemini: put('content', null),
  bedrock: put('content', null),
}

const asParts: Change = put('content', content =>
  typeof content === 'string' && content !== '' ? [{ type: 'text', text: content }] : content,
)

const asText: Changes = {
  responses: where(({ type, content }) => type === 'message' && Array.isArray(content) && content.length > 0, put('content', defaultText)),
  messages: where(({ type }) => type === 'message', put('content', defaultText)),
}

const completed = (more: Partial<Expected> = {}): Expected => ({ ...fineInOtherWords, ...more })
const noUse: Respond = answeringWith(({ writer, request }) => writer.write({ text: '', usage: { input: 12, output: 0 } }, request))

const rows: readonly Row[] = [
  {
    row: 69,
    name: 'empty-answer',
    respond: noUse,
    expect: alike(completed({ output: [emptyMessage], usage: 'U0', billed: { inputTokens: 12, outputTokens: 0 } })),
  },
  {
    row: 70,
    name: 'finish-unknown',
    respond: changed(right, { ...ending('future_reason'), responses: withStatus('incomplete', 'future_reason') }),
    expect: alike({ ...fine, warnings: ['unknown_finish_reason'] }),
    but: { responses: alike(incomplete('future_reason')) },
  },
  {
    row: 70,
    name: 'status-unknown',
    respond: changed(right, { responses: withStatus('superseded', null) }),
    // A client cannot tell whether it is complete; in a stream, the name of the last event says so.
    expect: { whole: e502, stream: fine },
    lacks: onlyIn(['responses'], 'Its answers have a reason to have stopped, and no status.'),
  },
  {
    row: 70,
    name: 'finish-null',
    respond: changed(right, { ...ending(null), responses: statusless }),
    expect: alike(fine),
    // Nothing else says that a Gemini stream is complete.
    but: { gemini: { whole: fine, stream: { ...broken, usage: 'UR' } } },
  },
  { row: 70, name: 'finish-length', respond: answering({ ...right, finish: 'length' }), expect: alike(incomplete('max_output_tokens')) },
  {
    row: 70,
    name: 'finish-content-filter',
    respond: answering({ ...right, finish: 'content_filter' }),
    expect: alike(incomplete('content_filter')),
  },
  {
    row: 70,
    name: 'finish-calls-without-calls',
    respond: changed(right, { ...reasonIn('chat', 'tool_calls'), ...reasonIn('messages', 'tool_use'), ...reasonIn('bedrock', 'tool_use') }),
    expect: alike(fine),
    lacks: { responses: noReason, gemini: 'Its reason for calls is that for words.' },
  },
  {
    row: 70,
    name: 'finish-stop-with-calls',
    respond: changed(call, { ...reasonIn('chat', 'stop'), ...reasonIn('messages', 'end_turn'), ...reasonIn('bedrock', 'end_turn') }),
    expect: alike(completed({ output: [{ type: 'function_call', name: 'get_time', arguments: '{}', status: 'completed' }] })),
    lacks: { responses: noReason, gemini: 'Its reason for calls is that for words.' },
  },
  {
    row: 72,
    name: 'no-choices',
    respond: changed(
      right,
      choosing(() => []),
    ),
    expect: alike(e502),
    lacks: oneAnswer,
  },
  {
    row: 72,
    name: 'two-choices',
    respond: changed(
      right,
      choosing(choice => [choice, otherChoice(choice)]),
    ),
    expect: alike(fine),
    lacks: oneAnswer,
  },
  {
    row: 72,
    name: 'other-choice-first',
    respond: changed(
      right,
      choosing(choice => [otherChoice(choice), choice]),
    ),
    expect: alike(fine),
    lacks: oneAnswer,
  },
  {
    row: 72,
    name: 'other-choice-only',
    respond: changed(
      right,
      choosing(choice => [otherChoice(choice)]),
    ),
    expect: alike(e502),
    lacks: oneAnswer,
  },
  {
    row: 72,
    name: 'choice-without-number',
    respond: changed(
      right,
      choosing(({ index, ...choice }) => [choice]),
    ),
    expect: alike(fine),
    lacks: oneAnswer,
  },
  {
    row: 73,
    name: 'role-strange',
    respond: answeringWith(exchange => inAll(exchange.writer.write(right, exchange.request), roles)),
    expect: alike(fine),
  },
  { row: 73, name: 'pieces-of-nothing', applies: ['stream'], respond: withNulls, expect: { stream: fine } },
  {
    row: 73,
    name: 'content-null',
    applies: ['whole'],
    respond: changed(right, nothing),
    expect: { whole: completed({ output: [emptyMessage] }) },
    // A client of the same dialect receives the original content.
    but: { responses: { whole: completed({ output: [{ type: 'message', role: 'assistant', content: [] }] }) } },
  },
  {
    row: 73,
    name: 'content-in-parts',
    respond: changed(right, { chat: asParts }),
    expect: alike(fine),
    lacks: onlyIn(['chat'], 'Content consists of parts there anyway.'),
  },
  {
    row: 73,
    name: 'content-in-text',
    applies: ['whole'],
    respond: changed(right, asText),
    expect: { whole: fine },
    lacks: onlyIn(['responses', 'messages'], 'No server is known to say it so.'),
  },
  {
    row: 78,
    name: 'another-model',
    respond: changed(right, models),
    // At the price of the called offer: one microdollar per input token, two per output token.
    expect: alike({ ...fine, billed: { cost: 12 + 2 * pieces(defaultText).length } }),
    lacks: { bedrock: 'Its answers do not name a model.' },
  },
  { row: 84, name: 'created-never', respond: changed(right, createdAt(0)), expect: alike(fine), lacks: noTime },
  { row: 84, name: 'created-in-the-future', respond: changed(right, createdAt(4_102_444_800)), expect: alike(fine), lacks: noTime },
  { row: 84, name: 'created-in-milliseconds', respond: changed(right, createdAt(1_764_547_200_000)), expect: alike(fine), lacks: noTime },
]

export const endingFaults: readonly Fault[] = rows.map(faultOf)
