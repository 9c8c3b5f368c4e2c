import fc from 'fast-check'
import { describe, expect, inject, test } from 'vitest'
import { anyCharacter } from '../../test/any-character.ts'
import { offer, plain } from '../../test/laws.ts'
import { chatClient } from '../chat/client.ts'
import { chatProvider } from '../chat/provider.ts'
import type { InferenceEvent } from '../protocol/event.ts'
import type { FunctionCallItem, Item } from '../protocol/item.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { providerDialects } from '../providers.ts'
import { responsesClient } from '../responses/client.ts'
import { responsesProvider } from '../responses/provider.ts'
import { endOfInput, inputOf, readInput, startInput } from './custom-input.ts'

const patch = '*** Begin Patch\n*** Update File: a.ts\n@@\n-"a\\b"\n+\t“é😀”\n*** End Patch\n'
const grammar = { syntax: 'lark', definition: 'start: begin hunk+ end' }

const fromResponses = (fields: JsonObject = {}): InferenceRequest =>
  responsesClient.decodeRequest({
    model: 'm',
    input: [
      { role: 'user', content: 'Edit it.' },
      { type: 'custom_tool_call', id: 'ctc_1', call_id: 'c1', name: 'apply_patch', input: patch },
      { type: 'custom_tool_call_output', call_id: 'c1', output: 'Done.' },
      { role: 'user', content: 'Again.' },
    ],
    tools: [
      { type: 'custom', name: 'apply_patch', description: 'Edits files.', format: { type: 'grammar', ...grammar } },
      { type: 'function', name: 'other', parameters: { type: 'object', properties: {} } },
    ],
    ...fields,
  })

const fromChat = (fields: JsonObject = {}): InferenceRequest =>
  chatClient.decodeRequest({
    model: 'm',
    messages: [
      { role: 'user', content: 'Edit it.' },
      { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'custom', custom: { name: 'apply_patch', input: patch } }] },
      { role: 'tool', tool_call_id: 'c1', content: 'Done.' },
    ],
    tools: [{ type: 'custom', custom: { name: 'apply_patch', description: 'Edits files.', format: { type: 'grammar', grammar } } }],
    ...fields,
  })

/** Every object in a body that has all of these fields, at any depth. */
function objectsWith(value: Json | undefined, ...fields: readonly string[]): readonly JsonObject[] {
  if (Array.isArray(value)) return value.flatMap(each => objectsWith(each, ...fields))
  if (!isObject(value)) return []
  const inner = Object.values(value).flatMap(each => objectsWith(each, ...fields))
  return fields.every(field => Object.hasOwn(value, field)) ? [value, ...inner] : inner
}

describe.each(['messages', 'gemini', 'bedrock', 'chat'] as const)('custom tools for %s', name => {
  const dialect = providerDialects[name]
  const sources = name === 'chat' ? [fromResponses] : [fromResponses, fromChat]

  test('are functions with one text field, as are earlier calls and results, with a warning for the grammar', () => {
    for (const ask of sources) {
      const { body, warnings } = dialect.encodeRequest(ask(), offer, {})
      const text = JSON.stringify(body)
      expect(text).not.toMatch(/"custom"|custom_tool/)
      expect(text).toContain('Done.')
      expect(text).toContain(grammar.definition)
      const inputs = [...objectsWith(body, 'input'), ...objectsWith(body, 'args'), ...objectsWith(body, 'arguments')]
      expect(JSON.stringify(inputs)).toContain('Begin Patch')
      expect(warnings.map(({ param }) => param)).toEqual(['tools[0].format'])
      expect(objectsWith(body, 'input', 'city')).toEqual([])
      expect(objectsWith(body, 'properties').some(({ properties }) => isObject(properties) && isObject(properties.input))).toBe(true)
    }
  })

  test('without a grammar give no warning', () => {
    const tools = [{ type: 'custom', name: 'apply_patch', format: { type: 'text' } }]
    const { warnings } = dialect.encodeRequest(fromResponses({ tools }), offer, {})
    expect(warnings).toEqual([])
  })

  test('are encoded in earlier calls even without a declaration', () => {
    const { body, warnings } = dialect.encodeRequest(fromResponses({ tools: undefined }), offer, {})
    expect(JSON.stringify(body)).toContain('Begin Patch')
    expect(warnings.filter(({ message }) => message.includes('_raw'))).toEqual([])
  })

  test('are the same in a token count request', () => {
    const counted = dialect.counting?.encodeRequest(fromResponses(), offer, {})
    if (counted) expect(JSON.stringify(counted.body)).toContain(grammar.definition)
  })

  test('that are forced are sent as a forced function', () => {
    const { body } = dialect.encodeRequest(fromResponses({ tool_choice: { type: 'custom', name: 'apply_patch' } }), offer, {})
    expect(JSON.stringify(body)).not.toContain('"custom"')
    expect(JSON.stringify(body)).toMatch(/(?:choice|allowedFunctionNames|toolConfig).*apply_patch/i)
  })
})

describe('custom tools between dialects that have them', () => {
  test('are converted between Chat Completions and the Responses API, with choice, calls and results', () => {
    const { body, warnings } = responsesProvider.encodeRequest(
      fromChat({ tool_choice: { type: 'custom', custom: { name: 'apply_patch' } } }),
      offer,
      {},
    )
    expect(warnings).toEqual([])
    expect(body).toMatchObject({
      input: [
        { role: 'user' },
        { type: 'custom_tool_call', call_id: 'c1', name: 'apply_patch', input: patch },
        { type: 'custom_tool_call_output', call_id: 'c1', output: 'Done.' },
      ],
      tools: [{ type: 'custom', name: 'apply_patch', description: 'Edits files.', format: { type: 'grammar', ...grammar } }],
      tool_choice: { type: 'custom', name: 'apply_patch' },
    })
  })

  test('are sent unchanged for a client of the same dialect, with unknown fields', () => {
    const call = { id: 'c1', type: 'custom', custom: { name: 'p', input: 'x', future: 1 }, vendor: 2 }
    const tool = { type: 'custom', custom: { name: 'p', format: { type: 'text' }, future: 1 } }
    const choice = { type: 'custom', custom: { name: 'p' } }
    const chat = chatProvider.encodeRequest(
      fromChat({ messages: [{ role: 'assistant', content: null, tool_calls: [call] }], tools: [tool], tool_choice: choice }),
      offer,
      {},
    )
    expect(chat.body).toMatchObject({ messages: [{ tool_calls: [call] }], tools: [tool], tool_choice: choice })
    expect(chat.mapping).toBeUndefined()
    const responses = responsesProvider.encodeRequest(fromResponses(), offer, {})
    expect(responses.body.input).toEqual((responsesBody(fromResponses()) as JsonObject).input)
  })

  test('are kept in a changed request of the Responses API', () => {
    const request = fromResponses()
    const { body } = responsesProvider.encodeRequest({ ...request, prompt: { ...request.prompt, temperature: 0.5 } }, offer, {})
    const types = (body.input as readonly JsonObject[]).map(({ type }) => type)
    expect(types).toEqual([undefined, 'custom_tool_call', 'custom_tool_call_output', undefined])
    expect(body.tools).toMatchObject([{ type: 'custom', format: { type: 'grammar' } }, { type: 'function' }])
  })
})

const responsesBody = (request: InferenceRequest): Json | undefined => responsesProvider.encodeRequest(request, offer, {}).body

describe('calls of custom tools in a response', () => {
  const { mapping = {} } = chatProvider.encodeRequest(fromResponses(), offer, {})
  const chunk = (delta: JsonObject, finish_reason: string | null = null): string =>
    JSON.stringify({ id: 'a', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })

  const stream = (written: readonly string[], name = 'apply_patch'): readonly InferenceEvent[] => {
    const decoder = chatProvider.decodeEvents(mapping)
    const frames = [
      chunk({ role: 'assistant', tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name, arguments: '' } }] }),
      ...written.map(piece => chunk({ tool_calls: [{ index: 0, function: { arguments: piece } }] })),
      chunk({}, 'tool_calls'),
      '[DONE]',
    ]
    return [...frames.flatMap(data => decoder.read([{ data }])), ...decoder.end()]
  }
  const sent = (events: readonly InferenceEvent[]): string =>
    events.flatMap(event => (event.type === 'delta' && event.delta.kind === 'arguments' ? [event.delta.text] : [])).join('')
  const finished = (events: readonly InferenceEvent[]): Item | undefined =>
    events.flatMap(event => (event.type === 'item_finished' ? [event.item] : [])).at(0)

  test('are converted from function calls, with the text as it streams', () => {
    const written = JSON.stringify({ input: patch })
    const events = stream([written.slice(0, 14), written.slice(14, 40), written.slice(40)])
    expect(plain(finished(events))).toMatchObject({ name: 'apply_patch', arguments: patch, custom: true, status: 'completed' })
    expect(sent(events)).toBe(patch)
    expect(events.filter(({ type }) => type === 'delta').length).toBeGreaterThan(1)
    expect(events.find(({ type }) => type === 'item_started')).toMatchObject({ item: { custom: true, arguments: '' } })
  })

  test('leave other function calls unchanged', () => {
    const events = stream(['{"input":', '"x"}'], 'other')
    expect(finished(events)).toMatchObject({ name: 'other', arguments: '{"input":"x"}' })
    expect(sent(events)).toBe('{"input":"x"}')
  })

  test('are the same whole and streamed', () => {
    const call = (written: string): Item | undefined =>
      chatProvider.decodeResponse(
        {
          id: 'a',
          object: 'chat.completion',
          created: 1,
          model: 'm',
          choices: [
            {
              index: 0,
              message: {
                role: 'assistant',
                tool_calls: [{ id: 'c', type: 'function', function: { name: 'apply_patch', arguments: written } }],
              },
              finish_reason: 'tool_calls',
            },
          ],
        },
        mapping,
      ).output[0]
    for (const written of [JSON.stringify({ input: patch }), '{}', patch, '{"patch":"x"}', '{"input":7}', '{"why":"w","input":"x"}'])
      expect((call(written) as FunctionCallItem).arguments).toBe((finished(stream([written])) as FunctionCallItem).arguments)
    expect(call(JSON.stringify({ input: patch }))).toMatchObject({ custom: true, arguments: patch })
  })

  test('have the arguments as text if they are not an object with the field', () => {
    for (const [written, input] of [
      [patch, patch],
      ['{"patch":"x"}', '{"patch":"x"}'],
      ['{"input":7}', '{"input":7}'],
      ['{"why":"w","input":"x"}', 'x'],
      ['{}', ''],
    ] as const) {
      const events = stream([written])
      expect((finished(events) as FunctionCallItem).arguments).toBe(input)
      expect(sent(events)).toBe(input)
    }
  })

  test('that are cut keep their text so far', () => {
    const decoder = chatProvider.decodeEvents(mapping)
    const call = { index: 0, id: 'c', type: 'function', function: { name: 'apply_patch', arguments: '{"input":"ab\\n\\u00' } }
    const events = [...decoder.read([{ data: chunk({ tool_calls: [call] }) }, { data: chunk({}, 'length') }]), ...decoder.end()]
    expect(finished(events)).toMatchObject({ arguments: 'ab\n', custom: true, status: 'incomplete' })
    expect(sent(events)).toBe('ab\n')
  })
})

describe('the text of the field', () => {
  const read = (pieces: readonly string[]): { readonly sent: string; readonly input: string } => {
    const reader = startInput()
    let sent = ''
    for (const piece of pieces) sent += readInput(reader, piece)
    const { input, unsent } = endOfInput(reader, pieces.join(''))
    return { sent: sent + unsent, input }
  }

  test('is the same however the arguments are split and escaped', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), fc.array(fc.nat(40)), fc.boolean(), (text, cuts, isAscii) => {
        const plainJson = JSON.stringify({ input: text })
        const json = isAscii
          ? plainJson.replaceAll(/[^\x20-\x7e]/g, each => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`)
          : plainJson
        const pieces: string[] = []
        let at = 0
        for (const cut of cuts) {
          pieces.push(json.slice(at, at + cut))
          at += cut
        }
        pieces.push(json.slice(at))
        expect(read(pieces)).toEqual({ sent: text, input: text })
      }),
      { numRuns: inject('isLongRun') ? 1_000 : 300 },
    )
  })

  test('streams only text that is final', () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[\\"u0-9a-f{}: n]{0,12}$/)), pieces => {
        const { sent, input } = read(['{"input":"', ...pieces])
        expect(sent).toBe(input)
      }),
      { numRuns: 1_000 },
    )
  })

  test('never ends in half a character while more may come', () => {
    const reader = startInput()
    expect(readInput(reader, '{"input":"\\ud83d')).toBe('')
    expect(readInput(reader, '\\ude00')).toBe('😀')
  })

  test('takes time linear in its length, also byte by byte', () => {
    const json = JSON.stringify({ input: 'a"\n'.repeat(100_000) })
    const before = process.cpuUsage()
    expect(read([...json]).input).toHaveLength(300_000)
    expect(inputOf(`{"input":"${'\\u'.repeat(100_000)}`).length).toBeGreaterThan(0)
    expect(process.cpuUsage(before).user).toBeLessThan(20_000_000)
  })
})
