import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createDocumentNames } from '../bedrock/items.ts'
import { messagesClient } from '../messages/client.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { providerDialects } from '../providers.ts'
import { responsesClient } from '../responses/client.ts'
import { fittedNames, TextMap } from './fitted-names.ts'
import { plainPropertyNames } from './property-names.ts'
import { plainName } from './tool-names.ts'

// A client can choose the name that another one would be sent as, hash included.

const fit = (name: string, attempt: number): string => plainName(name, attempt, 40)
const longName = fc.string({ minLength: 1, maxLength: 60, unit: fc.constantFrom('a', '_', ' ', 'é', '-') })

/** Names, with what some of them are sent as, and what is sent then. */
const crowded = (sentIn: (names: readonly string[]) => readonly string[], one = longName): fc.Arbitrary<readonly string[]> =>
  fc.array(one, { minLength: 1, maxLength: 5 }).map(names => {
    const once = [...new Set([...names, ...sentIn(names)])]
    return [...new Set([...once, ...sentIn(once)])]
  })

describe('names that are fitted', () => {
  const sentIn = (names: readonly string[]): readonly string[] => names.map(fittedNames(names, fit).sent)

  test('differ, are accepted, and are the same each time', () => {
    fc.assert(
      fc.property(crowded(sentIn), names => {
        const { sent, changed } = fittedNames(names, fit)
        expect(new Set(names.map(sent)).size).toBe(names.length)
        for (const name of names) {
          expect(fit(sent(name), 0)).toBe(sent(name))
          expect(changed.get(sent(name)) ?? sent(name)).toBe(name)
          if (fit(name, 0) === name) expect(sent(name)).toBe(name)
        }
        expect(sentIn([...names, ...names])).toEqual([...sentIn(names), ...sentIn(names)])
      }),
    )
  })

  test('stay the same if another name joins that none of them is sent as', () => {
    fc.assert(
      fc.property(crowded(sentIn), longName, (names, more) => {
        const before = sentIn(names)
        fc.pre(!before.includes(more))
        expect(sentIn([...names, more]).slice(0, names.length)).toEqual(before)
      }),
    )
  })

  test('take few attempts, however many would be sent as the same', () => {
    let attempts = 0
    const same = (name: string, attempt: number): string => {
      attempts += 1
      return name.startsWith('!') ? `same${attempt === 0 ? '' : attempt}` : name
    }
    const names = Array.from({ length: 2_000 }, (_, at) => [`!${at}`, `same${at}`]).flat()
    expect(new Set(names.map(fittedNames(names, same).sent)).size).toBe(names.length)
    expect(attempts).toBeLessThan(10 * names.length)
  })
})

test('texts of any length are told apart', () => {
  const texts = ['', 'a', 'x'.repeat(16_000), 'x'.repeat(16_001), `${'x'.repeat(16_000)}y`, `${'x'.repeat(32_000)}y`, '0 1', '0']
  const map = new TextMap<number>()
  for (const [at, text] of texts.entries()) map.set(text, at)
  expect(texts.map(text => map.get(text))).toEqual(texts.map((_, at) => at))
})

test('properties keep their names apart', () => {
  const sentIn = (names: readonly string[]): readonly string[] => {
    const sent = plainPropertyNames({ properties: Object.fromEntries(names.map(name => [name, {}])) })
    return names.map(name => sent.get(name) ?? name)
  }
  fc.assert(
    fc.property(crowded(sentIn), names => {
      expect(new Set(sentIn(names)).size).toBe(names.length)
    }),
  )
})

test('documents keep their names apart, and the same files have the same names in every turn', () => {
  const sentIn = (names: readonly string[]): readonly string[] => {
    const documents = createDocumentNames(true)
    return names.map(name => documents.unique(name))
  }
  const filename = fc.constantFrom('a.pdf', 'a', 'a 2', 'a 2.pdf', 'a 3', 'b', '')
  fc.assert(
    fc.property(fc.array(filename, { maxLength: 12 }), filename, (names, more) => {
      const sent = sentIn(names)
      expect(new Set(sent).size).toBe(names.length)
      expect(sentIn([...names, more]).slice(0, names.length)).toEqual(sent)
    }),
  )
})

type Request = Parameters<(typeof providerDialects)[string]['encodeRequest']>[0]

const withTools = (names: readonly string[]): Request =>
  messagesClient.decodeRequest({
    model: 'm',
    max_tokens: 9,
    tools: names.map(name => ({ name, input_schema: { type: 'object' } })),
    messages: [{ role: 'user', content: 'x' }],
  })

const withGroups = (groups: readonly string[]): Request =>
  responsesClient.decodeRequest({
    model: 'm',
    input: 'x',
    tools: groups.map(name => ({ type: 'namespace', name, description: 'd', tools: [{ type: 'function', name: 'f', parameters: {} }] })),
  })

const withCalls = (ids: readonly string[]): Request =>
  responsesClient.decodeRequest({
    model: 'm',
    input: ids.flatMap(call_id => [
      { type: 'function_call', call_id, name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id, output: 'x' },
    ]),
  })

const passedThrough = (ids: readonly string[]): Request =>
  messagesClient.decodeRequest({
    model: 'm',
    max_tokens: 9,
    messages: ids.flatMap(id => [
      { role: 'assistant', content: [{ type: 'tool_use', id, name: 'f', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'x' }] },
    ]),
  })

const idFields: ReadonlySet<string> = new Set(['call_id', 'tool_call_id', 'tool_use_id', 'toolUseId'])

function textsAt(value: Json | undefined, is: (field: string, holder: JsonObject) => boolean): readonly string[] {
  if (Array.isArray(value)) return (value as readonly Json[]).flatMap(each => textsAt(each, is))
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([field, inner]) => (typeof inner === 'string' && is(field, value) ? [inner] : textsAt(inner, is)))
}

/** Call ids in order: each call, then its result. */
const idsIn = (body: JsonObject): readonly string[] =>
  textsAt(body, (field, holder) => idFields.has(field) || (field === 'id' && (holder.type === 'tool_use' || holder.type === 'function')))

const offer = { provider: 'p', model: 'm' }
const anyName = fc.string({ minLength: 1, maxLength: 140, unit: fc.constantFrom('a', '_', ' ', 'é', '/', '9') })

describe.each(Object.entries(providerDialects))('%s', (dialect, { encodeRequest }) => {
  const encode = (request: Request, quirks = {}) => encodeRequest(request, { ...offer, api: dialect }, quirks)
  const toolsSent = (names: readonly string[]): readonly string[] => {
    const { tools, toolConfig } = encode(withTools(names)).body
    return textsAt((tools ?? toolConfig) as Json, field => field === 'name')
  }

  test('sends each tool under a name of its own, which is restored in answers', () => {
    fc.assert(
      fc.property(crowded(toolsSent, anyName), names => {
        const sent = toolsSent(names)
        const { toolNames } = encode(withTools(names)).mapping ?? {}
        expect(new Set(sent).size).toBe(names.length)
        expect(sent.map(name => toolNames?.get(name) ?? name)).toEqual(names)
      }),
      { numRuns: 50 },
    )
  })

  if (dialect !== 'responses')
    test('sends each tool of a group under a name of its own, which is restored in answers', () => {
      const long = 'g'.repeat(70)
      const [shortened = ''] = [...(encode(withGroups([long])).mapping?.groupedTools?.keys() ?? [])]
      const groups = [long, shortened.slice(0, -'__f'.length), 'g', 'g__', 'functions']
      const { mapping, body } = encode(withGroups(groups))
      const sent = textsAt((body.tools ?? body.toolConfig) as Json, field => field === 'name')
      const known = sent.map(name => mapping?.groupedTools?.get(mapping.toolNames?.get(name) ?? name))
      expect(known).toEqual(groups.map(namespace => ({ namespace, name: 'f' })))
    })

  if (dialect !== 'gemini')
    test.each([
      ['of a client of another dialect', dialect === 'responses' ? passedThrough : withCalls, {}],
      ['of its own clients', dialect === 'messages' ? passedThrough : withCalls, {}],
      ['of nine characters', withCalls, { call_id_length: 9 }],
    ])('sends call ids %s one to one, and each result with the id of its call', (_, request, quirks) => {
      const sentIn = (ids: readonly string[]): readonly string[] => idsIn(encode(request(ids), quirks).body)
      fc.assert(
        fc.property(crowded(sentIn, anyName), ids => {
          const sent = sentIn(ids)
          const calls = ids.map((_, at) => sent[2 * at])
          expect(ids.map((_, at) => sent[2 * at + 1])).toEqual(calls)
          expect(new Set(calls).size).toBe(ids.length)
        }),
        { numRuns: 50 },
      )
    })
})
