import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decode, faultsOf, metadataOf, offer, plain } from '../../test/laws.ts'
import { fold } from '../protocol/fold.ts'
import type { FunctionCallOutputItem, Item, MessageItem, Part } from '../protocol/item.ts'
import type { Quirks } from '../protocol/model.ts'
import type { InferenceRequest, Prompt } from '../protocol/request.ts'
import type { Frame, JsonObject } from '../protocol/wire.ts'
import { responsesClient } from '../responses/client.ts'
import { chatClient } from './client.ts'
import { chatProvider } from './provider.ts'

// The same dialect on both sides, and how the provider dialect handles content that only other dialects can express.

const user = { role: 'user', content: 'Hi' }
const read = (fields: JsonObject): InferenceRequest => chatClient.decodeRequest({ model: 'm', messages: [user], ...fields })
const send = (request: InferenceRequest, quirks: Quirks = {}) => {
  const { body, warnings } = chatProvider.encodeRequest(request, offer, { developerRole: true, ...quirks })
  return { ...plain(body), warned: warnings.map(({ param }) => param) } as unknown as JsonObject & {
    readonly messages: readonly JsonObject[]
    readonly warned: readonly string[]
  }
}
const through = (fields: JsonObject, quirks: Quirks = {}) => send(read(fields), quirks)
const messages = (wire: readonly JsonObject[], quirks: Quirks = {}) => through({ messages: wire }, quirks).messages
const call = (id: string, more: JsonObject = {}): JsonObject => ({
  id,
  type: 'function',
  function: { name: 'f', arguments: '{}' },
  ...more,
})

describe('chat to chat', () => {
  const body = {
    messages: [
      { role: 'developer', content: [{ type: 'text', text: 's', cache_control: { type: 'ephemeral' } }], name: 'rules' },
      {
        role: 'user',
        name: 'bob',
        content: [
          { type: 'text', text: 'x', tint: 1 },
          { type: 'image_url', image_url: { url: 'https://x', detail: 'high', format: 'jpeg' } },
          { type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } },
          { type: 'file', file: { file_data: 'AA', filename: 'a.pdf' } },
          { type: 'file', file: { file_id: 'f' } },
          { type: 'video_url', video_url: { url: 'v' } },
        ],
      },
      { role: 'assistant', content: null, tool_calls: [call('a', { index: 0 }), call('b')], aura: 'blue' },
      { role: 'tool', tool_call_id: 'a', content: [{ type: 'text', text: 'r' }], name: 'f' },
      { role: 'tool', tool_call_id: 'b', content: '' },
      { role: 'assistant', content: 'one', refusal: null, audio: { id: 'sound' } },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'two' },
          { type: 'refusal', refusal: 'no' },
        ],
        prefix: true,
      },
      { role: 'assistant', content: '', tool_calls: [{ id: 'c', type: 'custom', custom: { name: 'g', input: 'raw' } }] },
      { role: 'tool', tool_call_id: 'c', content: 'ok' },
    ],
    tools: [
      {
        type: 'function',
        function: { name: 'f', parameters: { type: 'object' }, strict: true, hint: 'h' },
        cache_control: { type: 'ephemeral' },
      },
      { type: 'custom', custom: { name: 'g', format: { type: 'text' } } },
    ],
    tool_choice: { type: 'function', function: { name: 'f' } },
    parallel_tool_calls: false,
    response_format: { type: 'json_schema', json_schema: { name: 's', schema: { a: 1 }, strict: true }, extra: 1 },
    max_completion_tokens: 9,
    temperature: 0.5,
    top_p: 0.5,
    top_k: 3,
    frequency_penalty: 0.1,
    presence_penalty: 0.2,
    stop: ['END'],
    seed: 7,
    logprobs: true,
    top_logprobs: 2,
    reasoning_effort: 'low',
    verbosity: 'low',
    user: 'u',
    safety_identifier: 's',
    prompt_cache_key: 'k',
    service_tier: 'flex',
    logit_bias: { 1: 2 },
    prediction: { type: 'content', content: 'x' },
  }
  const addressed = { model: 'their-model', stream: false, warned: [] }

  test('all fields of a request are sent unchanged, known or unknown', () => {
    expect(through(body)).toEqual({ ...body, ...addressed })
  })
  test('the other fields stay unchanged if one setting is changed', () => {
    const request = read(body)
    const changed = { ...request, prompt: { ...request.prompt, temperature: 0.9 } }
    expect(send(changed)).toEqual({ ...body, temperature: 0.9, ...addressed })
  })
  test('fields that the gateway controls are not passed on', () => {
    const sent = through({
      models: ['expensive'],
      best_of: 3,
      metadata: { a: 'b' },
      store: false,
      n: 1,
      stream_options: { x: 1 },
      gateway: {},
    })
    expect(sent).toEqual({ messages: [user], ...addressed, warned: ['models', 'best_of'] })
  })
  test('a changed item is written in its new form, within its original message', () => {
    const wire = { role: 'assistant', name: 'eve', content: 'secret', refusal: null, tool_calls: [call('a'), call('b')] }
    const request = read({ messages: [user, wire] })
    const [first, said, ...calls] = request.prompt.input
    if (!first || said?.type !== 'message') throw new Error('a message was read')
    const sentFor = (input: readonly Item[]) => send({ ...request, prompt: { ...request.prompt, input } }).messages
    const clean: MessageItem = { ...said, content: [{ type: 'text', text: 'clean' }] }
    const rest = { role: 'assistant', name: 'eve', tool_calls: [call('a'), call('b')] }
    expect(sentFor([first, clean, ...calls])).toEqual([user, { ...rest, content: 'clean' }])
    expect(sentFor([first, ...calls])).toEqual([user, { ...rest, content: null }])
    expect(sentFor([first, said])).toEqual([user, { role: 'assistant', name: 'eve', content: 'secret', refusal: null }])
  })
  test('the older form of calls is sent in the new one', () => {
    const sent = through({
      messages: [
        { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
        { role: 'function', name: 'f', content: 'r' },
      ],
      functions: [{ name: 'f' }],
      function_call: { name: 'f' },
    })
    const [calling, answered] = sent.messages
    const [entry] = (calling?.tool_calls ?? []) as readonly JsonObject[]
    expect(calling).toEqual({ role: 'assistant', content: null, tool_calls: [{ ...call('a'), id: entry?.id }] })
    expect(answered).toEqual({ role: 'tool', tool_call_id: entry?.id, content: 'r' })
    expect(sent).toMatchObject({
      tools: [{ type: 'function', function: { name: 'f' } }],
      tool_choice: { type: 'function', function: { name: 'f' } },
    })
    expect(JSON.stringify(sent)).not.toContain('function_call"')
  })
  test('an unsupported `strict` is left out, and the rest of the tool is kept', () => {
    const tool = (fields: JsonObject) => ({ type: 'function', function: { name: 'f', hint: 'h', ...fields }, tint: 1 })
    expect(through({ tools: [tool({ strict: true })] }, { refuses: ['strict'] })).toMatchObject({
      tools: [tool({})],
      warned: ['tools[0].strict'],
    })
  })
  test('a host’s restrictions apply to Chat clients too', () => {
    const quirks: Quirks = {
      developerRole: false,
      maxTokensField: 'max_tokens',
      requiredToolChoice: 'any',
      callIdLength: 9,
      efforts: ['high'],
      jsonSchema: 'words',
    }
    const sent = through({ ...body, tool_choice: 'required' }, quirks)
    expect(sent).toMatchObject({ max_tokens: 9, tool_choice: 'any', reasoning_effort: 'high', response_format: { type: 'json_object' } })
    expect(sent).not.toHaveProperty('max_completion_tokens')
    expect(sent.warned).toEqual(['text.format', 'reasoning.effort'])
    expect(sent.messages[1]).toMatchObject({ role: 'system', name: 'rules' })
    const [calling, answered] = sent.messages.filter(({ role }) => role !== 'system' && role !== 'user')
    const ids = ((calling?.tool_calls ?? []) as readonly JsonObject[]).map(({ id }) => id)
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9]{9}$/)
    expect(answered?.tool_call_id).toBe(ids[0])
  })
  test('any conversation of plain messages is sent unchanged', () => {
    const text = fc.string()
    const extra = fc.record({ aura: fc.jsonValue({ maxDepth: 1 }) }, { requiredKeys: [] })
    const message = fc.oneof(
      fc.tuple(fc.constantFrom('system', 'developer', 'user'), text, extra).map(([role, content, more]) => ({ role, content, ...more })),
      fc.tuple(text, extra).map(([content, more]) => ({ role: 'assistant', content, ...more })),
      fc.tuple(fc.array(fc.stringMatching(/^[a-z_-]{0,9}$/), { minLength: 1, maxLength: 3 }), extra).map(([names, more]) => ({
        role: 'assistant',
        content: null,
        tool_calls: names.map((name, at) => ({ id: `c${at}`, type: 'function', function: { name: `f${name}`, arguments: '{}' } })),
        ...more,
      })),
      text.map(content => ({ role: 'tool', tool_call_id: 'c0', content })),
    )
    fc.assert(
      fc.property(fc.array(message, { minLength: 1, maxLength: 8 }), wire => {
        expect(messages(wire as readonly JsonObject[])).toEqual(plain(wire))
      }),
      { numRuns: 500 },
    )
  })
})

describe('a Chat response for a Chat client', () => {
  const wire = {
    id: 'theirs',
    object: 'chat.completion',
    created: 1,
    model: 'their-model',
    system_fingerprint: 'fp',
    service_tier: 'flex',
    nothing: null,
    citations: ['https://x'],
    user: 'us',
    x_vendor: { id: 'req' },
    choices: [
      {
        index: 0,
        finish_reason: 'stop',
        content_filter_results: { hate: 'safe' },
        message: {
          role: 'assistant',
          content: 'Hi',
          audio: { id: 'sound' },
          reasoning_details: [{ type: 'reasoning.encrypted', data: 'RAW' }],
        },
      },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  }
  test('keeps unknown fields, but not internal fields or raw state of the provider', () => {
    const response = chatProvider.decodeResponse(wire)
    const withoutState = plain(
      chatClient.encodeResponse(
        { ...response, output: response.output.filter(({ type }) => type !== 'reasoning') },
        read({}),
        metadataOf(),
      ),
    )
    expect(withoutState).not.toHaveProperty('citations')
    const kept = plain(chatClient.encodeResponse(response, read({}), metadataOf()))
    expect(kept).toMatchObject({
      id: 'chatcmpl-ours',
      model: 'model',
      system_fingerprint: 'fp',
      service_tier: 'flex',
      citations: ['https://x'],
      choices: [{ content_filter_results: { hate: 'safe' }, message: { content: 'Hi', audio: { id: 'sound' } } }],
    })
    expect(kept).not.toHaveProperty('nothing')
    expect(kept).not.toHaveProperty('user')
    expect(kept).not.toHaveProperty('x_vendor')
    const { reasoning_details } = (kept.choices as readonly { readonly message: JsonObject }[])[0]?.message ?? {}
    expect(reasoning_details).toMatchObject([{ format: 'signalbox' }])
  })

  const chunk = (delta: JsonObject, more: JsonObject = {}): Frame => ({
    data: JSON.stringify({
      id: 'theirs',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'their-model',
      system_fingerprint: 'fp',
      choices: [{ index: 0, delta, finish_reason: null }],
      ...more,
    }),
  })
  const streamed = (...frames: readonly Frame[]): readonly JsonObject[] => {
    const events = decode(chatProvider, frames)
    expect(faultsOf(events)).toEqual([])
    const metadata = metadataOf()
    return chatClient
      .encodeEvents(read({ stream: true }), () => metadata)
      .write(events)
      .flatMap(({ data }) => (data === '[DONE]' ? [] : [JSON.parse(data) as JsonObject]))
  }
  test('keeps audio, images and the fingerprint in chunks, and the last chunk’s extra fields in the last', () => {
    const sentChunks = streamed(
      chunk({ role: 'assistant', content: '' }, { provider: 'x' }),
      chunk({ content: 'Hi', token_id: 5 }),
      chunk({ audio: { data: 'AA' }, images: [{ a: 1 }], content: null }),
      chunk({}, { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], citations: ['https://x'], x_vendor: {} }),
    )
    expect(sentChunks.map(({ system_fingerprint }) => system_fingerprint)).toEqual(sentChunks.map(() => 'fp'))
    expect(sentChunks[0]).toMatchObject({ provider: 'x' })
    expect(sentChunks.map(({ choices }) => (choices as readonly { readonly delta: JsonObject }[])[0]?.delta)).toEqual([
      { role: 'assistant', content: '' },
      { content: 'Hi' },
      { images: [{ a: 1 }] },
      { audio: { data: 'AA' } },
      {},
    ])
    expect(sentChunks.at(-1)).toMatchObject({ citations: ['https://x'] })
    expect(JSON.stringify(sentChunks)).not.toContain('x_vendor')
  })
})

describe('reasoning state', () => {
  const details = [
    { type: 'reasoning.summary', summary: 'hm', index: 0, id: 'rs', format: 'openai-responses-v1' },
    { type: 'reasoning.encrypted', data: 'BLOB', index: 1, id: 'rs', format: 'openai-responses-v1' },
  ]
  const signed = (id: string, signature: string) => call(id, { extra_content: { google: { thought_signature: signature } } })
  const answer = (message: JsonObject): readonly Item[] =>
    chatProvider.decodeResponse({ id: 'x', choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' }] })
      .output
  const chunks = (...deltas: readonly JsonObject[]): readonly Item[] => {
    const events = decode(chatProvider, [
      ...deltas.map(delta => ({ data: JSON.stringify({ id: 'x', choices: [{ index: 0, delta, finish_reason: null }] }) })),
      { data: JSON.stringify({ id: 'x', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }) },
    ])
    expect(faultsOf(events)).toEqual([])
    return fold(events).output
  }
  const replayed = (output: readonly Item[], quirks: Quirks = {}) => {
    const request = read({})
    return send({ ...request, prompt: { ...request.prompt, input: [...request.prompt.input, ...output] } }, quirks).messages.at(-1)
  }
  const shape = (output: readonly Item[]) =>
    output.map(item => (item.type === 'reasoning' ? `${item.content?.join() ?? ''}${item.encrypted_content ? '!' : ''}` : item.type))

  test('of encrypted details is sent back unchanged, whole or streamed', () => {
    const whole = answer({ reasoning: 'hm', reasoning_details: details, content: 'x' })
    const streamed = chunks(
      { reasoning: 'hm', reasoning_details: details.slice(0, 1) },
      { reasoning_details: details.slice(1) },
      { content: 'x' },
    )
    for (const output of [whole, streamed]) {
      expect(shape(output)).toEqual(['hm!', 'message'])
      expect(replayed(output)).toEqual({ role: 'assistant', content: 'x', reasoning: 'hm', reasoning_details: details })
    }
  })
  test('of a text in pieces is sent back in one piece, with the last signature', () => {
    const piece = (fields: JsonObject) => ({
      reasoning_details: [{ type: 'reasoning.text', index: 0, format: 'anthropic-claude-v1', ...fields }],
    })
    const output = chunks(piece({ text: 'Let ' }), piece({ text: 'me see', signature: null }), piece({ signature: 'SIG' }), {
      content: 'x',
    })
    expect(shape(output)).toEqual(['Let me see!', 'message'])
    expect(replayed(output)?.reasoning_details).toEqual([
      { type: 'reasoning.text', index: 0, format: 'anthropic-claude-v1', text: 'Let me see', signature: 'SIG' },
    ])
  })
  test.each<JsonObject>([
    { reasoning_content: 'hm' },
    { reasoning: 'hm' },
    { reasoning_details: [{ type: 'reasoning.text', text: 'hm', index: 0 }] },
    { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }] },
  ])('of plain reasoning text is sent back in the field in which it came: %j', fields => {
    const said = Array.isArray(fields.content) ? { content: [...fields.content, { type: 'text', text: 'x' }] } : { ...fields, content: 'x' }
    for (const output of [answer(said), chunks(said)]) {
      expect(shape(output)).toEqual(['hm!', 'message'])
      expect(replayed(output)).toEqual({ role: 'assistant', ...said })
    }
  })
  test('is sent in the field that the offer is known to read, if there is one', () => {
    expect(replayed(answer({ reasoning: 'hm', content: 'x' }), { reasoningField: 'reasoning_content' })).toEqual({
      role: 'assistant',
      content: 'x',
      reasoning_content: 'hm',
    })
  })
  test('is dropped for an offer that accepts none, with one warning', () => {
    const output = answer({ reasoning: 'hm', reasoning_details: details, content: 'x' })
    const request = read({})
    const input = [...request.prompt.input, ...output, ...request.prompt.input, ...output]
    const twice = { ...request, prompt: { ...request.prompt, input } }
    const sent = send(twice, { earlierReasoning: 'never' }).messages
    expect(sent.filter(({ role }) => role === 'assistant')).toEqual(Array(2).fill({ role: 'assistant', content: 'x' }))
    expect(chatProvider.encodeRequest(twice, offer, { earlierReasoning: 'never' }).warnings).toEqual([
      {
        code: 'reasoning_state_dropped',
        message: 'The reasoning of 2 turns was left out: this provider does not accept it.',
        param: 'input[1]',
      },
    ])
  })
  test('that a Chat client got from a vendor directly is sent unchanged', () => {
    const theirs = [{ type: 'reasoning.encrypted', data: 'BLOB', index: 0 }, details[0]]
    const wire = { role: 'assistant', content: 'x', reasoning: 'hm', reasoning_details: theirs, tool_calls: [signed('a', 'RAW')] }
    expect(messages([user, wire])).toEqual([user, wire])
    expect(messages([user, wire], { earlierReasoning: 'own' })[1]).not.toHaveProperty('reasoning_details')
  })
  test('without text, or after other content, is a separate reasoning item', () => {
    const sealed = { reasoning_details: details.slice(1) }
    expect(shape(answer({ ...sealed, content: 'x' }))).toEqual(['!', 'message'])
    expect(shape(chunks(sealed, { content: 'x' }))).toEqual(['!', 'message'])
    const late = chunks({ content: 'x' }, sealed, { content: 'y' })
    expect(shape(late)).toEqual(['message', '!'])
    expect(replayed(late)).toEqual({ role: 'assistant', content: 'xy', ...sealed })
  })
  test('of call signatures is before their calls, and is sent back on them', () => {
    const calls = [signed('a', 'A'), call('b'), signed('c', 'C')]
    const expected = ['!', 'function_call', 'function_call', '!', 'function_call']
    const whole = answer({ content: null, tool_calls: calls })
    const streamed = chunks(...calls.map((entry, index) => ({ tool_calls: [{ index, ...entry }] })))
    for (const output of [whole, streamed]) {
      expect(shape(output)).toEqual(expected)
      expect(replayed(output)).toEqual({ role: 'assistant', content: null, tool_calls: calls })
    }
    expect(shape(chunks({ reasoning: 'hm' }, { tool_calls: [{ index: 0, ...signed('a', 'A') }] }))).toEqual(['hm!', 'function_call'])
  })
  test('of a signature that arrives after its call is sent back on that call', () => {
    const output = chunks(
      { tool_calls: [{ index: 0, ...call('a') }] },
      { tool_calls: [{ index: 0, extra_content: { google: { thought_signature: 'A' } } }] },
    )
    expect(replayed(output)).toEqual({ role: 'assistant', content: null, tool_calls: [signed('a', 'A')] })
  })
  test('of other dialects or in an unknown format is not sent to a Chat host', () => {
    const foreign: readonly Item[] = ['', 'blob', '{}', '{"reasoning_details":1,"thought_signatures":[1,["a"],["a",1]]}', '[1]'].map(
      state => ({
        type: 'reasoning',
        summary: [],
        encrypted_content: state,
      }),
    )
    expect(replayed([...foreign, { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' }])).toEqual({
      role: 'assistant',
      content: null,
      tool_calls: [call('a')],
    })
    const sealed = { type: 'reasoning.encrypted', data: 'gw1.SEALED', format: 'signalbox', index: 0 }
    const extra = { extra_content: { google: { thought_signature: 'gw1.SEALED', other: 1 }, vendor: 2 } }
    const wire = { role: 'assistant', content: 'x', reasoning_content: 'hm', reasoning_details: [sealed], tool_calls: [call('a', extra)] }
    expect(messages([user, wire])).toEqual([
      user,
      {
        role: 'assistant',
        content: 'x',
        reasoning_content: 'hm',
        tool_calls: [call('a', { extra_content: { google: { other: 1 }, vendor: 2 } })],
      },
    ])
    const custom = { id: 'b', type: 'custom', custom: { name: 'g', input: 'raw' } }
    const kept = { ...custom, extra_content: { google: { thought_signature: 'gw1.SEALED' } } }
    expect(messages([{ role: 'assistant', content: null, tool_calls: [kept] }])).toEqual([
      { role: 'assistant', content: null, tool_calls: [custom] },
    ])
    expect(messages([user, wire], { reasoningField: 'reasoning' })[1]).toMatchObject({ reasoning: 'hm' })
  })
  test('that was opened is sent in its original message, with the message’s unknown fields', () => {
    const sealed = (data: string, index: number) => ({ type: 'reasoning.encrypted', data, format: 'signalbox', index })
    const one = { role: 'assistant', name: 'eve', content: 'x', reasoning_details: [sealed('S', 0)] }
    const two = {
      role: 'assistant',
      content: null,
      reasoning_content: 'hm',
      reasoning_details: [sealed('T', 0)],
      tool_calls: [signed('a', 'T'), signed('b', 'U')],
    }
    const made: Readonly<Record<string, string>> = {
      S: JSON.stringify({ reasoning_details: details }),
      T: JSON.stringify({ thought_signatures: [['a', 'A']] }),
      U: JSON.stringify({ thought_signatures: [['b', 'B']] }),
    }
    const request = read({ messages: [user, one, two] })
    const input = request.prompt.input.map(item =>
      item.type === 'reasoning' ? { ...item, encrypted_content: made[item.encrypted_content ?? ''] ?? 'lost' } : item,
    )
    expect(send({ ...request, prompt: { ...request.prompt, input } }).messages).toEqual([
      user,
      { role: 'assistant', name: 'eve', content: 'x', reasoning_details: details },
      { role: 'assistant', content: null, tool_calls: [signed('a', 'A'), signed('b', 'B')] },
    ])
  })
})

describe('requests of other dialects for a Chat provider', () => {
  const requestOf = (fields: Partial<Prompt>): InferenceRequest => ({
    prompt: { input: [{ type: 'message', role: 'user', content: [{ type: 'text', text: 'Hi' }] }], ...fields },
    routing: { models: ['m'], allow_fallbacks: true },
    delivery: 'whole',
  })
  const userMessage = (...content: readonly Part[]) => requestOf({ input: [{ type: 'message', role: 'user', content }] })
  const pdf: Part = { type: 'file', url: 'data:application/pdf;base64,AA', filename: 'a.pdf' }
  const audio: Part = { type: 'audio', data: 'AA', format: 'wav' }
  const text: Part = { type: 'text', text: 'x' }

  test('send files as bytes with a name, and audio as audio', () => {
    const nameless: Part = { type: 'file', url: 'data:text/plain;base64,AA' }
    expect(send(userMessage(text, pdf, nameless, audio))).toMatchObject({
      messages: [
        {
          content: [
            { type: 'text', text: 'x' },
            { type: 'file', file: { file_data: 'data:application/pdf;base64,AA', filename: 'a.pdf' } },
            { type: 'file', file: { file_data: 'data:text/plain;base64,AA', filename: 'document.txt' } },
            { type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } },
          ],
        },
      ],
      warned: [],
    })
  })
  test('leave out file URLs and unsupported parts, with warnings', () => {
    expect(send(userMessage(text, { type: 'file', url: 'https://x/a.pdf' })).warned).toEqual(['input[0].content[1]'])
    const refused = send(userMessage(text, pdf, audio), { files: false, audio: false })
    expect(refused).toMatchObject({
      messages: [{ content: [{ type: 'text', text: 'x' }] }],
      warned: ['input[0].content[1]', 'input[0].content[2]'],
    })
    expect(send(userMessage(pdf), { files: false }).messages).toEqual([{ role: 'user', content: '' }])
    const own = through(
      {
        messages: [
          {
            role: 'user',
            name: 'bob',
            content: [
              { type: 'file', file: { file_data: 'AA' } },
              { type: 'text', text: 'x', tint: 1 },
            ],
          },
          { role: 'user', content: 'y' },
        ],
      },
      { files: false },
    )
    expect(own).toMatchObject({
      messages: [{ name: 'bob', content: [{ type: 'text', text: 'x', tint: 1 }] }, { content: 'y' }],
      warned: ['messages[0].content[0]'],
    })
  })
  test('send a tool error as its text, with one warning for all', () => {
    const failed = (call_id: string, is_error: boolean): FunctionCallOutputItem => ({
      type: 'function_call_output',
      call_id,
      output: 'broke',
      is_error,
    })
    const sent = send(requestOf({ input: [failed('a', false), failed('b', true), failed('c', true)] }))
    expect(sent.warned).toEqual(['input[1].is_error'])
    expect(sent.messages).toHaveLength(3)
    expect(send(requestOf({ input: [failed('a', false)] })).warned).toEqual([])
  })
  test('give one warning for all cache breakpoints, at the first', () => {
    const marked: Part = { type: 'text', text: 'x', cache: {} }
    const request = requestOf({
      input: [
        { type: 'message', role: 'user', content: [text, marked] },
        { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}', cache: { ttl: '1h' } },
        { type: 'function_call_output', call_id: 'a', output: [marked] },
      ],
    })
    const { warnings } = chatProvider.encodeRequest(request, offer, {})
    expect(warnings.map(({ param }) => param)).toEqual(['input[0].content[1]'])
    expect(warnings[0]?.message).toContain('(and 2 more like it)')
    const tools = requestOf({ tools: [{ type: 'function', name: 'f', cache: {} }] })
    expect(send(tools).warned).toEqual(['tools[0]'])
    expect(
      through({ messages: [{ role: 'user', content: [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral' } }] }] }).warned,
    ).toEqual([])
  })
  test('send media of tool results after all results of the turn', () => {
    const image: Part = { type: 'image', url: 'data:image/png;base64,AA' }
    const input: readonly Item[] = [
      { type: 'function_call_output', call_id: 'a', output: [text, pdf, { type: 'native', dialect: 'elsewhere', body: {} }] },
      { type: 'function_call_output', call_id: 'b', output: [image, audio] },
    ]
    expect(send(requestOf({ input }), { audio: false })).toMatchObject({
      messages: [
        { role: 'tool', tool_call_id: 'a', content: 'x' },
        { role: 'tool', tool_call_id: 'b', content: 'The result is in the next message.' },
        { role: 'user', content: [{ type: 'text' }, { type: 'file' }, { type: 'text' }, { type: 'image_url' }] },
      ],
      warned: ['input[0].output[2]', 'input[1].output[1]'],
    })
  })
  test('send the effort in place of a reasoning budget', () => {
    const sent = send(requestOf({ reasoning: { effort: 'low', budget_tokens: 2048 } }))
    expect(sent).toMatchObject({ reasoning_effort: 'low', warned: [] })
  })
  test('send stop sequences and a seed', () => {
    expect(send(requestOf({ stop: ['a', 'b'], seed: 7 }))).toMatchObject({ stop: ['a', 'b'], seed: 7, warned: [] })
  })
  test('send `auto` with a warning if forced calls are not supported', () => {
    const tools = [{ type: 'function', name: 'f' } as const]
    for (const tool_choice of ['required', { type: 'function', name: 'f' }] as const) {
      expect(send(requestOf({ tools, tool_choice }), { noForcedTools: true })).toMatchObject({
        tool_choice: 'auto',
        warned: ['tool_choice'],
      })
    }
    expect(send(requestOf({ tools, tool_choice: 'none' }), { noForcedTools: true })).toMatchObject({ tool_choice: 'none', warned: [] })
  })
  test.each<[Quirks, boolean]>([
    [{}, true],
    [{ jsonSchema: 'native' }, true],
    [{ jsonSchema: 'native', noJsonSchema: true }, true],
    [{ jsonSchema: 'words' }, false],
    [{ jsonSchema: 'tool' }, false],
    [{ noJsonSchema: true }, false],
  ])('send a schema with quirks %j', (quirks, enforced) => {
    const sent = send(requestOf({ text: { format: { type: 'json_schema', name: 's', schema: { a: 1 } } } }), quirks)
    expect(sent.response_format).toMatchObject({ type: enforced ? 'json_schema' : 'json_object' })
    expect(sent.warned).toEqual(enforced ? [] : ['text.format'])
  })
  test('give warnings for unknown fields and parts under the client’s own path', () => {
    const request = responsesClient.decodeRequest({
      model: 'm',
      input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'f' }] }],
      strange: 1,
    })
    expect(send(request).warned).toEqual(['input[0].content[0]', 'strange'])
  })
})
