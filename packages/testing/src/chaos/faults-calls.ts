import type { BuiltInDialect } from '@signalbox/dialects'
import { type Frame, isObject, type Json, type JsonObject } from '@signalbox/dialects/protocol'
import { type AnswerContent, type AnswerToolCall, defaultText } from '../answers/answer.ts'
import { answering } from './acts.ts'
import { bodyOf, type Change, type Changes, changed, editedAnswer, inFrame, put, where } from './edits.ts'
import { alike, broken, type Expected, e502, type Fault, faultOf, fine, fineInOtherWords, type Lacks, onlyIn, type Row } from './expect.ts'

// Rows 66 to 68: events in the wrong order, and malformed calls.

const MiB = 1_048_576

/** Contains spaces, so that the arguments are sent in several pieces. No others, so that parsing and serializing gives the same text. */
const zurich: AnswerToolCall = { name: 'get_weather', arguments: '{"city":"Zürich am See"}' }
const kyoto: AnswerToolCall = { name: 'get_weather', arguments: '{"city":"Kyōto im Herbst"}' }
const twoCalls: AnswerContent = { tools: [zurich, kyoto] }
const text = 'Looking both up.'
const textAndCalls: AnswerContent = { text, tools: [zurich, kyoto] }

const asItem = ({ name, arguments: written }: AnswerToolCall): JsonObject => ({
  type: 'function_call',
  name,
  arguments: written,
  status: 'completed',
})
const message = (words: string): JsonObject => ({ type: 'message', content: [{ type: 'output_text', text: words }] })
const calling = (...calls: readonly AnswerToolCall[]): Expected => ({ ...fineInOtherWords, output: calls.map(asItem) })

/** Gemini's signature of a call becomes a separate reasoning item. */
const signature: JsonObject = { type: 'reasoning', encrypted_content: 'sealed' }

/** Expects these calls in either delivery, plus further output. */
function toldIn(calls: readonly AnswerToolCall[], more: Partial<Expected> = {}): Pick<Row, 'expect' | 'but'> {
  const expected = { ...calling(...calls), ...more }
  return { expect: alike(expected), but: { gemini: alike({ ...expected, output: [signature, ...calls.map(asItem)] }) } }
}

/** Events that only announce content. */
const announcing: Readonly<Partial<Record<BuiltInDialect, readonly string[]>>> = {
  responses: ['response.output_item.added', 'response.content_part.added'],
  messages: ['content_block_start'],
}

const unannounced = editedAnswer({ text: defaultText }, (content, { dialect }) =>
  content.filter(({ event = '' }) => announcing[dialect]?.includes(event) !== true),
)

/** The field with the item number of a frame. */
const numbers: Readonly<Record<Exclude<BuiltInDialect, 'gemini'>, string>> = {
  responses: 'output_index',
  chat: 'index',
  messages: 'index',
  bedrock: 'contentBlockIndex',
}
const numberField = (dialect: BuiltInDialect): string => (dialect === 'gemini' ? '' : numbers[dialect])

/** True for the calls of Chat Completions, not for its choices. */
const isNumbered = (object: JsonObject): boolean => !('delta' in object) || !('finish_reason' in object)

const withGaps = editedAnswer(textAndCalls, (content, { dialect }) =>
  content.map(frame =>
    inFrame(
      frame,
      where(
        isNumbered,
        put(numberField(dialect), at => (typeof at === 'number' && at > 0 ? at + 5 : at)),
      ),
    ),
  ),
)

/** The item number of a frame. */
function itemOf(frame: Frame, dialect: BuiltInDialect): Json | undefined {
  let found: Json | undefined
  inFrame(
    frame,
    where(
      isNumbered,
      put(numberField(dialect), at => (found = at)),
    ),
  )
  return found
}

function byItem(content: readonly Frame[], dialect: BuiltInDialect): readonly (readonly Frame[])[] {
  const groups = new Map<Json | undefined, Frame[]>()
  for (const frame of content) {
    const key = itemOf(frame, dialect)
    groups.set(key, [...(groups.get(key) ?? []), frame])
  }
  return [...groups.values()]
}

/** Alternates the frames of both items. */
const interleaved = editedAnswer(twoCalls, (content, { dialect }) => {
  const groups = byItem(content, dialect)
  const longest = Math.max(...groups.map(group => group.length))
  return Array.from({ length: longest }, (_, index) => groups.flatMap(group => group.slice(index, index + 1))).flat()
})

const backwards = editedAnswer(twoCalls, (content, { dialect }) => [...byItem(content, dialect)].reverse().flat())

const isCall = ({ type }: JsonObject): boolean => type === 'function_call' || type === 'tool_use'
const nameless: Changes = {
  responses: where(object => isCall(object) || String(object.type).endsWith('arguments.done'), put('name', '')),
  chat: where(object => 'arguments' in object, put('name', '')),
  messages: where(isCall, put('name', '')),
  gemini: put('functionCall', called => (isObject(called) ? { ...called, name: '' } : called)),
  bedrock: put('toolUse', called => (isObject(called) && 'name' in called ? { ...called, name: '' } : called)),
}

const opensCall: Readonly<Partial<Record<BuiltInDialect, (body: JsonObject) => boolean>>> = {
  responses: ({ type, item }) => String(type).endsWith('arguments.done') || (isObject(item) && isCall(item)),
  messages: ({ content_block: block }) => isObject(block) && isCall(block),
  bedrock: ({ start }) => start !== undefined,
}

/** Arguments of a call without its first event, which names the tool. */
const ofAStranger = editedAnswer(
  textAndCalls,
  (content, { dialect }) => content.filter(frame => opensCall[dialect]?.(bodyOf(frame)) !== true),
  nameless,
)

const mark = 'ARGUMENTS'

/** The arguments, one character per event. */
const inCharacters = editedAnswer({ tools: [{ name: zurich.name, arguments: mark }] }, content => {
  const inJson = (words: string): string => JSON.stringify(words).slice(1, -1)
  const at = content.findIndex(({ data }) => data.includes(mark))
  const saying = (frame: Frame, words: string): Frame => ({ ...frame, data: frame.data.replaceAll(mark, inJson(words)) })
  return content.flatMap((frame, place) =>
    place === at ? [...zurich.arguments].map(character => saying(frame, character)) : [saying(frame, zurich.arguments)],
  )
})

const without =
  (field: string): Change =>
  ({ [field]: _, ...rest }) =>
    rest
const withoutArguments: Changes = {
  responses: where(isCall, without('arguments')),
  chat: where(object => 'name' in object && 'arguments' in object, without('arguments')),
  messages: where(isCall, without('input')),
  gemini: put('functionCall', called => (isObject(called) ? without('args')(called) : called)),
  bedrock: put('toolUse', called => (isObject(called) && 'name' in called ? without('input')(called) : called)),
}

const huge: AnswerToolCall = { name: 'save', arguments: `{"text":"${'x'.repeat(MiB)}"}` }
const invalid: AnswerToolCall = { name: 'get_weather', arguments: '{"city": "Zürich", oops' }
const bare: AnswerToolCall = { name: 'get_time', arguments: '{}' }

const tool = (name: string): JsonObject => ({ type: 'function', name, parameters: { type: 'object', properties: {} } })

const noNumbers: Lacks = { gemini: 'Its parts have no numbers, and each is whole.' }
/** Arguments are JSON in these dialects, not a text that contains JSON. */
const noText = 'Its arguments are an object, which cannot be invalid.'

const rows: readonly Row[] = [
  {
    row: 66,
    name: 'delta-unannounced',
    applies: ['stream'],
    respond: unannounced,
    expect: { stream: fine },
    lacks: onlyIn(['responses', 'messages'], 'A text is not announced there.'),
  },
  {
    row: 66,
    name: 'index-gap',
    applies: ['stream'],
    respond: withGaps,
    expect: { stream: { ...fineInOtherWords, output: [message(text), asItem(zurich), asItem(kyoto)] } },
    lacks: noNumbers,
  },
  {
    row: 66,
    name: 'items-interleaved',
    applies: ['stream'],
    respond: interleaved,
    expect: { stream: calling(zurich, kyoto) },
    lacks: noNumbers,
  },
  // In order of arrival, because content that was forwarded cannot be moved behind later content.
  {
    row: 66,
    name: 'items-backwards',
    applies: ['stream'],
    respond: backwards,
    expect: { stream: calling(kyoto, zurich) },
    lacks: noNumbers,
  },
  {
    row: 66,
    name: 'delta-of-a-stranger',
    applies: ['stream'],
    respond: ofAStranger,
    expect: { stream: { ...broken, usage: 'UR or UE' } },
    lacks: { gemini: 'A call comes whole there; one without a name is that of row 67.' },
  },
  {
    row: 67,
    name: 'arguments-invalid',
    applies: ['stream'],
    respond: answering({ tools: [invalid] }),
    expect: { stream: calling(invalid) },
    lacks: { gemini: noText },
  },
  {
    row: 67,
    name: 'arguments-invalid-whole',
    applies: ['whole'],
    respond: answering({ tools: [invalid] }),
    expect: { whole: calling(invalid) },
    lacks: onlyIn(['responses', 'chat'], noText),
  },
  { row: 67, name: 'arguments-empty', respond: answering({ tools: [{ ...bare, arguments: '' }] }), ...toldIn([bare]) },
  {
    row: 67,
    name: 'arguments-missing',
    respond: changed({ tools: [{ ...bare, arguments: '' }] }, withoutArguments),
    ...toldIn([bare]),
  },
  {
    row: 67,
    name: 'arguments-in-characters',
    applies: ['stream'],
    respond: inCharacters,
    expect: { stream: calling(zurich) },
    lacks: { gemini: 'Arguments come whole there.' },
  },
  { row: 67, name: 'arguments-of-1-mib', respond: answering({ tools: [huge] }), ...toldIn([huge]) },
  {
    row: 67,
    name: 'call-ids-twice',
    respond: answering({ tools: [zurich, kyoto].map(call => ({ ...call, id: 'call_same' })) }),
    ...toldIn([zurich, kyoto]),
  },
  {
    row: 67,
    name: 'call-ids-missing',
    respond: answering({ tools: [zurich, kyoto].map(call => ({ ...call, id: '' })) }),
    ...toldIn([zurich, kyoto]),
  },
  {
    row: 67,
    name: 'call-name-missing',
    respond: changed(textAndCalls, nameless),
    expect: { whole: e502, stream: { ...broken, usage: 'UR or UE' } },
  },
  {
    row: 68,
    name: 'tool-not-offered',
    respond: answering({ tools: [zurich] }),
    asks: { tools: [tool('get_time')] },
    ...toldIn([zurich], { warnings: ['tool_not_offered'] }),
  },
  {
    row: 68,
    name: 'calls-in-parallel',
    respond: answering(twoCalls),
    asks: { tools: [tool('get_weather')], parallel_tool_calls: false },
    ...toldIn([zurich, kyoto], { warnings: ['parallel_tool_calls_ignored'] }),
    lacks: onlyIn(['responses', 'chat', 'messages'], 'The wish cannot be told there.'),
  },
  {
    row: 68,
    name: 'calls-in-parallel-unheard',
    respond: answering(twoCalls),
    asks: { tools: [tool('get_weather')], parallel_tool_calls: false },
    ...toldIn([zurich, kyoto], { warnings: ['unsupported_parameter', 'parallel_tool_calls_ignored'] }),
    lacks: onlyIn(['gemini', 'bedrock'], 'There the wish is told, and not heeded.'),
  },
]

export const callFaults: readonly Fault[] = rows.map(faultOf)
