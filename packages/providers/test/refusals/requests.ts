import { chatClient, messagesClient, responsesClient } from '@signalbox/dialects'
import type { InferenceRequest } from '@signalbox/dialects/protocol'
import { isObject, type Json, type JsonObject } from '@signalbox/dialects/protocol'
import { recordings } from '@signalbox/testing'
import fc from 'fast-check'

// Requests that each client API allows: those of agents, the next turns of recorded responses, and generated ones.

const clients = { responses: responsesClient, chat: chatClient, messages: messagesClient } as const
export type ClientName = keyof typeof clients
export const clientNames = Object.keys(clients) as readonly ClientName[]

/** What a conversation consists of, before it is written in one of the APIs. */
interface Script {
  readonly system: readonly string[]
  readonly turns: readonly Turn[]
  readonly tools: readonly Tool[]
  readonly settings: Settings
}

type Turn =
  | { readonly kind: 'user' | 'assistant'; readonly text: string; readonly isMarked: boolean; readonly hasImage: boolean }
  | { readonly kind: 'calls'; readonly text: string; readonly results: readonly Result[]; readonly isMarked: boolean }

interface Result {
  readonly tool: number
  readonly text: string
  readonly hasImage: boolean
}

interface Tool {
  readonly name: string
  readonly schema: JsonObject
  readonly strict: boolean
}

interface Settings {
  readonly temperature: number | undefined
  readonly topP: number | undefined
  readonly stop: readonly string[]
  readonly user: string | undefined
  readonly effort: string | undefined
  readonly budget: number | undefined
  readonly choice: 'auto' | 'none' | 'required' | 'first' | undefined
  readonly hasFormat: boolean
}

const image = 'data:image/png;base64,iVBORw0KGgo='
const text = { type: 'string' }

const plainSchemas: readonly JsonObject[] = [
  { type: 'object', properties: {} },
  { type: 'object', properties: { path: text, lines: { type: 'array', items: { type: 'integer', minimum: 1 } } }, required: ['path'] },
  { type: 'object', properties: { at: { anyOf: [text, { type: 'null' }] } }, additionalProperties: false },
]
/** Refused by Anthropic; the OpenAI APIs leave them to the model's vendor. */
const oddSchemas: readonly JsonObject[] = [
  { type: 'object', properties: { $filter: text, 'user name': text, 'filter[name]': text }, required: ['$filter'] },
  { type: 'object', properties: { [`very_${'long_'.repeat(15)}name`]: text, $top: { type: 'integer' } } },
  {
    anyOf: [
      { type: 'object', properties: { id: text }, required: ['id'] },
      { type: 'object', properties: { $name: text } },
    ],
  },
  { type: 'object', oneOf: [{ properties: { kind: { const: 'a' } }, required: ['kind'] }, { properties: { kind: { const: 'b' } } }] },
  { allOf: [{ $ref: '#/$defs/Base' }], $defs: { Base: { type: 'object', properties: { a: text }, required: ['a'] } } },
  { $ref: '#/$defs/Args', $defs: { Args: { type: 'object', properties: { next: { $ref: '#/$defs/Args' } } } } },
  { type: null, properties: { a: text } },
  {},
]

const words = fc.constantFrom('Hi', 'Go on.', 'Grüße, 世界', 'a\nb', ' x ')
const maybeBlank = fc.oneof({ weight: 5, arbitrary: words }, { weight: 1, arbitrary: fc.constantFrom('', '  \n') })
const rarely = fc.nat(4).map(number => number === 0)

const turn: fc.Arbitrary<Turn> = fc.oneof(
  fc.record({ kind: fc.constantFrom('user' as const, 'assistant' as const), text: words, isMarked: fc.boolean(), hasImage: rarely }),
  fc.record({
    kind: fc.constant('calls' as const),
    text: fc.constantFrom('', 'Let me see.'),
    results: fc.array(fc.record({ tool: fc.nat(3), text: maybeBlank, hasImage: rarely }), { minLength: 1, maxLength: 3 }),
    isMarked: fc.boolean(),
  }),
)

const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(arbitrary, { nil: undefined })

const scriptFor = (client: ClientName): fc.Arbitrary<Script> =>
  fc.record({
    system: fc.array(client === 'messages' ? words : maybeBlank, { maxLength: 2 }),
    turns: fc.array(turn, { minLength: 1, maxLength: 8 }),
    tools: fc.uniqueArray(
      fc.record({
        name: fc.constantFrom('read', 'mcp__files__read', '0_starts_with_a_digit', '-dash', `t${'o'.repeat(60)}`),
        schema: fc.constantFrom(...plainSchemas, ...(client === 'messages' ? [] : oddSchemas)),
        strict: rarely,
      }),
      { selector: ({ name }) => name, maxLength: 4 },
    ),
    settings: fc.record({
      temperature: maybe(fc.constantFrom(0, 0.3, 1, ...(client === 'messages' ? [] : [1.7]))),
      topP: maybe(fc.constantFrom(0.5, 0.99)),
      stop: fc.uniqueArray(
        client === 'messages' ? fc.constantFrom('END', '###', '.', ';', '1', '2', '3') : fc.constantFrom('END', '\n\n', ' '),
        {
          maxLength: client === 'messages' ? 7 : 3,
        },
      ),
      user: maybe(fc.constantFrom('user_1', ...(client === 'messages' ? [] : ['u'.repeat(300)]))),
      effort: maybe(fc.constantFrom('none', 'minimal', 'low', 'medium', 'high', 'xhigh')),
      budget: maybe(fc.constantFrom(1024, 8000)),
      choice: maybe(fc.constantFrom('auto' as const, 'none' as const, 'required' as const, 'first' as const)),
      hasFormat: rarely,
    }),
  })

const format = { type: 'object', properties: { $answer: text }, required: ['$answer'], additionalProperties: false }

/** The tool that a call names: one that is declared, or another. */
const named = ({ tools }: Script, { tool }: Result): string => tools[tool % Math.max(1, tools.length)]?.name ?? 'gone'
const argumentsFor = (at: number): string => (at % 2 === 0 ? '{"$filter":"x","path":"a"}' : '')
const callId = (at: number, index: number): string => `call_${at}.${index}`

function asResponses(script: Script): JsonObject {
  const { system, turns, tools, settings } = script
  const mark = (isMarked: boolean): JsonObject => (isMarked ? { prompt_cache_breakpoint: { mode: 'explicit' } } : {})
  const input = turns.flatMap((each, at): readonly JsonObject[] => {
    if (each.kind === 'calls') {
      return [
        ...(each.text === '' ? [] : [{ role: 'assistant', content: each.text }]),
        ...each.results.map((result, index) => ({
          type: 'function_call',
          call_id: callId(at, index),
          name: named(script, result),
          arguments: argumentsFor(index) || '{}',
        })),
        ...each.results.map((result, index) => ({
          type: 'function_call_output',
          call_id: callId(at, index),
          output: [
            { type: 'input_text', text: result.text, ...mark(each.isMarked) },
            ...(result.hasImage ? [{ type: 'input_image', image_url: image }] : []),
          ],
        })),
      ]
    }
    if (each.kind === 'assistant') return [{ role: 'assistant', content: [{ type: 'output_text', text: each.text }] }]
    const pictures = each.hasImage ? [{ type: 'input_image', image_url: image }] : []
    return [{ role: 'user', content: [{ type: 'input_text', text: each.text, ...mark(each.isMarked) }, ...pictures] }]
  })
  const [first] = tools
  const choice = settings.choice === 'first' ? first && { type: 'function', name: first.name } : settings.choice
  return {
    model: 'm',
    ...(system.length > 0 && { instructions: system.join('\n') }),
    input: [...input, ...(tools.length > 2 ? [additionalTools(tools)] : [])],
    ...(tools.length > 0 && {
      tools: tools.map(({ name, schema, strict }) => ({ type: 'function', name, parameters: schema, strict })),
      ...(choice !== undefined && { tool_choice: choice }),
    }),
    ...(settings.temperature !== undefined && { temperature: settings.temperature }),
    ...(settings.topP !== undefined && { top_p: settings.topP }),
    ...(settings.user !== undefined && { user: settings.user }),
    ...(settings.effort !== undefined && { reasoning: { effort: settings.effort } }),
    ...(settings.hasFormat && { text: { format: { type: 'json_schema', name: 'answer', schema: format, strict: true } } }),
  }
}

/** Tools that a search found: they were declared before. */
const additionalTools = (tools: readonly Tool[]): JsonObject => ({
  type: 'additional_tools',
  role: 'developer',
  tools: tools.slice(0, 1).map(({ name, schema }) => ({ type: 'function', name, parameters: schema })),
})

function asChat(script: Script): JsonObject {
  const { system, turns, tools, settings } = script
  const part = (words: string, isMarked: boolean): JsonObject => ({
    type: 'text',
    text: words,
    ...(isMarked && { cache_control: { type: 'ephemeral' } }),
  })
  const messages = turns.flatMap((each, at): readonly JsonObject[] => {
    if (each.kind === 'calls') {
      const tool_calls = each.results.map((result, index) => ({
        id: callId(at, index),
        type: 'function',
        function: { name: named(script, result), arguments: argumentsFor(index) },
      }))
      return [
        { role: 'assistant', content: each.text === '' ? null : each.text, tool_calls },
        ...each.results.map((result, index) => ({
          role: 'tool',
          tool_call_id: callId(at, index),
          content: each.isMarked ? [part(result.text, true)] : result.text,
        })),
      ]
    }
    const pictures = each.hasImage && each.kind === 'user' ? [{ type: 'image_url', image_url: { url: image } }] : []
    return [{ role: each.kind, content: [part(each.text, each.isMarked), ...pictures] }]
  })
  const [first] = tools
  const choice = settings.choice === 'first' ? first && { type: 'function', function: { name: first.name } } : settings.choice
  return {
    model: 'm',
    messages: [...system.map(content => ({ role: 'system', content })), ...messages],
    ...(tools.length > 0 && {
      tools: tools.map(({ name, schema, strict }) => ({ type: 'function', function: { name, parameters: schema, strict } })),
      ...(choice !== undefined && { tool_choice: choice }),
    }),
    ...(settings.temperature !== undefined && { temperature: settings.temperature }),
    ...(settings.topP !== undefined && { top_p: settings.topP }),
    ...(settings.stop.length > 0 && { stop: settings.stop }),
    ...(settings.user !== undefined && { user: settings.user }),
    ...(settings.effort !== undefined && { reasoning_effort: settings.effort }),
    ...(settings.hasFormat && { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: format, strict: true } } }),
  }
}

function asMessages(script: Script): JsonObject {
  const { system, turns, tools, settings } = script
  let marks = 3
  const mark = (isMarked: boolean): JsonObject => {
    if (!isMarked || marks === 0) return {}
    marks -= 1
    return { cache_control: { type: 'ephemeral' } }
  }
  const messages = turns.flatMap((each, at): readonly JsonObject[] => {
    if (each.kind === 'calls') {
      const uses = each.results.map((result, index) => ({
        type: 'tool_use',
        id: `toolu_${at}_${index}`,
        name: named(script, result),
        input: { path: 'a' },
      }))
      return [
        { role: 'assistant', content: [...(each.text === '' ? [] : [{ type: 'text', text: each.text }]), ...uses] },
        {
          role: 'user',
          content: each.results.map((result, index) => ({
            type: 'tool_result',
            tool_use_id: `toolu_${at}_${index}`,
            content: result.hasImage
              ? [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } }]
              : result.text,
            ...mark(each.isMarked && index === 0),
          })),
        },
      ]
    }
    return [{ role: each.kind, content: [{ type: 'text', text: each.text.trim(), ...mark(each.isMarked) }] }]
  })
  const isThinking = settings.budget !== undefined
  const [first] = tools
  const choices = {
    auto: { type: 'auto' },
    none: { type: 'none' },
    required: { type: 'any' },
    first: first && { type: 'tool', name: first.name },
  }
  const isForced = settings.choice === 'required' || settings.choice === 'first'
  const choice = settings.choice === undefined || (isThinking && isForced) ? undefined : choices[settings.choice]
  return {
    model: 'm',
    max_tokens: 16_000,
    ...(system.length > 0 && { system: system.map(words => ({ type: 'text', text: words })) }),
    messages: [{ role: 'user', content: 'Begin.' }, ...messages],
    ...(tools.length > 0 && {
      tools: tools.map(({ name, schema }) => ({ name, input_schema: schema })),
      ...(choice && { tool_choice: choice }),
    }),
    ...(settings.temperature !== undefined && !isThinking && { temperature: settings.temperature }),
    ...(settings.topP !== undefined && settings.temperature === undefined && !isThinking && { top_p: settings.topP }),
    ...(settings.stop.length > 0 && { stop_sequences: settings.stop }),
    ...(settings.user !== undefined && { metadata: { user_id: settings.user } }),
    ...(isThinking && { thinking: { type: 'enabled', budget_tokens: settings.budget } }),
  }
}

const writers: Readonly<Record<ClientName, (script: Script) => JsonObject>> = {
  responses: asResponses,
  chat: asChat,
  messages: asMessages,
}

/** Bodies that the API allows. */
export const bodiesOf = (client: ClientName): fc.Arbitrary<JsonObject> => scriptFor(client).map(writers[client])

const list = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? (value as readonly Json[]).filter(each => isObject(each)) : []
const question: JsonObject = { role: 'user', content: 'Go on.' }

/** The next turn of a client that received a recorded response, and the same without a new question. */
const nextTurns: Readonly<Record<ClientName, (answer: JsonObject) => readonly JsonObject[]>> = {
  responses({ output }) {
    const results = list(output).flatMap(({ type, call_id = null }) =>
      type === 'function_call' ? [{ type: 'function_call_output', call_id, output: 'ok' }] : [],
    )
    const input = [question, ...list(output), ...results]
    return [
      { model: 'm', input },
      { model: 'm', input: [...input, question] },
    ]
  },
  chat({ choices }) {
    const message = list(choices)[0]?.message
    if (!isObject(message)) return []
    const results = list(message.tool_calls).map(({ id = null }) => ({ role: 'tool', tool_call_id: id, content: 'ok' }))
    const messages = [question, message, ...results]
    return [
      { model: 'm', messages },
      { model: 'm', messages: [...messages, question] },
    ]
  },
  messages({ content }) {
    const calls = list(content).filter(({ type }) => type === 'tool_use')
    const results = calls.map(({ id = null }) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' }))
    const turn = list(content).length > 0 ? [{ role: 'assistant', content: content ?? null }] : []
    const next = { role: 'user', content: [...results, { type: 'text', text: 'Go on.' }] }
    return [{ model: 'm', max_tokens: 1_000, messages: [question, ...turn, next] }]
  },
}

interface CorpusRequest {
  readonly name: string
  readonly client: ClientName
  readonly body: JsonObject
}

const { all, missing } = recordings()
export const missingRecordings = missing

export const recordedRequests: readonly CorpusRequest[] = all.flatMap(({ vendor, name, dialect, whole }) => {
  const client = clientNames.find(each => each === dialect)
  return client && whole ? nextTurns[client](whole).map(body => ({ name: `${vendor}/${name}`, client, body })) : []
})

/** Requests in the form of public agents, where the vendors' refusals were reported. */
export const agentRequests: readonly CorpusRequest[] = [
  {
    name: 'an agent that compacts: the conversation ends with the assistant',
    client: 'responses',
    body: {
      model: 'm',
      input: [question, { role: 'assistant', content: 'Done.' }, { type: 'reasoning', summary: [], encrypted_content: 'x' }],
    },
  },
  {
    name: 'tools that were searched for twice',
    client: 'responses',
    body: asResponses({
      system: [],
      turns: [{ kind: 'user', text: 'Hi', isMarked: false, hasImage: false }],
      tools: ['a', 'b', 'c'].map(name => ({ name, schema: { type: 'object', properties: { path: text } }, strict: false })),
      settings: {
        temperature: undefined,
        topP: undefined,
        stop: [],
        user: undefined,
        effort: 'high',
        budget: undefined,
        choice: undefined,
        hasFormat: false,
      },
    }),
  },
  {
    name: 'a server whose call ids repeat in each turn',
    client: 'chat',
    body: {
      model: 'm',
      messages: [
        question,
        ...[1, 2].flatMap(turn => [
          {
            role: 'assistant',
            content: `turn ${turn}`,
            tool_calls: [{ id: 'call_0', type: 'function', function: { name: 'f', arguments: '{}' } }],
          },
          { role: 'tool', tool_call_id: 'call_0', content: `result ${turn}` },
        ]),
        question,
      ],
      tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }],
    },
  },
]

/** Undefined if the API does not allow the body. */
export function decoded(client: ClientName, body: JsonObject): InferenceRequest | undefined {
  try {
    return clients[client].decodeRequest(body)
  } catch {
    return undefined
  }
}
