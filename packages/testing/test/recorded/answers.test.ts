import type { JsonObject } from '@signalbox/dialects/protocol'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type Recording, recordings } from '../../src/recorded.ts'
import { type Call, streamHoldings, wholeHoldings } from './holdings.ts'
import { clientDialects, type PlayedReply, type Player, player, silentLosses, upstreamOf } from './player.ts'
import type { ClientDialectName } from './received.ts'

// Every recorded answer, sent to clients of every dialect, whole and streamed: text, calls and usage arrive as recorded, and
// whatever else the recording holds arrives as well or is named by a warning.

/** None where no folder is named. */
const { all } = recordings()

/** A part of them in the usual run, all in the long one. */
const isPlayed = ({ name }: Recording): boolean =>
  inject('isLongRun') || [...name].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 997, 7) % 10 === 0

const played = all
  .filter(recording => recording.dialect !== 'error' && isPlayed(recording))
  .flatMap(recording => [
    ...(recording.whole ? [{ recording, stream: false, label: `${recording.vendor}/${recording.name}, whole` }] : []),
    ...(recording.chunks || recording.bytes ? [{ recording, stream: true, label: `${recording.vendor}/${recording.name}, streamed` }] : []),
  ])

let playing: Player
beforeAll(async () => {
  playing = await player()
})
afterAll(() => playing.close())

const ask = (clientDialect: ClientDialectName, recording: Recording, stream: boolean): Promise<PlayedReply> =>
  playing.ask(clientDialect, recording, stream)

describe.each(played)('recorded answer $label', ({ recording, stream }) => {
  const held = stream ? streamHoldings(recording) : wholeHoldings(recording)

  if (!held.isFailed)
    test.each(clientDialects)('is complete for a client of %s', async clientDialect => {
      const reply = await ask(clientDialect, recording, stream)
      expect(reply.status).toBe(200)
      expect(reply.text).toBe(held.text)
      expect(reply.calls).toEqual(held.calls)
      if (held.usage) expect(reply.usage).toEqual(clientDialect === upstreamOf(recording) ? (held.totals ?? held.usage) : held.usage)
      expect(silentLosses(held, reply, clientDialect === upstreamOf(recording))).toEqual([])
      if (!stream && reply.warnings.some(warning => warning.startsWith('output_dropped: ')))
        expect(reply.header).toContain('output_dropped')
      const isEmpty = held.text === '' && held.calls.length === 0 && held.images.length === 0 && held.others.size > 0
      if (isEmpty && clientDialect !== upstreamOf(recording)) expect(reply.sentences).toHaveLength(1)
    })

  if (held.isFailed)
    test.each(clientDialects)('fails for a client of %s', async clientDialect => {
      const { status, raw } = await ask(clientDialect, recording, stream)
      expect(status >= 400 || raw.includes('error')).toBe(true)
    })
})

/** Where every input is an object, the text of a custom tool is a field of it. */
const asSentTo = (clientDialect: ClientDialectName, call: Call): Call =>
  clientDialect === 'messages' && typeof call.input === 'string' ? { ...call, input: { input: call.input } } : call

/** Answers that are not among the recordings, of types that vendors document or may invent. */
const invented = (dialect: Recording['dialect'], whole: JsonObject): Recording => ({ vendor: 'none', name: 'invented', dialect, whole })

describe('content that no recording has', () => {
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
  const response = (...output: readonly JsonObject[]): JsonObject => ({
    id: 'r',
    object: 'response',
    status: 'completed',
    model: 'm',
    output,
    usage,
  })
  const completion = (message: JsonObject, beside: JsonObject = {}): JsonObject => ({
    id: 'c',
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1 },
    ...beside,
  })
  const generated = (parts: readonly JsonObject[], beside: JsonObject = {}): JsonObject => ({
    candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP', ...beside }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1 },
  })
  const converse = (...content: readonly JsonObject[]): JsonObject => ({
    output: { message: { role: 'assistant', content } },
    stopReason: 'end_turn',
    usage: { inputTokens: 1, outputTokens: 1 },
  })
  const png = 'iVBORw0KGgoAAAANSUhEUg=='
  const said = { content: 'Look [1].' }

  const answers: Readonly<Record<string, Recording>> = {
    'a shell call': invented('responses', response({ type: 'local_shell_call', id: 'l', call_id: 'c', status: 'completed', action: {} })),
    'an approval': invented(
      'responses',
      response({ type: 'mcp_approval_request', id: 'a', name: 'n', arguments: '{}', server_label: 's' }),
    ),
    'an unknown item': invented(
      'responses',
      response({ type: 'hologram', id: 'h', inside: { type: 'deeper', within: [{ type: 'deepest' }] } }),
    ),
    'a custom call': invented(
      'responses',
      response({ type: 'custom_tool_call', id: 'c', call_id: 'c', name: 'patch', input: '*** "Begin"\n\\' }),
    ),
    'an image of a response': invented('responses', response({ type: 'image_generation_call', id: 'i', status: 'completed', result: png })),
    'an unknown part': invented(
      'responses',
      response({
        type: 'message',
        id: 'm',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_smell', smell: { of: 'roses' } }],
      }),
    ),
    'an image of a chat': invented(
      'chat',
      completion({ ...said, images: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } }] }),
    ),
    'an image at an address': invented(
      'chat',
      completion({ content: '', images: [{ type: 'image_url', image_url: { url: 'https://x.example/1.png' } }] }),
    ),
    'sources beside the message': invented(
      'chat',
      completion(said, { citations: ['https://x.example/a', 'https://x.example/b'], related_questions: ['Why?'] }),
    ),
    'tools that the host ran': invented('chat', completion({ content: null, executed_tools: [{ index: 0, type: 'search' }] })),
    sound: invented('chat', completion({ content: null, audio: { id: 'a', data: png, transcript: 'Hi' } })),
    'a custom call of a chat': invented(
      'chat',
      completion({ content: null, tool_calls: [{ id: 'c', type: 'custom', custom: { name: 'patch', input: 'a "b"' } }] }),
    ),
    'code and its result': invented('gemini', generated([{ executableCode: { code: '1' } }, { codeExecutionResult: { output: '1' } }])),
    'an image of a candidate': invented(
      'gemini',
      generated([{ text: 'Here:' }, { inlineData: { mimeType: 'image/jpeg', data: '/9j/4AAQ' } }]),
    ),
    'pages that were read': invented(
      'gemini',
      generated([{ text: 'So.' }], { urlContextMetadata: { urlMetadata: [{ retrievedUrl: 'https://x.example' }] } }),
    ),
    'hosted tools of a message': invented('messages', {
      type: 'message',
      role: 'assistant',
      content: [
        { type: 'server_tool_use', id: 's', name: 'code', input: { a: 1 } },
        { type: 'brand_new_result', content: [{ type: 'x' }] },
      ],
      stop_reason: 'end_turn',
      usage,
    }),
    'a citation of a document': invented('messages', {
      type: 'message',
      role: 'assistant',
      content: [
        {
          type: 'text',
          text: 'Green.',
          citations: [{ type: 'char_location', cited_text: 'x', document_index: 0, start_char_index: 9e9, end_char_index: -5 }],
        },
      ],
      stop_reason: 'end_turn',
      usage,
    }),
    'an image of Bedrock': invented('bedrock', converse({ image: { format: 'png', source: { bytes: png } } })),
    'a video of Bedrock': invented('bedrock', converse({ text: 'See' }, { video: { format: 'mp4', source: { bytes: 'AAAA' } } })),
  }

  test.each(
    Object.entries(answers).flatMap(([name, recording]) =>
      clientDialects.map(clientDialect => ({ name, recording, dialect: clientDialect })),
    ),
  )('$name reaches a client of $dialect, or a warning names it', async ({ recording, dialect: clientDialect }) => {
    const held = wholeHoldings(recording)
    const reply = await ask(clientDialect, recording, false)
    expect(reply.status).toBe(200)
    expect(reply.text).toBe(held.text)
    expect(reply.calls).toEqual(held.calls.map(call => asSentTo(clientDialect, call)))
    expect(silentLosses(held, reply, clientDialect === upstreamOf(recording))).toEqual([])
  })

  const stream = (dialect: Recording['dialect'], ...bodies: readonly JsonObject[]): Recording => ({
    vendor: 'none',
    name: 'invented',
    dialect,
    chunks: bodies.map(body => JSON.stringify(body)),
  })
  const chunk = (delta: JsonObject, finish_reason: string | null = null): JsonObject => ({
    id: 'c',
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason }],
    ...(finish_reason && { usage: { prompt_tokens: 1, completion_tokens: 1 } }),
  })
  const patch = { type: 'custom_tool_call', id: 'ctc', call_id: 'c', name: 'patch' }
  const done = (...output: readonly JsonObject[]): JsonObject => ({ type: 'response.completed', response: response(...output) })
  const streams: Readonly<Record<string, Recording>> = {
    'an image of a chat': stream(
      'chat',
      chunk({ role: 'assistant', content: 'Look' }),
      chunk({ images: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } }] }),
      chunk({ content: ' there' }, 'stop'),
    ),
    'tools that the host ran': stream('chat', chunk({ executed_tools: [{ index: 0, type: 'search' }] }), chunk({ content: 'x' }, 'stop')),
    'a custom call of a chat': stream(
      'chat',
      chunk({ tool_calls: [{ index: 0, id: 'c', type: 'custom', custom: { name: 'patch', input: 'a "' } }] }),
      chunk({ tool_calls: [{ index: 0, custom: { input: 'b"\n' } }] }),
      chunk({}, 'tool_calls'),
    ),
    'a custom call': stream(
      'responses',
      { type: 'response.created', response: { ...response(), status: 'in_progress' } },
      { type: 'response.output_item.added', output_index: 0, item: { ...patch, input: '', status: 'in_progress' } },
      { type: 'response.custom_tool_call_input.delta', output_index: 0, item_id: 'ctc', delta: '*** "Be' },
      { type: 'response.custom_tool_call_input.delta', output_index: 0, item_id: 'ctc', delta: 'gin"' },
      { type: 'response.custom_tool_call_input.done', output_index: 0, item_id: 'ctc', input: '*** "Begin"' },
      { type: 'response.output_item.done', output_index: 0, item: { ...patch, input: '*** "Begin"', status: 'completed' } },
      done({ ...patch, input: '*** "Begin"', status: 'completed' }),
    ),
    'an unknown item': stream(
      'responses',
      { type: 'response.created', response: { ...response(), status: 'in_progress' } },
      { type: 'response.output_item.added', output_index: 0, item: { type: 'hologram', id: 'h' } },
      { type: 'response.hologram.delta', output_index: 0, item_id: 'h', delta: 'x' },
      { type: 'response.output_item.done', output_index: 0, item: { type: 'hologram', id: 'h', depth: { of: 1 } } },
      done({ type: 'hologram', id: 'h', depth: { of: 1 } }),
    ),
    'an image of a candidate': stream(
      'gemini',
      generated([{ text: 'Here:' }], { finishReason: undefined }),
      generated([{ inlineData: { mimeType: 'image/png', data: png } }]),
    ),
    'an unknown block': stream(
      'messages',
      { type: 'message_start', message: { type: 'message', role: 'assistant', content: [], usage } },
      { type: 'content_block_start', index: 0, content_block: { type: 'hologram', inside: {} } },
      { type: 'content_block_delta', index: 0, delta: { type: 'hologram_delta', inside: { deeper: 1 } } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ),
    'an image of Bedrock': stream(
      'bedrock',
      { messageStart: { role: 'assistant' } },
      { contentBlockDelta: { contentBlockIndex: 0, delta: { text: 'See' } } },
      { contentBlockStop: { contentBlockIndex: 0 } },
      { contentBlockStart: { contentBlockIndex: 1, start: { image: { format: 'png', source: { bytes: png } } } } },
      { contentBlockStop: { contentBlockIndex: 1 } },
      { messageStop: { stopReason: 'end_turn' } },
      { metadata: { usage: { inputTokens: 1, outputTokens: 1 } } },
    ),
  }

  test.each(
    Object.entries(streams).flatMap(([name, recording]) =>
      clientDialects.map(clientDialect => ({ name, recording, dialect: clientDialect })),
    ),
  )('$name, streamed, reaches a client of $dialect, or a warning names it', async ({ recording, dialect: clientDialect }) => {
    const held = streamHoldings(recording)
    const reply = await ask(clientDialect, recording, true)
    expect(reply.status).toBe(200)
    expect(reply.text).toBe(held.text)
    expect(reply.calls).toEqual(held.calls.map(call => asSentTo(clientDialect, call)))
    expect(silentLosses(held, reply, clientDialect === upstreamOf(recording))).toEqual([])
  })

  test.each(clientDialects)('a client of %s never gets an empty response if it has to act', async clientDialect => {
    const { raw, sentences } = await ask(clientDialect, answers['an approval'] as Recording, false)
    if (clientDialect === 'responses') expect(raw).toContain('"type":"mcp_approval_request"')
    else expect(sentences).toEqual(['[The model answered with `mcp_approval_request`, which this API does not support; it was left out.]'])
  })

  test.each(clientDialects)('a client of %s gets neither too many images nor an invalid one', async clientDialect => {
    const image = (url: string): JsonObject => ({ type: 'image_url', image_url: { url } })
    const many = invented(
      'chat',
      completion({ content: 'x', images: Array.from({ length: 20_000 }, () => image(`data:image/png;base64,${png}`)) }),
    )
    expect((await ask(clientDialect, many, false)).status).toBe(502)
    const garbage = invented('chat', completion({ content: 'x', images: [image('data:image/png;base64,"><script>')] }))
    const reply = await ask(clientDialect, garbage, false)
    expect(reply.text).toBe('x')
    if (clientDialect !== 'chat') expect(reply.warnings).toHaveLength(1)
    const huge = invented('chat', completion({ content: 'x', images: [image(`data:image/png;base64,${'A'.repeat(12_000_000)}`)] }))
    expect((await ask(clientDialect, huge, false)).raw.length).toBeGreaterThan(12_000_000)
  })

  test.each(clientDialects.slice(0, inject('isLongRun') ? undefined : 1))(
    'an image of 15 megabytes is streamed to a client of %s',
    async clientDialect => {
      const data = 'A'.repeat(20_000_000)
      const huge = stream('gemini', generated([{ inlineData: { mimeType: 'image/png', data } }]))
      const { raw, status } = await ask(clientDialect, huge, true)
      expect(status).toBe(200)
      expect(raw.includes(data)).toBe(true)
    },
  )

  test('citations outside the text are moved inside it', async () => {
    const annotation = { type: 'url_citation', url: 'https://x.example', title: 'X', start_index: -4, end_index: 9e15 }
    const content = [{ type: 'output_text', text: 'Short.', annotations: [annotation], logprobs: [] }]
    const cited = invented('responses', response({ type: 'message', id: 'm', role: 'assistant', status: 'completed', content }))
    expect((await ask('chat', cited, false)).raw).toContain('"start_index":0,"end_index":6')
  })
})
