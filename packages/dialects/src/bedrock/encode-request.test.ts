import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  assistant,
  body,
  called,
  encode,
  look,
  messages,
  png,
  reasoning,
  result,
  system,
  user,
  warned,
} from '../../test/bedrock-requests.ts'
import type { Item, Part } from '../protocol/item.ts'
import type { Quirks } from '../protocol/model.ts'
import { remember } from '../protocol/original.ts'
import type { Tool } from '../protocol/tool.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { bedrockProvider } from './provider.ts'

describe('the messages of a Bedrock request', () => {
  test('come without a model or a delivery in the body', () => {
    expect(body({})).toEqual({ messages: [{ role: 'user', content: [{ text: 'Hi' }] }] })
    expect(encode({}).headers).toBeUndefined()
    expect(encode({ more: { delivery: 'stream' } })).toMatchObject({
      body: { messages: [{ role: 'user', content: [{ text: 'Hi' }] }] },
      headers: { accept: 'application/vnd.amazon.eventstream' },
    })
  })

  test('alternate between roles, and consecutive items of one role are one message', () => {
    expect(messages(user('a'), user('b'), assistant('c'), assistant('d'), user('e'))).toEqual([
      { role: 'user', content: [{ text: 'a' }, { text: 'b' }] },
      { role: 'assistant', content: [{ text: 'c' }, { text: 'd' }] },
      { role: 'user', content: [{ text: 'e' }] },
    ])
  })

  test('have tool results first', () => {
    expect(
      messages(user('Look'), assistant('I look.'), called('c1'), called('c2'), user('Hurry'), result('c1', 'one'), result('c2', 'two')),
    ).toEqual([
      { role: 'user', content: [{ text: 'Look' }] },
      {
        role: 'assistant',
        content: [
          { text: 'I look.' },
          { toolUse: { toolUseId: 'c1', name: 'look', input: {} } },
          { toolUse: { toolUseId: 'c2', name: 'look', input: {} } },
        ],
      },
      {
        role: 'user',
        content: [
          { toolResult: { toolUseId: 'c1', content: [{ text: 'one' }] } },
          { toolResult: { toolUseId: 'c2', content: [{ text: 'two' }] } },
          { text: 'Hurry' },
        ],
      },
    ])
  })

  test('have the first system messages in `system`, and later ones as marked user text', () => {
    const { system: instructions, messages: turns } = body({
      instructions: 'Be brief.',
      input: [system('Be kind.'), user('Hi'), system('Be quick.'), user('Go')],
    })
    expect(instructions).toEqual([{ text: 'Be brief.' }, { text: 'Be kind.' }])
    expect(turns).toEqual([{ role: 'user', content: [{ text: 'Hi' }, { text: '<system>\nBe quick.\n</system>' }, { text: 'Go' }] }])
  })

  test('have the system text before the first user text if the model has no system prompt', () => {
    const quirks: Quirks = { noSystem: true }
    expect(body({ quirks, instructions: 'Be brief.' })).toEqual({
      messages: [{ role: 'user', content: [{ text: 'Be brief.' }, { text: 'Hi' }] }],
    })
    expect(body({ quirks, instructions: 'Be brief.', input: [assistant('Hello.'), user('Hi')] }).messages).toMatchObject([
      { role: 'user', content: [{ text: 'Be brief.' }] },
      { role: 'assistant' },
      { role: 'user' },
    ])
  })

  test('leave out blank texts and messages', () => {
    expect(messages(user('Hi', ''), assistant('  \n'), user(' '), user('there'))).toEqual([
      { role: 'user', content: [{ text: 'Hi' }, { text: 'there' }] },
    ])
  })

  test('have the system text as a user message if there is no other message', () => {
    expect(body({ instructions: 'Say hi.', input: [system('Be brief.')] })).toEqual({
      messages: [{ role: 'user', content: [{ text: 'Say hi.' }, { text: 'Be brief.' }] }],
    })
  })

  test('begin with a placeholder of the user if the first message is the assistant’s, with a warning', () => {
    const input = [system('Be brief.'), assistant('How can I help?'), user('Weather')]
    expect(body({ input })).toMatchObject({
      system: [{ text: 'Be brief.' }],
      messages: [{ role: 'user', content: [{ text: '(The conversation begins.)' }] }, { role: 'assistant' }, { role: 'user' }],
    })
    expect(warned({ input })).toEqual(['input'])
  })

  test('have no trailing white space in a last assistant message', () => {
    expect(messages(user('Go'), assistant('Well, \n'))).toMatchObject([{}, { role: 'assistant', content: [{ text: 'Well,' }] }])
    expect(messages(user('Go'), assistant('Well, \n'), user('And?'))).toMatchObject([{}, { content: [{ text: 'Well, \n' }] }, {}])
  })

  test('wrap arguments that are not an object, with a warning', () => {
    const prompt = {
      input: [
        user('x'),
        called('a', 'look', '{"at":"x"}'),
        called('b', 'look', ''),
        called('c', 'look', '[1]'),
        called('d', 'look', '{"at'),
      ],
    }
    expect(body(prompt).messages).toMatchObject([
      {},
      {
        content: [
          { toolUse: { input: { at: 'x' } } },
          { toolUse: { input: {} } },
          { toolUse: { input: { _raw: '[1]' } } },
          { toolUse: { input: { _raw: '{"at' } } },
        ],
      },
    ])
    expect(warned({ ...prompt, tools: [look] })).toEqual(['input[3].arguments', 'input[4].arguments'])
  })

  test('have the error status, a placeholder for empty results, and images in tool results', () => {
    const failed: Item = { type: 'function_call_output', call_id: 'b', output: 'no', is_error: true }
    expect(
      messages(user('Look'), called('a'), called('b'), called('c'), result('a', ''), failed, result('c', [{ type: 'image', url: png }])),
    ).toMatchObject([
      {},
      {},
      {
        content: [
          { toolResult: { toolUseId: 'a', content: [{ text: '(empty)' }] } },
          { toolResult: { toolUseId: 'b', content: [{ text: 'no' }], status: 'error' } },
          { toolResult: { toolUseId: 'c', content: [{ image: { format: 'png', source: { bytes: 'iVBORw0KGgo=' } } }] } },
        ],
      },
    ])
  })

  test('leave out unsupported content with warnings under the client’s paths', () => {
    const foreign = remember<Item>(
      { type: 'native', dialect: 'responses', body: { type: 'web_search_call' } },
      { dialect: 'chat', body: {}, path: 'messages[1]' },
    )
    const input: readonly Item[] = [
      user({ type: 'audio', data: 'AAAA', format: 'wav' }, 'Hi'),
      foreign,
      { type: 'message', role: 'assistant', content: [{ type: 'image', url: png }] },
      { type: 'message', role: 'system', content: [{ type: 'image', url: png }] },
    ]
    expect(warned({ input })).toEqual(['input[0].content[0]', 'messages[1]', 'input[2].content[0]', 'input[3].content[0]'])
  })
})

describe('images and documents in a Bedrock request', () => {
  test('get a text beside a document without one', () => {
    const pdf: Part = { type: 'file', url: 'data:application/pdf;base64,JVBERi0=' }
    expect(messages(user(pdf))).toMatchObject([{ content: [{ text: 'The document:' }, { document: { format: 'pdf' } }] }])
    expect(messages(user('Sum it up', pdf))).toMatchObject([{ content: [{ text: 'Sum it up' }, { document: { format: 'pdf' } }] }])
  })

  const parts = (...content: readonly Part[]) =>
    (body({ input: [user(...content, 'Well?')] }).messages as readonly JsonObject[])[0]?.content

  test.each([
    ['image/png', 'png'],
    ['image/jpeg', 'jpeg'],
    ['image/jpg', 'jpeg'],
    ['IMAGE/GIF', 'gif'],
    ['image/webp', 'webp'],
  ])('of type %s are images of format %s', (mediaType, format) => {
    expect(parts({ type: 'image', url: `data:${mediaType};base64,AAAA` })).toEqual([
      { image: { format, source: { bytes: 'AAAA' } } },
      { text: 'Well?' },
    ])
  })

  test('are sent in any size', () => {
    const bytes = 'A'.repeat(20_000_000)
    const [first] = parts({ type: 'image', url: `data:image/png;base64,${bytes}` }) as readonly {
      readonly image: { readonly source: { readonly bytes: string } }
    }[]
    expect(first?.image.source.bytes.length).toBe(bytes.length)
  })

  test.each([
    ['application/pdf', 'pdf'],
    ['text/plain;charset=utf-8', 'txt'],
    ['text/markdown', 'md'],
    ['text/csv', 'csv'],
    ['text/html', 'html'],
    ['application/msword', 'doc'],
    ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'docx'],
    ['application/vnd.ms-excel', 'xls'],
    ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx'],
  ])('of type %s are documents of format %s', (mediaType, format) => {
    expect(parts({ type: 'file', url: `data:${mediaType};base64,AAAA` })).toEqual([
      { document: { format, name: 'document', source: { bytes: 'AAAA' } } },
      { text: 'Well?' },
    ])
  })

  test.each<[string, Part]>([
    ['by URL (image)', { type: 'image', url: 'https://example.com/a.png' }],
    ['of an unsupported image format', { type: 'image', url: 'data:image/heic;base64,AAAA' }],
    ['that are images not in base64', { type: 'image', url: 'data:image/png,AAAA' }],
    ['by URL (file)', { type: 'file', url: 'https://example.com/a.pdf' }],
    ['of an unsupported file format', { type: 'file', url: 'data:application/zip;base64,AAAA' }],
  ])('%s are left out with a warning', (_, part) => {
    expect(parts(part)).toEqual([{ text: 'Well?' }])
    expect(warned({ input: [user(part, 'Well?')] })).toEqual(['input[0].content[0]'])
  })

  test('have unique document names of valid characters', () => {
    const filenames = ['John’s  report.final.pdf', 'résumé.pdf', '分기.pdf', 'a\tb', 'a b', 'a b.pdf', undefined, `${'x'.repeat(400)}.pdf`]
    const content = parts(
      ...filenames.map(
        (filename): Part => ({ type: 'file', url: 'data:application/pdf;base64,AAAA', ...(filename !== undefined && { filename }) }),
      ),
    )
    const names = (content as readonly { readonly document?: { readonly name: string } }[]).flatMap(({ document }) =>
      document ? [document.name] : [],
    )
    expect(names.slice(0, 7)).toEqual(['John s report final', 'r sum', 'document', 'a b', 'a b 2', 'a b 3', 'document 2'])
    expect(names[7]?.length).toBe(150)
  })

  test('have valid and unique document names for any file names', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme', maxLength: 300 }), { maxLength: 6 }), filenames => {
        const content = parts(...filenames.map((filename): Part => ({ type: 'file', url: 'data:application/pdf;base64,AAAA', filename })))
        const names = (content as readonly { readonly document?: { readonly name: string } }[]).flatMap(({ document }) =>
          document ? [document.name] : [],
        )
        expect(new Set(names).size).toBe(filenames.length)
        for (const name of names) expect(name).toMatch(/^(?!.*\s\s)[a-zA-Z0-9\s\-()[\]]{1,200}$/)
      }),
    )
  })
})

describe('reasoning in a Bedrock request', () => {
  const signed = { reasoningText: { text: 'Let me\n"count".', signature: 'Ep0C/+=' } }
  const hidden = { redactedContent: 'c2VjcmV0' }

  test('is sent back byte for byte in its place, if it is this provider’s', () => {
    expect(messages(user('Go'), reasoning(signed), reasoning(hidden), called('a'), result('a'))).toMatchObject([
      {},
      { role: 'assistant', content: [{ reasoningContent: signed }, { reasoningContent: hidden }, { toolUse: {} }] },
      {},
    ])
  })

  test('that was decoded from a response is encoded to the same blocks', () => {
    const { output } = bedrockProvider.decodeResponse({
      output: { message: { content: [{ reasoningContent: signed }, { reasoningContent: hidden }] } },
    })
    expect(messages(user('Go'), ...output)).toMatchObject([{}, { content: [{ reasoningContent: signed }, { reasoningContent: hidden }] }])
  })

  test('is left out with a warning without state, or with that of another provider', () => {
    const bare: Item = { type: 'reasoning', summary: ['shown'] }
    const alien: Item = { type: 'reasoning', summary: [], encrypted_content: 'gAAAA' }
    expect(body({ input: [user('Go'), bare, alien, user('On')] }).messages).toEqual([
      { role: 'user', content: [{ text: 'Go' }, { text: 'On' }] },
    ])
    expect(warned({ input: [user('Go'), bare, alien] })).toEqual(['input[2].encrypted_content', 'input[1]'])
  })
})

describe('the ids and names of tools in a Bedrock request', () => {
  const idsIn = (...ids: readonly string[]): readonly string[] => {
    const [, turn] = messages(user('Look'), ...ids.map(id => called(id))) as readonly {
      readonly content: readonly { readonly toolUse: { readonly toolUseId: string } }[]
    }[]
    return (turn?.content ?? []).map(({ toolUse }) => toolUse.toolUseId)
  }

  test('stay if they are valid, and become the same hash for a call and its result otherwise', () => {
    expect(idsIn('toolu_01-A')).toEqual(['toolu_01-A'])
    const id = 'functions.look:0'
    const [, turn, answer] = messages(user('Look'), called(id), result(id)) as readonly JsonObject[]
    const sent = idsIn(id)[0]
    expect(sent).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
    expect(turn).toMatchObject({ content: [{ toolUse: { toolUseId: sent } }] })
    expect(answer).toMatchObject({ content: [{ toolResult: { toolUseId: sent } }] })
  })

  test('are valid and distinct for distinct ids', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ unit: 'grapheme', maxLength: 100 }), { minLength: 2, maxLength: 8 }), ids => {
        const sent = idsIn(...ids)
        expect(new Set(sent).size).toBe(ids.length)
        for (const id of sent) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
      }),
    )
  })

  test('are valid names, which the mapping for the response reverses', () => {
    const name = 'mcp.weather/get forecast'
    const tools: readonly Tool[] = [{ type: 'function', name }, look]
    const { body: sent, mapping } = encode({
      tools,
      input: [user('x'), called('a', name), result('a'), user('y')],
      tool_choice: { type: 'function', name },
    })
    const [short] = [...(mapping?.toolNames ?? [])].find(([, theirs]) => theirs === name) ?? []
    expect(short).toMatch(/^mcp_weather_get_forecast_[a-z0-9]+$/)
    expect(mapping?.toolNames?.size).toBe(1)
    expect(sent).toMatchObject({
      toolConfig: { tools: [{ toolSpec: { name: short } }, { toolSpec: { name: 'look' } }], toolChoice: { tool: { name: short } } },
      messages: [{}, { content: [{ toolUse: { name: short } }] }, {}],
    })
    expect(encode({ tools: [look] }).mapping).toBeUndefined()
  })
})

describe('images in tool results', () => {
  const image: Part = { type: 'image', url: 'data:image/png;base64,AA==' }
  const block = { image: { format: 'png', source: { bytes: 'AA==' } } }
  const input = [user('Hi'), called('a'), called('b'), result('a', [image]), result('b', 'text'), user('Go')]
  const contentWith = (quirks: Quirks): unknown => (body({ quirks, input }).messages as readonly JsonObject[]).at(-1)?.content

  test('stay in the result for models that take them there', () => {
    expect(contentWith({})).toMatchObject([{ toolResult: { content: [block] } }, { toolResult: {} }, { text: 'Go' }])
  })

  test('come after all results for other models, with the call named', () => {
    expect(contentWith({ textOnlyResults: true })).toMatchObject([
      { toolResult: { toolUseId: 'a', content: [{ text: 'The result comes after the tool results.' }] } },
      { toolResult: { toolUseId: 'b', content: [{ text: 'text' }] } },
      { text: 'Returned by the tool call a:' },
      block,
      { text: 'Go' },
    ])
  })
})
