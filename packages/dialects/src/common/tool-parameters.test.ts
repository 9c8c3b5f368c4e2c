import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { claudeQuirks } from '../../../providers/src/claude-models.ts'
import { offer } from '../../test/laws.ts'
import { bedrockProvider } from '../bedrock/provider.ts'
import { chatClient } from '../chat/client.ts'
import { messagesClient } from '../messages/client.ts'
import { messagesProvider } from '../messages/provider.ts'
import { fold } from '../protocol/fold.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { providerDialects } from '../providers.ts'
import { makeSchemaFitter } from './fit-schemas.ts'
import { endRenaming, plainPropertyNames, renameKeys, renameKeysIn, startRenaming } from './property-names.ts'
import { plainRoot } from './schema-root.ts'

const claude = claudeQuirks('claude-sonnet-4-5') ?? {}

const asking = (parameters: JsonObject, messages: readonly JsonObject[] = [{ role: 'user', content: 'Hi' }], strict = false) =>
  chatClient.decodeRequest({ model: 'm', messages, tools: [{ type: 'function', function: { name: 'find', parameters, strict } }] })

describe('the root of a tool’s parameters', () => {
  test.each<readonly [string, JsonObject, JsonObject]>([
    [
      'has the properties of all branches, and requires what all of them require',
      {
        anyOf: [
          { type: 'object', properties: { id: { type: 'string' }, deep: { type: 'boolean' } }, required: ['id', 'deep'] },
          { type: 'object', properties: { name: { type: 'string' }, deep: { type: 'boolean' } }, required: ['name', 'deep'] },
        ],
      },
      {
        type: 'object',
        properties: { id: { type: 'string' }, deep: { type: 'boolean' }, name: { type: 'string' } },
        required: ['deep'],
      },
    ],
    [
      'turns a constant per branch into one enum',
      {
        type: 'object',
        properties: { kind: { type: 'string', description: 'Which' } },
        oneOf: [
          { properties: { kind: { const: 'a' } }, required: ['kind'] },
          { properties: { kind: { const: 'b' } }, required: ['kind'] },
        ],
      },
      { type: 'object', properties: { kind: { enum: ['a', 'b'], type: 'string', description: 'Which' } }, required: ['kind'] },
    ],
    [
      'keeps different schemas of a property below it',
      { oneOf: [{ properties: { at: { type: 'string' } } }, { properties: { at: { type: 'number' } } }] },
      { type: 'object', properties: { at: { anyOf: [{ type: 'string' }, { type: 'number' }] } } },
    ],
    [
      'requires what any part of allOf requires',
      {
        allOf: [{ $ref: '#/$defs/Base' }, { required: ['b'], properties: { b: {} } }],
        $defs: { Base: { properties: { a: {} }, required: ['a'] } },
      },
      { type: 'object', properties: { b: {}, a: {} }, required: ['a', 'b'], $defs: { Base: { properties: { a: {} }, required: ['a'] } } },
    ],
    [
      'is what its reference leads to',
      { $ref: '#/$defs/Args', $defs: { Args: { type: 'object', properties: { next: { $ref: '#/$defs/Args' } } } } },
      {
        type: 'object',
        properties: { next: { $ref: '#/$defs/Args' } },
        $defs: { Args: { type: 'object', properties: { next: { $ref: '#/$defs/Args' } } } },
      },
    ],
    [
      'leaves out branches that are no objects',
      { anyOf: [{ type: 'null' }, { properties: { a: {} }, required: ['a'] }] },
      { type: 'object', properties: { a: {} }, required: ['a'] },
    ],
    ['has no type but "object"', { type: null, properties: { a: {} } }, { type: 'object', properties: { a: {} } }],
    [
      'has no `enum` and no `not`',
      { type: 'object', properties: { a: {} }, enum: [{ a: 1 }], not: { required: ['b'] } },
      { type: 'object', properties: { a: {} } },
    ],
    ['allows anything if its reference leads in a circle', { $ref: '#' }, { type: 'object' }],
  ])('%s', (_, schema, expected) => {
    expect(plainRoot(schema).schema).toEqual(expected)
  })

  test.each(['messages', 'bedrock', 'gemini', 'chat', 'responses'] as const)(
    'is an object for %s, with a warning if that changes it',
    name => {
      const request = messagesClient.decodeRequest({
        model: 'm',
        max_tokens: 9,
        messages: [{ role: 'user', content: 'Hi' }],
        tools: [
          { name: 'f', input_schema: { anyOf: [{ properties: { a: { type: 'string' } } }, { properties: { b: { type: 'string' } } }] } },
        ],
      })
      const foreign = name === 'messages' ? asking({ anyOf: [{ properties: { a: { type: 'string' } } }] }) : request
      const { body, warnings } = providerDialects[name].encodeRequest(foreign, offer, {})
      const tools = JSON.stringify(body.tools ?? body.toolConfig)
      expect(tools).toContain('"type":"object"')
      expect(tools).not.toContain('anyOf')
      expect(warnings).toMatchObject([{ code: 'unsupported_parameter', message: expect.stringContaining('`anyOf` at the root') }])
    },
  )

  test('is unchanged for a tool of the provider’s own dialect', () => {
    const input_schema = { anyOf: [{ type: 'object' }], type: 'object' }
    const messages = [{ role: 'user', content: 'Hi' }]
    const request = messagesClient.decodeRequest({ model: 'm', max_tokens: 9, messages, tools: [{ name: 'f', input_schema }] })
    expect(messagesProvider.encodeRequest(request, offer, claude).body.tools).toEqual([{ name: 'f', input_schema }])
  })

  test('is the same work for a schema that refers to one definition many times', () => {
    const big = { properties: Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`p${at}`, { type: 'string' }])) }
    const { schema } = plainRoot({ anyOf: Array.from({ length: 1_000 }, () => ({ $ref: '#/$defs/Big' })), $defs: { Big: big } })
    expect(Object.keys(isObject(schema.properties) ? schema.properties : {})).toHaveLength(1_000)
  })
})

test.each(['allOf', 'anyOf', 'oneOf'])('a root with 15,000 parts in `%s` is linear work, and a larger one is cut with a warning', union => {
  const parts = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ properties: { [`p${at}`]: { const: at }, kind: { const: at } } }))
  const before = process.cpuUsage()
  const small = plainRoot({ [union]: parts(6_000) })
  const large = plainRoot({ [union]: parts(15_000) })
  const { user, system } = process.cpuUsage(before)
  expect(user + system).toBeLessThan(20_000_000)
  expect(Object.keys(isObject(small.schema.properties) ? small.schema.properties : {})).toHaveLength(6_001)
  expect(small.changes.join()).not.toContain('largest size')
  expect(large.changes[0]).toContain('largest size')
})

test('a root is made plain once for all attempts of a request', () => {
  const fitter = makeSchemaFitter()
  const parameters = { anyOf: [{ properties: { 'a b': {} } }] }
  expect(fitter.root(parameters)).toBe(fitter.root(parameters))
  expect(fitter.withPlainNames(fitter.root(parameters).schema)).toBe(fitter.withPlainNames(fitter.root(parameters).schema))
})

const odd = {
  type: 'object',
  properties: {
    $filter: { type: 'string' },
    _filter: { type: 'string' },
    'user name': { type: 'string' },
    ['x'.repeat(70)]: {},
    plain: {},
  },
  required: ['$filter', 'plain'],
}
const args = { $filter: 'a "$filter": b', 'user name': { $filter: 1 }, plain: [{ $filter: 2 }], ['x'.repeat(70)]: null }

describe('property names that Claude models refuse', () => {
  const history = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', tool_calls: [{ id: 'c1', type: 'function', function: { name: 'find', arguments: JSON.stringify(args) } }] },
    { role: 'tool', tool_call_id: 'c1', content: 'nothing' },
  ]
  const request = asking(odd, history)

  const sentTo = (provider: typeof messagesProvider) => {
    const { body, mapping } = provider.encodeRequest(request, offer, { ...claude, anthropicFields: true })
    const text = JSON.stringify(body)
    const schema =
      [...text.matchAll(/"(?:input_schema|json)":(\{.*?"required":\[[^\]]*\]\})/g)].map(
        ([, found]) => JSON.parse(found ?? '{}') as JsonObject,
      )[0] ?? {}
    const input = JSON.parse(/"input":(\{.*?null\})/.exec(text)?.[1] ?? '{}') as JsonObject
    return { schema, input, mapping }
  }

  test.each([
    ['messages', messagesProvider],
    ['bedrock', bedrockProvider],
  ])('are renamed in the schema and in the history for %s', (_, provider) => {
    const { schema, input } = sentTo(provider)
    const names = Object.keys(schema.properties as JsonObject)
    expect(new Set(names).size).toBe(5)
    for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9_.-]{1,64}$/)
    expect(names).toContain('_filter')
    expect(schema.required).toHaveLength(2)
    expect((schema.required as readonly string[]).every(name => names.includes(name))).toBe(true)
    expect(Object.keys(input).every(name => names.includes(name))).toBe(true)
    expect(Object.values(input)).toEqual(Object.values(args))
  })

  test('have the client’s names in calls, whole and streamed', () => {
    const { input, mapping } = sentTo(messagesProvider)
    const block = { type: 'tool_use', id: 'c2', name: 'find', input }
    const whole = messagesProvider.decodeResponse(
      { type: 'message', content: [block], stop_reason: 'tool_use', usage: { input_tokens: 1, output_tokens: 1 } },
      mapping,
    )
    expect(whole.output).toMatchObject([{ name: 'find', arguments: JSON.stringify(args) }])
    const pieces = [...JSON.stringify(input)].map(partial_json => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'input_json_delta', partial_json },
    }))
    const events = [
      { type: 'message_start', message: { id: 'm', model: 'm', usage: { input_tokens: 1, output_tokens: 1 } } },
      { type: 'content_block_start', index: 0, content_block: { ...block, input: {} } },
      ...pieces,
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 2 } },
      { type: 'message_stop' },
    ]
    const decoder = messagesProvider.decodeEvents(mapping)
    const read = [...decoder.read(events.map(event => ({ event: event.type, data: JSON.stringify(event) }))), ...decoder.end()]
    expect(fold(read).output).toMatchObject([{ arguments: JSON.stringify(args) }])
    const deltas = read.flatMap(event => (event.type === 'delta' && event.delta.kind === 'arguments' ? [event.delta.text] : []))
    expect(deltas.join('')).toBe(JSON.stringify(args))
  })

  test('are sent unchanged to other models', () => {
    const { body } = messagesProvider.encodeRequest(request, offer, {})
    expect(JSON.stringify(body)).toContain('"$filter"')
  })
})

test('keys are renamed at the first level only, whatever the pieces', () => {
  const json = fc.dictionary(fc.constantFrom('$a', 'b', '"', '\\', 'é$'), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 5 })
  const names = plainPropertyNames({ properties: { $a: {}, '"': {}, '\\': {}, é$: {} } })
  const back = new Map([...names].map(([name, sent]) => [sent, name]))
  fc.assert(
    fc.property(json, fc.array(fc.nat(40)), (value, cuts) => {
      const text = JSON.stringify(value)
      const sent = renameKeys(text, names)
      const renamed = Object.entries(value as Record<string, Json>).map(([key, each]) => [names.get(key) ?? key, each] as const)
      expect(sent).toBe(JSON.stringify(Object.fromEntries(renamed)))
      const renamer = startRenaming(back)
      let written = ''
      let from = 0
      for (const length of [...cuts, sent.length]) {
        written += renameKeysIn(renamer, sent.slice(from, from + length))
        from += length
      }
      expect(written + endRenaming(renamer)).toBe(text)
    }),
  )
})

test('a renamed property never takes the name of another one', () => {
  const [, hash = ''] = [...plainPropertyNames({ properties: { 'a b': {}, a_b: {} } })][0] ?? []
  const properties = { 'a b': {}, a_b: {}, [hash]: {} }
  const names = plainPropertyNames({ properties })
  expect(new Set(Object.keys(properties).map(name => names.get(name) ?? name)).size).toBe(3)
})
