import { expect, test } from 'vitest'
import { bedrockProvider } from '../bedrock/provider.ts'
import { schemaRules as geminiRules } from '../gemini/encode-tools.ts'
import { geminiProvider } from '../gemini/provider.ts'
import { messagesProvider } from '../messages/provider.ts'
import type { Offer } from '../protocol/model.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { makeSchemaCache, makeSchemaFitter, schemaLimits } from './fit-schemas.ts'
import { fitSchema } from './schema.ts'
import { strictSchemaRules } from './schema-rules.ts'

const targets = [strictSchemaRules, geminiRules]

const definitions = (count: number, each: (at: number) => JsonObject): JsonObject => ({
  type: 'object',
  properties: { first: { $ref: '#/$defs/d0' } },
  $defs: Object.fromEntries(Array.from({ length: count }, (_, at) => [`d${at}`, each(at)])),
})
const chain = (count: number): JsonObject =>
  definitions(count, at => ({ type: 'object', properties: { next: { $ref: `#/$defs/d${at + 1}` } } }))
const ring = (count: number): JsonObject => definitions(count, at => ({ $ref: `#/$defs/d${(at + 1) % count}` }))
/** Definitions that all refer to each other. */
const clique = (count: number, beside: JsonObject = {}): JsonObject =>
  definitions(count, () => ({
    type: 'object',
    ...beside,
    properties: Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, { $ref: `#/$defs/d${at}` }])),
  }))

const cpuMs = (work: () => unknown): number => {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

const placesOf = (schema: Json | undefined): number => {
  if (Array.isArray(schema)) return (schema as readonly Json[]).reduce<number>((sum, each) => sum + placesOf(each), 0)
  return isObject(schema) ? Object.values(schema).reduce<number>((sum, each) => sum + placesOf(each), 1) : 0
}

test.each(targets)('a chain of 16,000 definitions is read once, for $name', target => {
  const schema = chain(16_000)
  // Reading the schema once per definition would take minutes.
  expect(cpuMs(() => fitSchema(schema, target))).toBeLessThan(20_000)
})

test('a ring of 20,000 definitions ends, and is reported as recursive', () => {
  const { changes } = fitSchema(ring(20_000), geminiRules)
  expect(changes.length).toBeGreaterThan(0)
})

test('loops are found wherever they are entered, and nothing else counts as one', () => {
  const to = (...names: readonly string[]): JsonObject => ({ anyOf: names.map(name => ({ $ref: `#/$defs/${name}` })) })
  const schema = {
    ...to('entry'),
    $defs: {
      entry: to('a', 'leaf'),
      a: to('b', 'leaf'),
      b: to('c'),
      c: to('a'),
      self: to('self'),
      leaf: { type: 'string' },
      end: to('leaf'),
    },
  }
  const { $defs } = fitSchema(schema, geminiRules).schema
  expect(Object.keys($defs as JsonObject)).toEqual(['entry', 'leaf', 'end'])
})

const offer: Offer = { provider: 'p', model: 'm', api: 'gemini' } as unknown as Offer
const requestWith = (schemas: readonly JsonObject[], strict = true): InferenceRequest => ({
  prompt: {
    input: [{ type: 'message', role: 'user', content: [{ type: 'text', text: 'hi' }] }],
    tools: schemas.map((parameters, at) => ({ type: 'function', name: `t${at}`, parameters, strict })),
  },
  routing: { models: ['m'], allow_fallbacks: true },
  delivery: 'whole',
})

test.each([geminiProvider, messagesProvider, bedrockProvider])('all tools of a request share one budget, for $name', dialect => {
  const { body } = dialect.encodeRequest(requestWith(Array.from({ length: 40 }, () => clique(12))), offer, {})
  // Each schema alone may reach 20,000 nodes.
  expect(placesOf(body)).toBeLessThan(schemaLimits.nodes * 2)
})

test('a schema after the budget is used up still has its type', () => {
  const fitter = makeSchemaFitter()
  for (let at = 0; at < 5; at += 1) fitter.fit(clique(12), geminiRules)
  const { schema, changes } = fitter.fit({ type: 'object', properties: { a: { type: 'string' } } }, strictSchemaRules)
  expect(schema).toEqual({ type: 'object', additionalProperties: false })
  expect(changes).toEqual(['what stands at # cannot be said and allows anything'])
})

test('a long text in a definition is not copied more often than the character budget allows', () => {
  const fitter = makeSchemaFitter()
  const beside = { description: 'x'.repeat(100_000), pattern: 'y'.repeat(100_000), enum: ['z'.repeat(100_000)] }
  for (const target of targets)
    expect(JSON.stringify(fitter.fit(clique(12, beside), target).schema).length).toBeLessThan(schemaLimits.characters * 2.5)
})

test('a definition that is used by many schemas is counted each time', () => {
  const wide = { type: 'object', properties: Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`w${at}`, true])) }
  const schema = {
    type: 'object',
    properties: Object.fromEntries(
      Array.from({ length: 500 }, (_, at) => [`p${at}`, { allOf: Array(100).fill({ $ref: '#/$defs/wide' }) }]),
    ),
    $defs: { wide },
  }
  expect(cpuMs(() => fitSchema(schema, geminiRules))).toBeLessThan(20_000)
})

test('a tool is fitted once for all attempts of a request, and attempts share one budget', () => {
  const fitter = makeSchemaFitter()
  const parameters = clique(8)
  const given = (): JsonObject => ({ ...parameters })
  expect(fitter.fit(given(), strictSchemaRules, parameters)).toBe(fitter.fit(given(), strictSchemaRules, parameters))
})

test('the same schema in a later request is not fitted again, and uses the same share of its budget', () => {
  const cache = makeSchemaCache()
  const first = makeSchemaFitter(cache).fit(clique(8), geminiRules)
  const later = makeSchemaFitter(cache)
  expect(later.fit(clique(8), geminiRules).schema).toBe(first.schema)
  for (let at = 0; at < 100; at += 1) later.fit(clique(8), geminiRules)
  expect(later.fit(clique(8), geminiRules).schema).not.toEqual(first.schema)
  expect(makeSchemaFitter(cache).fit(clique(8), geminiRules).schema).toBe(first.schema)
})

test('a dialect never gets a schema that was fitted for another', () => {
  const cache = makeSchemaCache()
  const schema = { type: 'integer', minimum: 3 }
  expect(makeSchemaFitter(cache).fit(schema, geminiRules).schema).toEqual(schema)
  expect(makeSchemaFitter(cache).fit(schema, strictSchemaRules).schema).toEqual({ type: 'integer', description: 'minimum: 3' })
})

test('the cache keeps the most recently used schemas, within its limit', () => {
  const cache = makeSchemaCache()
  const fit = { schema: {}, changes: [], cost: { nodes: 1, characters: 0 } }
  cache.set('kept', fit)
  for (let at = 0; at < 5_000; at += 1) {
    cache.set(`k${at}`, fit)
    cache.get('kept')
  }
  expect(cache.get('kept')).toBe(fit)
  expect(Array.from({ length: 5_000 }, (_, at) => cache.get(`k${at}`)).filter(each => each !== undefined).length).toBeLessThan(1_000)
  cache.set('large', { ...fit, cost: { nodes: 1, characters: 9_000_000 } })
  expect([cache.get('large'), cache.get('kept')]).toEqual([undefined, undefined])
})
