import type { JsonObject, Offer, RoutingOptions } from '@signalbox/dialects/protocol'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { asking, candidateOf, filtered, questionOf } from '../../test/routing/routing-fixture.ts'
import { exclusionRules, isExcludedBy } from './exclusion-rules.ts'
import type { RoutingQuery } from './needs.ts'

/** Each field has one of these values, or is absent. */
const some = <T extends object>(fields: { readonly [Field in keyof T]-?: readonly T[Field][] }): fc.Arbitrary<T> =>
  fc.record(Object.fromEntries(Object.entries<readonly unknown[]>(fields).map(([field, values]) => [field, fc.constantFrom(...values)])), {
    requiredKeys: [],
  }) as fc.Arbitrary<unknown> as fc.Arbitrary<T>

const offers = some<Partial<Pick<Offer, 'provider' | 'api' | 'delivery' | 'abilities' | 'contextWindow' | 'dataPolicy' | 'quirks'>>>({
  provider: ['p', 'q'],
  api: ['chat', 'responses', 'messages'],
  delivery: ['both', 'stream_only', 'whole_only'],
  abilities: [['tools'], ['tools', 'vision', 'structured_output'], []],
  contextWindow: [100, 10_000],
  dataPolicy: ['zdr', 'no_training', 'may_train'],
  quirks: [{ refuses: ['tool_choice_required'] }, { files: false, audio: false }, { inlineMediaOnly: true }],
})
const constraints = some<Partial<Pick<RoutingOptions, 'only' | 'ignore' | 'data_policy' | 'max_price'>>>({
  only: [['p'], ['p', 'q'], []],
  ignore: [['p'], ['q'], []],
  data_policy: ['any', 'no_training', 'zdr'],
  max_price: [{ input: 0.5 }, { input: 5, output: 5 }],
})
const image = { role: 'user', content: [{ type: 'input_image', image_url: 'https://a.example/1.png' }] }
const bodies = some<JsonObject>({
  stream: [true, false],
  tools: [[{ type: 'function', name: 'f' }]],
  tool_choice: ['required'],
  input: ['Hi', [image], [{ type: 'web_search_call', id: 'ws_1', status: 'completed' }]],
  text: [{ format: { type: 'json_object' } }],
})
const situations = fc.record({
  pool: fc.array(
    offers.map(offer => candidateOf(offer)),
    { minLength: 1, maxLength: 6 },
  ),
  body: bodies,
  routing: constraints,
  inputTokens: fc.constantFrom(1, 300, 50_000),
})

function question(body: JsonObject, routing: Partial<RoutingOptions>, inputTokens: number): RoutingQuery {
  const request = asking(body)
  return questionOf(request, { inputTokens, routing: { ...request.routing, ...routing } })
}

test('every candidate is either eligible or excluded once, with a reason and a known code', () => {
  fc.assert(
    fc.property(situations, ({ pool, body, routing, inputTokens }) => {
      const { eligible, excluded } = filtered(pool, question(body, routing, inputTokens))
      expect(eligible.length + excluded.length).toBe(pool.length)
      expect(eligible).toEqual(pool.filter(candidate => eligible.includes(candidate)))
      for (const { reason, code } of excluded) {
        expect(reason.length).toBeGreaterThan(5)
        expect(exclusionRules.map(rule => rule.code)).toContain(code)
      }
    }),
  )
})

test('adding a constraint never makes a candidate eligible', () => {
  fc.assert(
    fc.property(situations, constraints, ({ pool, body, routing, inputTokens }, more) => {
      const before = filtered(pool, question(body, routing, inputTokens)).eligible
      // A field set in both takes the first value, because changing a constraint may make candidates eligible.
      const after = filtered(pool, question(body, { ...more, ...routing }, inputTokens)).eligible
      expect(after.every(candidate => before.includes(candidate))).toBe(true)
    }),
  )
})

test('the reason is that of the first rule that applies', () => {
  fc.assert(
    fc.property(situations, ({ pool, body, routing, inputTokens }) => {
      const query = question(body, routing, inputTokens)
      for (const candidate of pool) {
        const first = exclusionRules.find(rule => (rule.need & query.bits) !== 0 && isExcludedBy(rule, candidate, query))
        const [actual] = filtered([candidate], query).excluded
        const param = first?.param instanceof Function ? first.param(candidate, query) : first?.param
        expect(actual && { code: actual.code, param: actual.param }).toEqual(first && { code: first.code, param })
      }
    }),
  )
})
