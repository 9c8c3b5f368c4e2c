import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decode, faultsOf } from '../../test/laws.ts'
import { fold, unfold } from '../protocol/fold.ts'
import { type Frame, isObject, type JsonObject } from '../protocol/wire.ts'
import { geminiProvider } from './provider.ts'

const frame = (body: unknown): Frame => ({ data: JSON.stringify(body) })
const piece = (parts: readonly unknown[], more: JsonObject = {}): Frame =>
  frame({ candidates: [{ content: { role: 'model', parts }, index: 0, ...more }], responseId: 'r', modelVersion: 'm' })
const stop = (parts: readonly unknown[] = [], reason = 'STOP'): Frame => piece(parts, { finishReason: reason })
const read = (...frames: readonly Frame[]) => fold(decode(geminiProvider, frames))
const whole = (body: JsonObject) => geminiProvider.decodeResponse(body)
const answer = (parts: readonly unknown[], reason = 'STOP'): JsonObject => JSON.parse(stop(parts, reason).data) as JsonObject

const message = (text: string, status = 'completed') => ({ type: 'message', role: 'assistant', content: [{ type: 'text', text }], status })
const signed = (on: string, signature: string, length?: number) => ({
  type: 'reasoning',
  summary: [],
  encrypted_content: JSON.stringify({ on, signature, ...(length !== undefined && { length }) }),
})
const call = (name: string, written: string) => ({
  type: 'function_call',
  call_id: expect.stringMatching(/^\w+$/),
  name,
  arguments: written,
  status: 'completed',
})

describe('the content of a Gemini response', () => {
  test('has one item for consecutive texts of one kind, and a new item for another kind', () => {
    const { output } = read(
      piece([{ text: 'Let me ', thought: true }]),
      piece([{ text: 'think.', thought: true }, { text: 'Hel' }]),
      piece([{ text: 'lo' }, { functionCall: { name: 'f', args: { a: 1 } } }, { text: 'Done.' }]),
      stop(),
    )
    expect(output).toEqual([{ type: 'reasoning', summary: ['Let me think.'] }, message('Hello'), call('f', '{"a":1}'), message('Done.')])
  })

  test('has empty arguments for a call without any, and a new id for a call without one', () => {
    const { output } = read(
      stop([{ functionCall: { name: 'now' } }, { functionCall: { name: 'now' } }, { functionCall: { name: 'now', id: 'theirs' } }]),
    )
    expect(output).toEqual([call('now', '{}'), call('now', '{}'), { ...call('now', '{}'), call_id: 'theirs' }])
    expect(new Set(output.map(item => (item.type === 'function_call' ? item.call_id : ''))).size).toBe(3)
  })

  test('includes a call of a tool that was not offered, and fails on a malformed call', () => {
    const parts = [{ functionCall: { name: 'list_files', args: { at: '/' } } }]
    for (const answered of [read(stop(parts, 'UNEXPECTED_TOOL_CALL')), whole(answer(parts, 'UNEXPECTED_TOOL_CALL'))]) {
      expect(answered.outcome).toEqual({ status: 'completed' })
      expect(answered.output).toEqual([call('list_files', '{"at":"/"}')])
    }
    expect(read(stop([], 'UNEXPECTED_TOOL_CALL')).outcome).toMatchObject({ status: 'failed', error: { kind: 'server_error' } })
    expect(read(stop(parts, 'MALFORMED_FUNCTION_CALL')).outcome).toMatchObject({ status: 'failed', error: { kind: 'server_error' } })
  })

  test('keeps a call id that is used twice for the first call only', () => {
    const { output } = read(stop([{ functionCall: { name: 'f', id: 'x' } }, { functionCall: { name: 'f', id: 'x' } }]))
    const ids = output.map(item => (item.type === 'function_call' ? item.call_id : ''))
    expect(ids[0]).toBe('x')
    expect(ids[1]).not.toBe('x')
  })

  test('has the client’s names of tools', () => {
    const mapping = { toolNames: new Map([['get_weather', 'get weather']]) }
    expect(geminiProvider.decodeResponse(answer([{ functionCall: { name: 'get_weather' } }]), mapping).output).toEqual([
      call('get weather', '{}'),
    ])
  })

  test('fails on a call without a name', () => {
    expect(read(stop([{ functionCall: { args: {} } }])).outcome).toMatchObject({ status: 'failed', error: { kind: 'unreadable' } })
  })

  test.each<[string, JsonObject]>([
    ['code', { executableCode: { language: 'PYTHON', code: '1+1' } }],
    ['a code result', { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '2' } }],
    ['audio', { inlineData: { mimeType: 'audio/pcm', data: 'AAAA' } }],
    ['an image whose bytes are not base64', { inlineData: { mimeType: 'image/png', data: ')<!--' } }],
    ['a server tool', { toolCall: { id: '1' } }],
    ['an unknown part', { hologram: {} }],
  ])('keeps %s as a native item', (_, part) => {
    expect(read(piece([{ text: 'a' }, part]), stop([{ text: 'b' }])).output).toEqual([
      message('a'),
      { type: 'native', dialect: 'gemini', body: part },
      message('b'),
    ])
  })

  test('has an image as an item of its own, and reports a draft image as not modeled', () => {
    const image = { inlineData: { mimeType: 'image/png', data: 'AAAA' }, thoughtSignature: 's' }
    const response = read(piece([{ ...image, thought: true }, { text: 'a' }, image]), stop([{ text: 'b' }]))
    const body = { type: 'image_generation_call', status: 'completed', result: 'AAAA', output_format: 'png' }
    const signature = { type: 'reasoning', encrypted_content: '{"on":"image","signature":"s"}' }
    expect(response.output).toMatchObject([message('a'), signature, { type: 'native', dialect: 'responses', body }, message('b')])
    expect(response.unmodeled).toEqual(['thought'])
  })

  test('is that of the first candidate only', () => {
    const two = {
      candidates: [
        { index: 1, content: { parts: [{ text: 'no' }] } },
        { index: 0, content: { parts: [{ text: 'yes' }] }, finishReason: 'STOP' },
      ],
    }
    expect(whole(two).output).toEqual([message('yes')])
  })

  test('without text is an empty message', () => {
    expect(read(stop([{ text: '' }])).output).toEqual([message('')])
  })

  test('has the logprobs of tokens beside their text', () => {
    const logprobsResult = {
      chosenCandidates: [{ token: 'Hi', logProbability: -0.1 }],
      topCandidates: [
        {
          candidates: [
            { token: 'Hi', logProbability: -0.1 },
            { token: 'Yo', logProbability: -2 },
          ],
        },
      ],
    }
    const { output } = read(piece([{ text: 'Hi' }], { logprobsResult }), stop())
    const odds = { token: 'Hi', logprob: -0.1, bytes: [72, 105] }
    expect(output).toMatchObject([{ content: [{ logprobs: [{ ...odds, top_logprobs: [odds, { token: 'Yo', logprob: -2 }] }] }] }])
  })
})

describe('partial arguments', () => {
  const pieces = (...calls: readonly JsonObject[]) => read(...calls.map(functionCall => piece([{ functionCall }])), stop()).output

  test('are assembled by their JSON paths', () => {
    expect(
      pieces(
        { name: 'book', willContinue: true },
        { partialArgs: [{ jsonPath: '$.to', stringValue: 'San ', willContinue: true }], willContinue: true },
        { partialArgs: [{ jsonPath: '$.to', stringValue: 'José' }], willContinue: true },
        {
          partialArgs: [
            { jsonPath: '$.stops[0].at', numberValue: 7 },
            { jsonPath: '$.stops[0].fast', boolValue: false },
          ],
          willContinue: true,
        },
        { partialArgs: [{ jsonPath: "$.stops[1]['a b']", nullValue: null }], willContinue: true },
        {},
      ),
    ).toEqual([call('book', '{"to":"San José","stops":[{"at":7,"fast":false},{"a b":null}]}')])
  })

  test('replace an earlier value of their path, unless that value was to continue', () => {
    expect(
      pieces(
        { name: 'book', willContinue: true },
        { partialArgs: [{ jsonPath: '$.to', stringValue: 'San José' }], willContinue: true },
        { partialArgs: [{ jsonPath: '$.to', stringValue: 'Lima' }], willContinue: true },
        {},
      ),
    ).toEqual([call('book', '{"to":"Lima"}')])
  })

  test('belong to the open call, and a new name starts a new call', () => {
    expect(
      pieces(
        { name: 'f', willContinue: true },
        { partialArgs: [{ jsonPath: '$.a', numberValue: 1 }] },
        { name: 'f', willContinue: true },
        {},
      ),
    ).toEqual([call('f', '{"a":1}'), call('f', '{}')])
  })

  test('cannot change a prototype, and a huge index does not create a huge list', () => {
    const hostile = [
      { jsonPath: '$.__proto__.polluted', stringValue: 'yes' },
      { jsonPath: '$.list[999999999]', stringValue: 'x' },
      { jsonPath: `$${'.a'.repeat(5000)}`, stringValue: 'deep' },
    ]
    expect(pieces({ name: 'f', args: { o: {} }, partialArgs: hostile })).toEqual([
      call('f', '{"o":{},"__proto__":{"polluted":"yes"},"list":["x"]}'),
    ])
    expect(({} as { readonly polluted?: string }).polluted).toBeUndefined()
  })
})

describe('thought signatures', () => {
  test('of a call are in the reasoning item before it', () => {
    const parts = [
      { text: 'Hm.', thought: true },
      { functionCall: { name: 'f' }, thoughtSignature: 'S+/=' },
      { functionCall: { name: 'g' } },
    ]
    expect(read(stop(parts)).output).toEqual([
      { type: 'reasoning', summary: ['Hm.'], encrypted_content: '{"on":"call","signature":"S+/="}' },
      call('f', '{}'),
      call('g', '{}'),
    ])
  })
  test('of a call without thoughts are in a new reasoning item', () => {
    expect(read(stop([{ functionCall: { name: 'f' }, thoughtSignature: 'S' }])).output).toEqual([signed('call', 'S'), call('f', '{}')])
  })
  test('of a call in pieces are kept as well', () => {
    const output = read(
      piece([{ functionCall: { name: 'f', willContinue: true }, thoughtSignature: 'S' }]),
      piece([{ functionCall: {} }]),
      stop(),
    ).output
    expect(output).toEqual([signed('call', 'S'), call('f', '{}')])
  })
  test('of a text are in a reasoning item before it', () => {
    expect(whole(answer([{ text: 'Hi', thoughtSignature: 'S' }])).output).toEqual([signed('text', 'S', 2), message('Hi')])
  })
  test('of an empty last text are in a reasoning item after the message', () => {
    expect(read(piece([{ text: 'Hi' }]), stop([{ text: '', thoughtSignature: 'S' }])).output).toEqual([message('Hi'), signed('end', 'S')])
  })
  test('of a later piece of a text are in a reasoning item after it, with the length of the piece', () => {
    expect(read(piece([{ text: 'Hi' }]), stop([{ text: ' you', thoughtSignature: 'S' }])).output).toEqual([
      message('Hi you'),
      signed('end', 'S', 4),
    ])
  })
  test('of a thought stay in its reasoning item', () => {
    expect(read(stop([{ text: 'Hm.', thought: true, thoughtSignature: 'S' }, { text: 'Hi' }])).output).toEqual([
      { type: 'reasoning', summary: ['Hm.'], encrypted_content: '{"on":"thought","signature":"S"}' },
      message('Hi'),
    ])
  })
})

describe('sources', () => {
  test('are cited at positions in characters, not in bytes', () => {
    const text = 'Grüße aus 日本 🚂 heute'
    const bytes = (upTo: string) => new TextEncoder().encode(text.slice(0, text.indexOf(upTo) + upTo.length)).length
    const groundingMetadata = {
      groundingChunks: [{ web: { uri: 'https://a.example', title: 'A' } }, { retrievedContext: { uri: 'https://b.example' } }],
      groundingSupports: [
        { segment: { endIndex: bytes('Grüße') }, groundingChunkIndices: [0] },
        { segment: { startIndex: bytes('aus '), endIndex: bytes('🚂') }, groundingChunkIndices: [0, 1, 7] },
      ],
    }
    const { output } = read(
      piece([{ text: text.slice(0, 8) }]),
      piece([{ text: text.slice(8) }], { finishReason: 'STOP', groundingMetadata }),
    )
    const [item] = output
    const annotations = item?.type === 'message' && item.content[0]?.type === 'text' ? (item.content[0].annotations ?? []) : []
    expect(
      annotations.map(({ url, title, start_index, end_index }) => [url, title, text.slice(Number(start_index), Number(end_index))]),
    ).toEqual([
      ['https://a.example', 'A', 'Grüße'],
      ['https://a.example', 'A', '日本 🚂'],
      ['https://b.example', 'https://b.example', '日本 🚂'],
    ])
  })
  test('without a position are cited for the whole text', () => {
    const groundingMetadata = { groundingChunks: [{ web: { uri: 'https://a.example', title: 'A' } }] }
    expect(read(piece([{ text: 'Hello' }], { finishReason: 'STOP', groundingMetadata })).output).toMatchObject([
      { content: [{ annotations: [{ type: 'url_citation', url: 'https://a.example', start_index: 0, end_index: 5 }] }] },
    ])
  })
})

describe('the end of a Gemini response', () => {
  test.each<[string, readonly unknown[], JsonObject]>([
    ['STOP', [{ text: 'x' }], { status: 'completed' }],
    ['MAX_TOKENS', [], { status: 'incomplete', reason: 'max_output_tokens' }],
    ['SAFETY', [{ text: 'x' }], { status: 'incomplete', reason: 'content_filter' }],
    ['PROHIBITED_CONTENT', [], { status: 'incomplete', reason: 'content_filter' }],
    ['OTHER', [{ text: 'x' }], { status: 'incomplete', reason: 'other' }],
    ['OTHER', [], { status: 'failed', error: { kind: 'server_error' } }],
    ['OTHER', [{ text: 'x', thought: true }], { status: 'failed', error: { kind: 'server_error' } }],
    ['MALFORMED_FUNCTION_CALL', [], { status: 'failed', error: { kind: 'server_error' } }],
    ['MISSING_THOUGHT_SIGNATURE', [], { status: 'failed', error: { kind: 'stale_state' } }],
    ['SOMETHING_NEW', [{ text: 'x' }], { status: 'completed' }],
  ])('is mapped from %s after %j', (reason, parts, outcome) => {
    expect(read(stop(parts, reason)).outcome).toMatchObject(outcome)
    expect(whole(answer(parts, reason)).outcome).toMatchObject(outcome)
  })

  test('leaves the last item incomplete if the response was cut off', () => {
    expect(read(stop([{ text: 'x' }], 'MAX_TOKENS')).output).toEqual([message('x', 'incomplete')])
  })
  test('is incomplete with content_filter if the prompt was blocked', () => {
    const refused = { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, usageMetadata: { promptTokenCount: 4, totalTokenCount: 4 } }
    for (const response of [read(frame(refused)), whole(refused)])
      expect(response).toMatchObject({
        output: [],
        outcome: { status: 'incomplete', reason: 'content_filter' },
        usage: { input_tokens: 4 },
      })
  })
  test('is a failure if a stream has no finish reason', () => {
    expect(read(piece([{ text: 'x' }])).outcome).toMatchObject({ status: 'failed', error: { kind: 'unreadable' } })
    expect(read().outcome).toMatchObject({ status: 'failed' })
  })
  test('is completed without a finish reason in a whole response, and a failure without candidates', () => {
    expect(whole({ candidates: [{ content: { parts: [{ text: 'x' }] } }] }).outcome).toEqual({ status: 'completed' })
    expect(whole({}).outcome).toMatchObject({ status: 'failed', error: { kind: 'unreadable' } })
  })
  test('follows from the last finish reason if each piece has one, and all text is kept', () => {
    expect(read(stop([{ text: 'a' }]), stop([{ text: 'b' }], 'MAX_TOKENS'))).toMatchObject({
      output: [message('ab', 'incomplete')],
      outcome: { reason: 'max_output_tokens' },
    })
  })
  test('has the last value of each token count', () => {
    const usage = (counts: JsonObject) => frame({ usageMetadata: counts })
    const { usage: total } = read(
      usage({ trafficType: 'ON_DEMAND' }),
      usage({ promptTokenCount: 10, cachedContentTokenCount: 4, candidatesTokenCount: 1 }),
      stop([{ text: 'x' }]),
      usage({ candidatesTokenCount: 7, thoughtsTokenCount: 5, toolUsePromptTokenCount: 3, totalTokenCount: 25 }),
    )
    expect(total).toEqual({ input_tokens: 13, output_tokens: 12, cached_tokens: 4, cache_write_tokens: 0, reasoning_tokens: 5 })
  })
})

describe('errors in a stream', () => {
  const error = { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' }
  test.each<[string, unknown]>([
    ['as an object', { error }],
    ['as a list of one', [{ error }]],
  ])('%s end the stream, whatever came before', (_, body) => {
    const events = decode(geminiProvider, [stop([{ text: 'x' }]), frame(body), stop([{ text: 'y' }])])
    expect(faultsOf(events)).toEqual([])
    expect(fold(events)).toMatchObject({
      output: [message('x', 'incomplete')],
      outcome: { status: 'failed', error: { kind: 'overloaded', status: 503 } },
    })
  })
  test('as the whole body fail the response', () => {
    expect(whole({ error }).outcome).toMatchObject({ status: 'failed', error: { kind: 'overloaded' } })
  })
  test('that are invalid JSON fail the response too', () => {
    expect(read(piece([{ text: 'x' }]), { data: '{"candidates":[' }).outcome).toMatchObject({
      status: 'failed',
      error: { kind: 'unreadable' },
    })
  })
})

describe('hostile input', () => {
  const scalar = fc.oneof(fc.string(), fc.integer(), fc.double(), fc.boolean(), fc.constant(null))
  const keys = [
    'candidates',
    'content',
    'parts',
    'text',
    'thought',
    'thoughtSignature',
    'functionCall',
    'name',
    'args',
    'id',
    'willContinue',
    'partialArgs',
    'jsonPath',
    'stringValue',
    'finishReason',
    'index',
    'usageMetadata',
    'promptTokenCount',
    'groundingMetadata',
    'groundingChunks',
    'groundingSupports',
    'web',
    'uri',
    'segment',
    'error',
    'promptFeedback',
    'logprobsResult',
    'inlineData',
    '__proto__',
  ] as const
  const { tree } = fc.letrec(tie => ({
    tree: fc.oneof(
      { maxDepth: 7 },
      scalar,
      fc.array(tie('tree'), { maxLength: 4 }),
      fc.dictionary(fc.constantFrom(...keys), tie('tree'), { maxKeys: 6 }),
    ),
  }))
  const part = fc.oneof(
    fc.record({ text: fc.string(), thought: fc.boolean(), thoughtSignature: fc.string() }, { requiredKeys: [] }),
    fc.record(
      {
        functionCall: fc.record(
          {
            name: fc.constantFrom('', 'f', 'g'),
            args: tree,
            willContinue: fc.boolean(),
            partialArgs: fc.array(
              fc.record(
                { jsonPath: fc.constantFrom('$.a', '$.a[0]', '$.b.c', ''), stringValue: fc.string(), willContinue: fc.boolean() },
                { requiredKeys: [] },
              ),
            ),
          },
          { requiredKeys: [] },
        ),
        thoughtSignature: fc.string(),
      },
      { requiredKeys: ['functionCall'] },
    ),
    fc.record({ inlineData: tree }),
    tree,
  )
  const likely = fc.record(
    {
      candidates: fc.array(
        fc.record(
          {
            content: fc.record({ parts: fc.array(part) }),
            finishReason: fc.constantFrom('STOP', 'OTHER', 'SAFETY', ''),
            groundingMetadata: tree,
          },
          { requiredKeys: ['content'] },
        ),
        { maxLength: 2 },
      ),
      usageMetadata: tree,
    },
    { requiredKeys: ['candidates'] },
  )
  const body = fc.oneof(likely, likely, tree)

  test('never makes the decoder throw, and its events are in legal order', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            body.map(frame),
            fc.string().map(data => ({ data })),
          ),
          { maxLength: 6 },
        ),
        frames => {
          const events = decode(geminiProvider, frames)
          expect(faultsOf(events)).toEqual([])
          expect(events.filter(({ type }) => type === 'finished')).toHaveLength(1)
        },
      ),
      { numRuns: 400 },
    )
  })
  test('never makes the whole decoder throw, and its response unfolds into legal events', () => {
    fc.assert(
      fc.property(body, sent => {
        const events = unfold(whole(isObject(sent) ? (JSON.parse(JSON.stringify(sent)) as JsonObject) : {}))
        expect(faultsOf(events)).toEqual([])
      }),
      { numRuns: 400 },
    )
  })
})
