import { readFileSync } from 'node:fs'
import type { JsonObject } from '@signalbox/dialects/protocol'
import { bodyCaps } from '@signalbox/dialects/protocol'
import { checkBody } from '@signalbox/gateway/in-process'
import { describe, expect, test, vi } from 'vitest'
import { parseBody } from './body.ts'

interface Refusal {
  readonly code: string
  readonly param: string | undefined
  readonly message: string
}

const refusalOf = (work: () => unknown): Refusal | undefined => {
  try {
    work()
    return undefined
  } catch (error) {
    const { code, facts, message } = error as { code: string; message: string; facts: { param?: string } }
    return { code, param: facts.param, message }
  }
}
const many = <T>(count: number, each: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => each(at))
const named = (count: number, value: unknown = 1): object => Object.fromEntries(many(count, at => [`k${at}`, value]))
/** This number of fields, spread over objects within their own limit. */
const spread = (count: number): object => ({ a: many(count / 5_000, () => named(5_000)) })

/** Bodies with exactly this number of the limited values, and the field with the last of them. */
const shapes: Readonly<
  Record<Exclude<keyof typeof bodyCaps, 'escapes' | 'depth' | 'depthInside' | 'remoteParts'>, readonly [(count: number) => object, string]>
> = {
  fields: [count => ({ extensions: count === bodyCaps.fields ? { a: many(9, () => named(5_000)) } : spread(count + 4_999) }), 'extensions'],
  values: [count => ({ extensions: { a: many(10, () => many(count === bodyCaps.values ? 9_900 : 10_001, () => 1)) } }), 'extensions'],
  fieldName: [count => ({ extensions: { ['k'.repeat(count)]: 1 } }), 'extensions'],
  identifier: [count => ({ tools: [{ function: { name: 'n'.repeat(count) } }] }), 'tools[0].function.name'],
  fieldsOfObject: [count => ({ extensions: { deep: named(count) } }), 'extensions.deep'],
  entries: [count => ({ stop: many(count, () => 1) }), 'stop'],
  messages: [count => ({ messages: many(count, () => 1) }), 'messages'],
  parts: [count => ({ input: [{ content: many(count, () => 1) }] }), 'input[0].content'],
  tools: [count => ({ tools: many(count, () => 1) }), 'tools'],
  metadata: [count => ({ metadata: named(count) }), 'metadata'],
  schemaObjects: [
    count => ({
      tools: [{ anyOf: many(count / 2 - 1, () => ({})) }, { anyOf: many(count / 2 - 1, () => ({})) }, ...(count % 2 ? [{}] : [])],
    }),
    'tools',
  ],
  definitions: [
    count => ({ text: { format: { schema: { $defs: named(count - 1), properties: { x: { definitions: { a: 1 } } } } } } }),
    'text',
  ],
}

describe.each(Object.entries(shapes))('%s of a body', (name, [shape, param]) => {
  const cap = bodyCaps[name as keyof typeof shapes]
  const check = { keys: true, texts: true }

  test('are accepted up to the limit', () => {
    expect(refusalOf(() => parseBody(JSON.stringify(shape(cap))))).toBeUndefined()
    expect(refusalOf(() => checkBody(shape(cap) as JsonObject, check))).toBeUndefined()
  })

  test('are refused beyond it, naming the field and the limit, as text and as an object', () => {
    for (const refusal of [
      refusalOf(() => parseBody(JSON.stringify(shape(cap + 1)))),
      refusalOf(() => checkBody(shape(cap + 1) as JsonObject, check)),
    ]) {
      expect(refusal).toMatchObject({ code: 'invalid_request', param })
      expect(refusal?.message).toContain(`${cap}`)
      expect(refusal?.message).toContain(param)
    }
  })
})

describe('the text of a body', () => {
  /** The refusal of a text that must not be parsed before it. */
  function refusalWithoutParsing(text: string): Refusal | undefined {
    const parse = vi.spyOn(JSON, 'parse')
    const refusal = refusalOf(() => parseBody(text))
    expect(parse).not.toHaveBeenCalled()
    parse.mockRestore()
    return refusal
  }

  test.each<[string, string]>([
    ['ten million empty arrays', `{"extensions":{"a":[${'[],'.repeat(1e7)}[]]}}`],
    ['a million fields', `{"extensions":{${many(1e6, at => `"${at}":1`).join()}}}`],
    ['a million messages', `{"extensions":[${'{"role":"user","content":"x"},'.repeat(1e6)}{}]}`],
    ['blanks between a million entries', `{"extensions":[${'1 ,   '.repeat(1e6)}1]}`],
  ])('with %s is refused before it is parsed', (_what, text) => {
    expect(refusalWithoutParsing(text)).toMatchObject({ code: 'invalid_request', param: 'extensions' })
  })

  test('with 1,900 names of 16,500 characters is refused before it is parsed, but values of that length are accepted', () => {
    const texts = many(1_900, at => `"${'k'.repeat(16_494)}${at + 100_000}"`)
    const body = `{"extensions":{${texts.map(text => `${text} :1`).join()}}}`
    // Parsing would take seconds, because the engine compares each name with all others.
    expect(refusalWithoutParsing(body)).toMatchObject({ code: 'invalid_request', message: expect.stringContaining('4096') })
    expect(refusalOf(() => parseBody(`{"extensions":{"a":[${texts.join()}]}}`))).toBeUndefined()
  })

  test('may contain any number of commas, brackets and quotes in its strings', () => {
    const said = '"a",[{"b":1}],\\'.repeat(50_000)
    const body = { model: 'm', input: [{ role: 'user', content: said }], stop: ['\\', '\\"', '"'] }
    expect(parseBody(JSON.stringify(body))).toEqual(body)
  })

  test('is counted correctly after a string that ends in backslashes', () => {
    for (const end of ['\\\\', '\\\\\\\\', '\\"', '\\\\\\"'])
      expect(refusalOf(() => parseBody(`{"a":"${end}","extensions":[${'[],'.repeat(4e5)}[]]}`))).toMatchObject({ param: 'extensions' })
  })

  test('with more escapes than any real text has is refused', () => {
    expect(refusalOf(() => parseBody(`{"input":"${'\\n'.repeat(bodyCaps.escapes)}"}`))).toBeUndefined()
    expect(refusalOf(() => parseBody(`{"input":"${'\\n'.repeat(bodyCaps.escapes + 1)}"}`))?.message).toContain(`${bodyCaps.escapes}`)
  })

  test('of an agent with 300 tools and 2,000 messages is accepted', () => {
    const properties = Object.fromEntries(
      many(12, at => [`property_${at}`, { type: 'string', description: 'What it is, and why', minLength: 1 }]),
    )
    const body = {
      model: 'm',
      max_tokens: 1,
      tools: many(300, at => ({
        name: `tool_${at}`,
        description: 'It does, well.',
        input_schema: { type: 'object', properties, required: ['property_0'] },
      })),
      messages: many(2_000, at => ({
        role: at % 2 ? 'assistant' : 'user',
        content: [
          { type: 'text', text: 'Said, at length: "so", and so on.\n'.repeat(20), cache_control: { type: 'ephemeral' } },
          at % 2
            ? { type: 'tool_use', id: `t${at}`, name: 'tool_0', input: { path: '/a', text: 'b', line: 3 } }
            : { type: 'tool_result', tool_use_id: `t${at - 1}`, content: [{ type: 'text', text: '{"a":[1,2,3]}'.repeat(50) }] },
        ],
      })),
    }
    expect(parseBody(JSON.stringify(body))).toEqual(body)
  })
})

test('the table in the documentation states the limits', () => {
  const page = readFileSync(new URL('../../../docs/security.md', import.meta.url), 'utf8')
  const rows = page.matchAll(/^\| `(\w+)`.*\| ([\d,]+) \|$/gm)
  expect(Object.fromEntries([...rows].map(([, name, cap = '']) => [name, Number(cap.replaceAll(',', ''))]))).toEqual(bodyCaps)
})
