import { describe, expect, test } from 'vitest'
import { offer } from '../../test/laws.ts'
import { assistant, call, hello, result, send, text, user } from '../../test/messages-provider-sent.ts'
import type { Item, Part } from '../protocol/item.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { messagesClient } from './client.ts'
import { messagesProvider } from './provider.ts'
import { encodeReasoningState } from './reasoning-state.ts'

const system = (value: string): Item => ({ type: 'message', role: 'system', content: [text(value)] })

/** The blocks of the first user message. */
const blocks = (...content: readonly Part[]) => {
  const { messages, warned } = send({ input: [user(...content)] })
  return { blocks: messages[0]?.content ?? [], warned }
}

describe('the messages for a Messages provider', () => {
  test('have instructions as a string, or as blocks with system items, in order', () => {
    expect(send({ instructions: 'Be brief.' }).system).toBe('Be brief.')
    expect(send({ instructions: 'A', input: [system('B'), { ...system('C'), role: 'developer' } as Item, hello] })).toMatchObject({
      system: [
        { type: 'text', text: 'A' },
        { type: 'text', text: 'B' },
        { type: 'text', text: 'C' },
      ],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    })
    expect(send({})).not.toHaveProperty('system')
  })

  test('have one system text with a cache point as a block', () => {
    const marked: Item = { type: 'message', role: 'system', content: [{ type: 'text', text: 'Long', cache: { ttl: '1h' } }] }
    expect(send({ input: [marked, hello] }).system).toEqual([
      { type: 'text', text: 'Long', cache_control: { type: 'ephemeral', ttl: '1h' } },
    ])
  })

  test('have a later system message in its place, as marked text of the user', () => {
    expect(send({ input: [hello, assistant('Hello'), system('Now French.'), user(text('Go on'))] }).messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'Hello' }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: '<system>Now French.</system>' },
          { type: 'text', text: 'Go on' },
        ],
      },
    ])
  })

  test('have one message per turn, with tool results first', () => {
    const input = [
      hello,
      assistant('Looking.'),
      call('a'),
      call('b'),
      result('a'),
      user(text('Quick!')),
      result('b', 'rain'),
      assistant('Done'),
    ]
    expect(send({ input }).messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Looking.' },
          { type: 'tool_use', id: 'a', name: 'weather', input: { city: 'Rome' } },
          { type: 'tool_use', id: 'b', name: 'weather', input: { city: 'Rome' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: 'sunny' },
          { type: 'tool_result', tool_use_id: 'b', content: 'rain' },
          { type: 'text', text: 'Quick!' },
        ],
      },
      { role: 'assistant', content: [{ type: 'text', text: 'Done' }] },
    ])
  })

  test('leave out blank texts, and trailing white space of a last assistant message', () => {
    expect(blocks(text(' \n'), text(''), text('Hi')).blocks).toEqual([{ type: 'text', text: 'Hi' }])
    expect(send({ input: [user(text(' ')), hello, assistant('Once \n')] }).messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'Once' }] },
    ])
  })

  test('have refusals as text, and leave out items of other dialects with a warning', () => {
    const refusal: Item = { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] }
    const strange: Item = { type: 'native', dialect: 'elsewhere', body: { type: 'x' } }
    const picture: Item = { type: 'message', role: 'assistant', content: [{ type: 'image', url: 'https://a.example/1.png' }, text('x')] }
    const { messages, warned } = send({ input: [hello, refusal, strange, picture, { ...strange, dialect: 'messages' }] })
    expect(messages[1]?.content).toEqual([{ type: 'text', text: 'No.' }, { type: 'text', text: 'x' }, { type: 'x' }])
    expect(warned).toEqual(['input[2]', 'input[3].content[0]'])
  })
})

describe('the parts for a Messages provider', () => {
  test('have images as bytes or URL', () => {
    expect(
      blocks({ type: 'image', url: 'data:image/PNG;base64,iVBO' }, { type: 'image', url: 'https://a.example/1.png', detail: 'high' }),
    ).toEqual({
      blocks: [
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBO' } },
        { type: 'image', source: { type: 'url', url: 'https://a.example/1.png' } },
      ],
      warned: [],
    })
    expect(blocks({ type: 'image', url: 'data:image/jpg;base64,AA' }).blocks).toMatchObject([{ source: { media_type: 'image/jpeg' } }])
  })
  test.each(['data:image/tiff;base64,AA', 'data:image/png,raw', 'data:', 'data:image/svg+xml;base64,AA'])(
    'leave out an image of an unsupported type with a warning: %s',
    url => {
      expect(blocks({ type: 'image', url }, text('x'))).toEqual({ blocks: [{ type: 'text', text: 'x' }], warned: ['input[0].content[0]'] })
    },
  )
  test('have files as documents with bytes, plain text or a URL', () => {
    expect(
      blocks(
        { type: 'file', url: 'data:application/pdf;base64,JVBE', filename: 'a.pdf' },
        { type: 'file', url: `data:text/plain;base64,${Buffer.from('Grüße 🚂').toString('base64')}` },
        { type: 'file', url: 'data:text/markdown,%23%20A' },
        { type: 'file', url: 'https://a.example/1.pdf' },
      ),
    ).toEqual({
      blocks: [
        { type: 'document', title: 'a.pdf', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBE' } },
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Grüße 🚂' } },
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: '# A' } },
        { type: 'document', source: { type: 'url', url: 'https://a.example/1.pdf' } },
      ],
      warned: [],
    })
    expect(blocks({ type: 'file', url: 'data:application/zip;base64,AA' }).warned).toEqual(['input[0].content[0]'])
    expect(blocks({ type: 'file', url: 'data:text/plain;base64,***' }).warned).toEqual(['input[0].content[0]'])
    expect(blocks({ type: 'file', url: 'data:text/plain,%' }).warned).toEqual(['input[0].content[0]'])
    expect(blocks({ type: 'file', url: 'data:application/pdf' }).warned).toEqual(['input[0].content[0]'])
    expect(send({ input: [user({ type: 'file', url: 'https://a.example/1.pdf' })] }, { files: false }).warned).toEqual([
      'input[0].content[0]',
    ])
  })
  test('leave out audio with a warning', () => {
    expect(blocks({ type: 'audio', data: 'AA', format: 'wav' }, text('x')).warned).toEqual(['input[0].content[0]'])
  })
})

describe('the calls and results for a Messages provider', () => {
  test('have valid ids, the same in call and result, and distinct ids stay distinct', () => {
    const { messages } = send({
      input: [hello, call('call:1'), call('call/1'), call('ok_-1'), result('call:1'), result('call/1'), result('ok_-1')],
    })
    const ids = (messages[1]?.content ?? []).map(({ id }) => id)
    expect((messages[2]?.content ?? []).map(({ tool_use_id }) => tool_use_id)).toEqual(ids)
    expect(new Set(ids).size).toBe(3)
    expect(ids[2]).toBe('ok_-1')
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9_-]+$/)
  })
  test('wrap arguments that are not an object, with a warning', () => {
    const sent = (written: string) => {
      const { messages, warned } = send({ input: [hello, call('a', written), result('a')] })
      return [messages[1]?.content[0]?.input, warned]
    }
    expect(sent('')).toEqual([{}, []])
    expect(sent('{"a":')).toEqual([{ _raw: '{"a":' }, ['input[1].arguments']])
    expect(sent('[1]')).toEqual([{ _raw: '[1]' }, ['input[1].arguments']])
  })
  test('may have images and an error', () => {
    const output: Item = {
      type: 'function_call_output',
      call_id: 'a',
      output: [text('see'), { type: 'image', url: 'data:image/gif;base64,AA' }],
      is_error: true,
    }
    expect(send({ input: [hello, call('a'), output] }).messages[2]?.content).toEqual([
      {
        type: 'tool_result',
        tool_use_id: 'a',
        content: [
          { type: 'text', text: 'see' },
          { type: 'image', source: { type: 'base64', media_type: 'image/gif', data: 'AA' } },
        ],
        is_error: true,
      },
    ])
  })
})

describe('the reasoning of earlier turns', () => {
  const reasoning = (encrypted_content?: string): Item => ({
    type: 'reasoning',
    summary: ['edited by the client'],
    ...(encrypted_content !== undefined && { encrypted_content }),
  })
  test.each<JsonObject>([
    { type: 'thinking', thinking: 'First \n"the" points 🚂 \ud800', signature: 'sig+/=' },
    { type: 'thinking', thinking: '', signature: 'sig' },
    { type: 'redacted_thinking', data: 'blob' },
  ])('is sent back byte for byte, in its place: %j', block => {
    const { messages, warned } = send({ input: [hello, reasoning(encodeReasoningState(block)), assistant('So'), call('a'), result('a')] })
    expect(JSON.stringify((messages[1]?.content ?? [])[0])).toBe(JSON.stringify(block))
    expect(warned).toEqual([])
  })
  test.each([undefined, '', 'gAAAAAB', '{"kind":"other"}', '{', '[]'])(
    'is left out with a warning if it is not in this provider’s format: %s',
    state => {
      expect(send({ input: [hello, reasoning(state), assistant('So')] })).toMatchObject({
        messages: [{ role: 'user' }, { role: 'assistant', content: [{ type: 'text', text: 'So' }] }],
        warned: ['input[1]'],
      })
    },
  )
})

describe('a request of a Messages client', () => {
  const wire: JsonObject = {
    model: 'm',
    max_tokens: 4000,
    stream: true,
    system: [{ type: 'text', text: 'S', cache_control: { type: 'ephemeral' } }],
    thinking: { type: 'enabled', budget_tokens: 2000 },
    output_config: { effort: 'high', format: { type: 'json_schema', schema: { type: 'object' } }, future: 1 },
    context_management: { edits: [] },
    tools: [
      { name: 'f', input_schema: { type: 'object' }, eager_input_streaming: true },
      { type: 'bash_1', name: 'bash' },
    ],
    tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    metadata: { user_id: 'u' },
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral', ttl: '1h' } }] },
      { role: 'system', content: 'Mind the gap.' },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'x', citations: [{ type: 'char_location', document_index: 0 }] },
          { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
          { type: 'tool_use', id: 'a', name: 'f', input: {}, caller: { type: 'direct' } },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'search_result', title: 't' }] }] },
    ],
  }
  const { model, stream, ...own } = wire

  test('is sent unchanged, under the provider’s model id', () => {
    const request = messagesClient.decodeRequest({ ...wire, gateway: {}, extensions: { top_k: 1 } })
    const { body, warnings } = messagesProvider.encodeRequest(request, offer, {})
    expect(body).toEqual({ ...own, model: 'their-model', stream: true, top_k: 1 })
    expect(warnings).toEqual([])
  })

  test('is sent unchanged except for the changed field', () => {
    const request = messagesClient.decodeRequest(wire)
    const { body, warnings } = messagesProvider.encodeRequest({ ...request, prompt: { ...request.prompt } }, offer, {})
    const text = { role: 'system', content: [{ type: 'text', text: 'Mind the gap.' }] }
    expect(body).toEqual({ ...own, messages: (wire.messages as readonly JsonObject[]).with(1, text), model: 'their-model', stream: true })
    expect(warnings).toEqual([])
  })

  test('keeps a vendor’s signature, and loses citations and thinking that the gateway created', () => {
    const signed = { type: 'thinking', thinking: 't', signature: 'theirs' }
    const madeUp = { type: 'web_search_result_location', url: 'u', title: 't', cited_text: '', encrypted_index: '' }
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: [signed, { type: 'text', text: 'x', citations: [madeUp] }] },
      { role: 'user', content: 'More' },
      { role: 'assistant', content: [{ type: 'thinking', thinking: 'nobody’s', signature: '' }] },
      { role: 'user', content: 'And?' },
    ]
    const request = messagesClient.decodeRequest({ model: 'm', max_tokens: 9, messages })
    const kept = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: [signed, { type: 'text', text: 'x' }] },
      { role: 'user', content: 'More' },
      { role: 'user', content: 'And?' },
    ]
    expect(messagesProvider.encodeRequest(request, offer, {}).body.messages).toEqual(kept)
    const composed = messagesProvider.encodeRequest({ ...request, prompt: { ...request.prompt } }, offer, {}).body.messages
    expect(composed).toMatchObject([{ role: 'user' }, { content: kept[1]?.content }, { content: [{ text: 'More' }, { text: 'And?' }] }])
  })
})

test('system text without other messages is sent as a user message', () => {
  const body = send({ instructions: 'Say hi.', input: [system('Be brief.')] })
  expect(body.messages).toEqual([{ role: 'user', content: [text('Say hi.'), text('Be brief.')] }])
  expect(body).not.toHaveProperty('system')
})
