import type { BuiltInDialect } from '@signalbox/dialects'
import { isObject, type Json, type JsonObject } from '@signalbox/dialects/protocol'
import { type AnswerContent, type AnswerError, defaultText } from '../answers/answer.ts'
import { answering, bytesOf, chunk, chunkedType, halfFrames, head, json, type Respond, refusing, streaming, typeOf } from './acts.ts'
import { type Change, type Changes, changed, editedAnswer, put, where } from './edits.ts'
import {
  alike,
  broken,
  type Expectation,
  type Expected,
  e400,
  e502,
  type Fault,
  faultOf,
  fine,
  fineInOtherWords,
  type Row,
} from './expect.ts'
import { leakedSecret } from './faults-status.ts'

// Rows 71 and 79 to 82: content other than text, more text than requested, and text that would be harmful elsewhere.

const right: AnswerContent = { text: defaultText }
const said: JsonObject = { type: 'message', content: [{ type: 'output_text', text: defaultText }] }
const told = (...output: readonly JsonObject[]): Expected => ({ ...fineInOtherWords, output })

const refusal = 'I will not set two trains on one track.'
const refused = (content: readonly JsonObject[]): Expectation =>
  alike({
    ...fine,
    exact: false,
    ends: 'incomplete',
    reason: 'content_filter',
    output: content.length > 0 ? [{ type: 'message', content }] : [],
  })

const reasoning = 'First the points, then the signal.'
const withReasoning: AnswerContent = { reasoning, text: defaultText }
const summary = [{ type: 'summary_text', text: reasoning }]
/** Placeholder for state that only the gateway can open. */
const sealed = { type: 'reasoning', encrypted_content: 'sealed' }
const state = 'c3RhdGUgb2YgYSB0aG91Z2h0'

/** Adds state to reasoning that has none in the correct response. */
const withState: Changes = {
  responses: where(
    ({ type }) => type === 'reasoning',
    item => ({ ...item, encrypted_content: state }),
  ),
  chat: where(
    object => typeof object.reasoning_content === 'string',
    holder => ({ ...holder, reasoning_details: [{ type: 'reasoning.encrypted', data: state, index: 0 }] }),
  ),
  // Applied to the last piece.
  gemini: where(
    ({ thought: isThought, text }) => isThought === true && reasoning.endsWith(String(text)),
    part => ({ ...part, thoughtSignature: state }),
  ),
}

const url = 'https://signals.example/levers'
const title = 'On levers'
const citation: JsonObject = { type: 'url_citation', url, title, start_index: 0, end_index: 7 }
const cited: Changes = {
  responses: where(
    ({ type, text }) => type === 'output_text' && text === defaultText,
    part => ({ ...part, annotations: [citation] }),
  ),
  chat: where(
    object => object.content === defaultText,
    message => ({ ...message, annotations: [{ type: 'url_citation', url_citation: { url, title, start_index: 0, end_index: 7 } }] }),
  ),
  messages: where(
    object => object.type === 'text' && object.text === defaultText,
    block => ({ ...block, citations: [{ type: 'web_search_result_location', url, title, cited_text: 'Signals', encrypted_index: 'x' }] }),
  ),
  gemini: where(
    object => 'finishReason' in object,
    candidate => ({
      ...candidate,
      groundingMetadata: {
        groundingChunks: [{ web: { uri: url, title } }],
        groundingSupports: [{ segment: { startIndex: 0, endIndex: 7, text: 'Signals' }, groundingChunkIndices: [0] }],
      },
    }),
  ),
}

/** Frames with a citation, for dialects in which it is not in an existing frame. */
const citingFrames: Readonly<Partial<Record<BuiltInDialect, JsonObject>>> = {
  chat: {
    choices: [{ index: 0, delta: { annotations: [{ type: 'url_citation', url_citation: { url, title, start_index: 0, end_index: 7 } }] } }],
  },
  messages: {
    type: 'content_block_delta',
    index: 0,
    delta: {
      type: 'citations_delta',
      citation: { type: 'web_search_result_location', url, title, cited_text: 'Signals', encrypted_index: 'x' },
    },
  },
}

/** The correct response, modified, with one more frame before the last content frame. */
const withFrame = (frames: Readonly<Partial<Record<BuiltInDialect, JsonObject>>>, changes: Changes): Respond =>
  editedAnswer(
    right,
    (content, { dialect }) => {
      const { [dialect]: body } = frames
      if (!body) return content
      const frame = { ...(typeof body.type === 'string' && { event: body.type }), data: JSON.stringify(body) }
      return [...content.slice(0, -1), frame, ...content.slice(-1)]
    },
    changes,
  )

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const appended =
  (field: string, value: JsonObject): Change =>
  object =>
    Array.isArray(object[field]) && (object[field] as readonly Json[]).length > 0
      ? { ...object, [field]: [...(object[field] as readonly Json[]), value] }
      : object

const drawing: JsonObject = { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: pixel }
/** The item that a Responses client receives, whatever the provider's dialect. */
const drawn: JsonObject = { type: 'image_generation_call', result: pixel }
const image: Changes = {
  responses: appended('output', drawing),
  chat: where(
    object => object.content === defaultText,
    message => ({ ...message, images: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${pixel}` } }] }),
  ),
  gemini: where(
    object => 'finishReason' in object,
    put('content', content =>
      isObject(content) ? appended('parts', { inlineData: { mimeType: 'image/png', data: pixel } })(content) : content,
    ),
  ),
  bedrock: put('message', message =>
    isObject(message) ? appended('content', { image: { format: 'png', source: { bytes: pixel } } })(message) : message,
  ),
}
const imageFrames: Readonly<Partial<Record<BuiltInDialect, JsonObject>>> = {
  chat: { choices: [{ index: 0, delta: { images: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${pixel}` } }] } }] },
}

/** So much longer than requested that no token count explains it. */
const overlong = 'Over and over the same. '.repeat(400)
const cap = 16
/** Sixteen characters per token, plus five percent, plus one kilobyte. */
const allowed = Math.ceil(cap * 1.05 * 16) + 1_024
const cut: Expected = {
  ...fineInOtherWords,
  ends: 'incomplete',
  reason: 'max_output_tokens',
  usage: 'UE',
}

/** Repeats the same text endlessly. */
const endless: Respond = async exchange => {
  const { opening, content } = exchange.writer.write({ text: 'again ' }, exchange.request)
  const at = content.findIndex(({ data }) => data.includes('again '))
  const words = chunk(
    bytesOf(
      exchange,
      Array.from({ length: 50 }, () => content[at] ?? { data: '' }),
    ),
  )
  await exchange.write(head(200, { ...chunkedType, ...typeOf(exchange) }))
  await exchange.write(chunk(bytesOf(exchange, [...opening, ...content.slice(0, at)])))
  while ((await exchange.write(words)) && (await exchange.wait(2)));
}

/** Harmless as text, and only as text. */
export const hostileText = [
  'data: {"type":"response.completed"}\n\nevent: response.failed\ndata: {}\n\n',
  '\r\n\r\nHTTP/1.1 200 OK\r\nset-cookie: stolen=1\r\n\r\n',
  '</script><script>alert(1)</script>',
  '\u001b[2J\u001b[31mred\u0000\u0007',
  '\u202eesrever\u202c \u2028line\u2029paragraph \ufeff\ufffe',
  '\ud800 alone, \udc00 too; __proto__ constructor \\ud83d \\n "quoted" \\',
].join('\n')
const hostileName = 'evil\n\nevent: response.completed\ndata: {}\n\n\u0000</script>'
const hostileArguments = `{"__proto__":{"polluted":true},"constructor":${JSON.stringify(hostileText)},"\\n\\ndata: x":["\u2028"]}`

/** Secrets of many vendors, as providers quote them. */
export const leakedSecrets: readonly string[] = [
  leakedSecret,
  'canary.token-0123456789abcdef',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ.c2lnbmF0dXJl',
  'AKIACANARY0123456789',
  'AIzaCANARY0123456789abcdefghijklmnop',
  'canary0123456789',
]
const telltale = `The call with ${leakedSecret} (Authorization: Bearer ${leakedSecrets[1]}, ${leakedSecrets[2]}, ${leakedSecrets[3]}, ${leakedSecrets[4]}) to https://api.example.com/v1?key=${leakedSecrets[5]} broke.`
const brokenAndTold: AnswerError = { type: 'server_error', code: 'server_error', message: telltale }
const refusedAndTold: AnswerError = { type: 'invalid_request_error', code: 'invalid_value', message: telltale }

const rows: readonly Row[] = [
  {
    row: 71,
    name: 'refusal',
    respond: answering({ refusal }),
    expect: alike(told({ type: 'message', content: [{ type: 'refusal', refusal }] })),
    but: {
      messages: refused([{ type: 'refusal', refusal }]),
      // The explanation next to the reason is for developers and not part of the response.
      gemini: refused([]),
      // A guardrail responds in place of the model.
      bedrock: refused([{ type: 'output_text', text: refusal }]),
    },
  },
  {
    row: 71,
    name: 'reasoning',
    respond: answering(withReasoning),
    expect: alike(told({ type: 'reasoning', summary }, said)),
    but: { chat: alike(told({ type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: reasoning }] }, said)) },
  },
  {
    row: 71,
    name: 'reasoning-with-state',
    respond: changed(withReasoning, withState),
    expect: alike(told({ ...sealed, summary }, said)),
    but: { chat: alike(told({ ...sealed, content: [{ type: 'reasoning_text', text: reasoning }] }, said)) },
  },
  {
    row: 71,
    name: 'annotations',
    respond: withFrame(citingFrames, cited),
    expect: alike(
      told({ type: 'message', content: [{ type: 'output_text', text: defaultText, annotations: [{ type: 'url_citation', url, title }] }] }),
    ),
    lacks: { bedrock: 'Its citations are of documents, which have no address.' },
  },
  {
    row: 71,
    name: 'image',
    respond: withFrame(imageFrames, image),
    expect: alike(told(said, drawn)),
    but: {
      // An image between two texts of a stream splits the message in two.
      chat: { whole: told(said, drawn), stream: fineInOtherWords },
      bedrock: { whole: told(said, drawn), stream: told(said) },
    },
    lacks: { messages: 'Its answers hold no pictures.' },
  },
  {
    row: 79,
    name: 'cap-ignored',
    respond: answering({ text: overlong }),
    asks: { max_output_tokens: cap },
    expect: alike({
      ...cut,
      output: [{ type: 'message', status: 'incomplete', content: [{ type: 'output_text', text: overlong.slice(0, allowed) }] }],
    }),
  },
  { row: 80, name: 'endless-with-a-cap', applies: ['stream'], respond: endless, asks: { max_output_tokens: cap }, expect: { stream: cut } },
  {
    row: 80,
    name: 'endless-to-the-deadline',
    applies: ['stream'],
    respond: endless,
    deadlineMs: 700,
    expect: { stream: { ...broken, code: ['deadline_exceeded'] } },
  },
  {
    row: 81,
    name: 'hostile-text',
    respond: answering({ text: hostileText }),
    expect: alike(told({ type: 'message', content: [{ type: 'output_text', text: hostileText }] })),
  },
  {
    row: 81,
    name: 'hostile-call',
    respond: answering({ tools: [{ name: hostileName, arguments: hostileArguments }] }),
    expect: alike(told({ type: 'function_call', name: hostileName, arguments: hostileArguments })),
    but: { gemini: alike(told(sealed, { type: 'function_call', name: hostileName, arguments: hostileArguments })) },
  },
  { row: 82, name: 'secrets-in-500', respond: refusing(500, brokenAndTold), expect: alike(e502) },
  {
    row: 82,
    name: 'secrets-in-400',
    respond: refusing(400, refusedAndTold),
    expect: alike({ ...e400, code: ['invalid_parameter_value'] }),
  },
  { row: 82, name: 'secrets-in-200', respond: exchange => json(200, exchange.writer.error(brokenAndTold))(exchange), expect: alike(e502) },
  {
    row: 82,
    name: 'secrets-after-content',
    applies: ['stream'],
    respond: streaming(exchange => [
      bytesOf(exchange, halfFrames(exchange)),
      bytesOf(exchange, exchange.writer.errorFrames(brokenAndTold, exchange.request)),
    ]),
    expect: { stream: { ...broken, usage: 'UR or UE' } },
  },
]

export const wordFaults: readonly Fault[] = rows.map(faultOf)
