import { type Api, createApi } from '@signalbox/api'
import { simulated } from '@signalbox/core/providers'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { fakeClock } from '../src/fake-clock.ts'
import { testGateway } from '../src/gateway.ts'

let api: Api
let secret: string

beforeAll(async () => {
  const clock = fakeClock()
  const instant = { ...clock, setTimeout: (run: () => void, ms: number) => (ms < 1_000 ? setTimeout(run, 0) : clock.setTimeout(run, ms)) }
  const house = await testGateway({
    providers: [simulated({ id: 'sim', firstWordMs: 0, wordMs: 0, clock: instant })],
    limits: { inferenceRpm: 1_000_000, concurrentRequests: 1_000 },
    models: [{ id: 'm', offers: [{ provider: 'sim', provider_model_id: 'echo', dialect: 'chat', price: { input: 1, output: 1 } }] }],
  })
  secret = house.secret
  api = createApi(house.gateway)
})

interface Told {
  readonly status: number
  readonly error?: { readonly message: string; readonly type: string; readonly param: string | null; readonly code: string }
  readonly text: string
}

async function post(text: string, headers: Readonly<Record<string, string>> = {}): Promise<Told> {
  const all: Readonly<Record<string, string>> = { authorization: `Bearer ${secret}`, 'content-type': 'application/json', ...headers }
  const reply = await api({
    method: 'POST',
    path: '/v1/responses',
    query: '',
    header: name => all[name],
    text: async limit => (Buffer.byteLength(text) > limit ? { ok: false, why: 'too_large' } : { ok: true, text }),
    signal: new AbortController().signal,
  })
  let body = ''
  if (typeof reply.body === 'string') body = reply.body
  else for (let step = await reply.body.next(); !step.done; step = await reply.body.next()) body += step.value
  return { status: reply.status, text: body, ...(reply.status === 200 ? {} : { error: JSON.parse(body).error }) }
}

const valid = { model: 'm', input: 'hi' }
const send = (change: object): Promise<Told> => post(JSON.stringify({ ...valid, ...change }))

const message = (content: unknown): object => ({ input: [{ role: 'user', content }] })

describe('what is wrong is named', () => {
  test.each<[string, string, string, string | null]>([
    ['no body', '', 'invalid_request', null],
    ['no JSON', '{"model":', 'invalid_request', null],
    ['an array', '[]', 'invalid_request', null],
    ['null', 'null', 'invalid_request', null],
    ['neither model nor pool', '{"input":"x"}', 'missing_required_parameter', 'model'],
    ['both model and pool', '{"model":"m","input":"x","gateway":{"models":["m"]}}', 'invalid_parameter_value', 'model'],
    ['an empty pool', '{"input":"x","gateway":{"models":[]}}', 'invalid_parameter_value', 'gateway.models'],
    ['no input', '{"model":"m"}', 'missing_required_parameter', 'input'],
    ['a prototype key', '{"model":"m","input":"x","metadata":{"__proto__":"x"}}', 'invalid_request', 'metadata.__proto__'],
    ['half a surrogate pair', '{"model":"m","input":"\\ud800"}', 'invalid_request', 'input'],
    ['300 levels', `{"model":"m","input":"x","extensions":${'['.repeat(300)}${']'.repeat(300)}}`, 'invalid_request', 'extensions'],
    ['a number beyond all numbers', '{"model":"m","input":"x","temperature":1e999}', 'invalid_parameter_value', 'temperature'],
  ])('%s', async (...[, text, code, param]) => {
    const { status, error } = await post(text)
    expect({ status, code: error?.code }).toEqual({ status: 400, code })
    if (param === null) expect(error?.param).toBeNull()
    else expect(error?.param?.startsWith(param)).toBe(true)
    expect(error?.message.length).toBeGreaterThan(10)
  })

  test.each<[object, string, string]>([
    [{ store: true }, 'invalid_parameter_value', 'store'],
    [{ previous_response_id: 'resp_1' }, 'unknown_parameter', 'previous_response_id'],
    [{ conversation: 'c' }, 'unknown_parameter', 'conversation'],
    [{ background: true }, 'unknown_parameter', 'background'],
    [{ prompt: { id: 'p' } }, 'unknown_parameter', 'prompt'],
    [{ gateway: { nonsense: 1 } }, 'unknown_field', 'gateway.nonsense'],
    [{ gateway: { routing: { nonsense: 1 } } }, 'unknown_field', 'gateway.routing.nonsense'],
    [{ gateway: { routing: { tier: 'slow' } } }, 'invalid_parameter_value', 'gateway.routing.tier'],
    [{ gateway: { routing: { timeout_ms: 0 } } }, 'invalid_parameter_value', 'gateway.routing.timeout_ms'],
    [{ gateway: { routing: { deadline_ms: 86_400_001 } } }, 'invalid_parameter_value', 'gateway.routing.deadline_ms'],
    [{ gateway: { routing: { deadline_ms: Number.MAX_SAFE_INTEGER } } }, 'invalid_parameter_value', 'gateway.routing.deadline_ms'],
    [{ gateway: { routing: { only: ['nobody'] } } }, 'invalid_parameter_value', 'gateway.routing.only[0]'],
    [{ gateway: { routing: { strategy: 'best' } } }, 'invalid_parameter_value', 'gateway.routing.strategy'],
    [{ temperature: 2.0001 }, 'invalid_parameter_value', 'temperature'],
    [{ temperature: -0.0001 }, 'invalid_parameter_value', 'temperature'],
    [{ top_p: 1.0001 }, 'invalid_parameter_value', 'top_p'],
    [{ top_p: -0.1 }, 'invalid_parameter_value', 'top_p'],
    [{ top_logprobs: 21 }, 'invalid_parameter_value', 'top_logprobs'],
    [{ top_logprobs: -1 }, 'invalid_parameter_value', 'top_logprobs'],
    [{ top_logprobs: 1.5 }, 'invalid_parameter_value', 'top_logprobs'],
    [{ max_tool_calls: 0 }, 'invalid_parameter_value', 'max_tool_calls'],
    [{ max_output_tokens: 'many' }, 'invalid_parameter_value', 'max_output_tokens'],
    [{ tool_choice: 'perhaps' }, 'invalid_parameter_value', 'tool_choice'],
    [{ tool_choice: { type: 'function' } }, 'missing_required_parameter', 'tool_choice.name'],
    [{ tools: {} }, 'invalid_parameter_value', 'tools'],
    [{ tools: [{ type: 'function' }] }, 'missing_required_parameter', 'tools[0].name'],
    [{ reasoning: { effort: 'enormous' } }, 'invalid_parameter_value', 'reasoning.effort'],
    [{ metadata: { a: 1 } }, 'invalid_parameter_value', 'metadata.a'],
    [{ include: 'all' }, 'invalid_parameter_value', 'include'],
    [{ stream: 'yes' }, 'invalid_parameter_value', 'stream'],
    [{ input: 7 }, 'invalid_parameter_value', 'input'],
    [{ input: [7] }, 'invalid_parameter_value', 'input[0]'],
    [{ input: [{ role: 'robot', content: 'x' }] }, 'invalid_parameter_value', 'input[0].role'],
    [{ input: [{ role: 'user' }] }, 'missing_required_parameter', 'input[0].content'],
    [{ input: [{ type: 'function_call', call_id: 'c', name: 'f' }] }, 'missing_required_parameter', 'input[0].arguments'],
    [{ input: [{ type: 'function_call_output', output: 'x' }] }, 'missing_required_parameter', 'input[0].call_id'],
    [message([{ type: 'input_text' }]), 'missing_required_parameter', 'input[0].content[0].text'],
    [{ input: [{ type: 'item_reference', id: 'msg_1' }] }, 'invalid_parameter_value', 'input[0]'],
    [{ input: [{ type: 'computer_call', call_id: 'c' }] }, 'input_requires_responses_endpoint', 'input'],
    [{ model: 'mm' }, 'model_not_found', 'model'],
  ])('%j: %s at %s', async (change, code, param) => {
    const told = await send(change)
    expect({ code: told.error?.code, param: told.error?.param }).toEqual({ code, param })
    expect(told.status).toBe(code === 'model_not_found' ? 404 : 400)
  })

  test.each<[object]>([
    [{ temperature: 0 }],
    [{ temperature: 2 }],
    [{ top_p: 0 }],
    [{ top_p: 1 }],
    [{ top_logprobs: 0 }],
    [{ top_logprobs: 20 }],
    [{ max_tool_calls: 1 }],
    [{ store: false }],
    [
      {
        store: null,
        previous_response_id: null,
        conversation: null,
        background: false,
        prompt: null,
        metadata: null,
        tools: null,
        text: null,
      },
    ],
    [{ tools: [{ type: 'web_search' }, { type: 'some_tool_of_tomorrow', anything: [1] }] }],
    [{ client_metadata: { of: 'its own' } }],
    [{ reasoning: { effort: 'off', generate_summary: 'auto' } }],
    [message([{ type: 'input_text', text: 'U+2028 \u2028 and \u0000 and </script>\n\nevent: response.completed' }])],
  ])('%j is fine', async change => {
    const told = await send(change)
    expect(told).toMatchObject({ status: 200 })
    const streamed = await send({ ...change, stream: true })
    expect(streamed.text.match(/^event: response\.completed$/gm)).toHaveLength(1)
  })

  test('a body of another kind, or a packed one, is refused', async () => {
    expect(await post('x=1', { 'content-type': 'application/x-www-form-urlencoded' })).toMatchObject({ status: 415 })
    expect(await post(JSON.stringify(valid), { 'content-encoding': 'gzip' })).toMatchObject({ status: 415 })
  })
})

/** A full request, to be broken in one place. */
const rich = {
  model: 'm',
  instructions: 'Be brief.',
  input: [
    { role: 'user', content: [{ type: 'input_text', text: 'Weather?' }] },
    { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Look.' }], encrypted_content: 'x' },
    { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c1', output: 'Rain.' },
    { role: 'assistant', content: [{ type: 'output_text', text: 'Rain.', annotations: [] }] },
  ],
  tools: [{ type: 'function', name: 'f', description: 'd', parameters: { type: 'object', properties: {} }, strict: false }],
  tool_choice: { type: 'function', name: 'f' },
  parallel_tool_calls: true,
  max_output_tokens: 100,
  temperature: 1,
  top_p: 0.5,
  text: { format: { type: 'json_schema', name: 's', schema: { type: 'object' }, strict: true } },
  reasoning: { effort: 'low', summary: 'auto' },
  metadata: { a: 'b' },
  include: ['reasoning.encrypted_content'],
  stream: false,
  gateway: { routing: { timeout_ms: 1000, deadline_ms: 5000, allow_fallbacks: true, order: ['sim'] }, metadata: { c: 'd' } },
}

type Path = readonly (string | number)[]
const pathsOf = (value: unknown, path: Path = []): readonly Path[] =>
  typeof value === 'object' && value !== null
    ? [path, ...Object.entries(value).flatMap(([key, inner]) => pathsOf(inner, [...path, Array.isArray(value) ? Number(key) : key]))]
    : [path]

function put(root: unknown, path: Path, change: (old: unknown) => unknown): unknown {
  const [key, ...rest] = path
  if (key === undefined) return change(root)
  if (Array.isArray(root)) return root.map((value, at) => (at === key ? put(value, rest, change) : value))
  return { ...(root as object), [key]: put((root as Record<string | number, unknown>)[key], rest, change) }
}

test('10,000 mutations of a valid body: an answer, or a 400 or 404 that says what is wrong; never a 500, and no prototype is touched', async () => {
  const odd = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.constantFrom(
      null,
      '',
      -1,
      1e308,
      Number.MAX_SAFE_INTEGER + 1,
      [],
      {},
      [null],
      { type: null },
      { type: 'native' },
      'constructor',
      true,
    ),
    fc.string({ unit: 'binary', maxLength: 20 }),
  )
  const mutation = fc.record({
    path: fc.constantFrom(...pathsOf(rich)),
    value: odd,
    key: fc.constantFrom('', 'type', 'id', 'constructor', 'toString', 'length', 'extra'),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(mutation, { minLength: 1, maxLength: 3 }), async mutations => {
      const body = mutations.reduce<unknown>((root, { path, value, key }) => {
        try {
          return put(root, path, old =>
            typeof old === 'object' && old !== null && key !== '' && !Array.isArray(old) ? { ...old, [key]: value } : value,
          )
        } catch {
          // An earlier mutation took the path away.
          return root
        }
      }, rich)
      const told = await post(JSON.stringify(body) ?? '')
      if (told.status === 200) return
      expect([400, 402, 404]).toContain(told.status)
      expect(told.error).toMatchObject({ message: expect.any(String), type: expect.any(String), code: expect.any(String) })
    }),
    { numRuns: 10_000 },
  )
  expect(Object.keys(Object.prototype)).toEqual([])
}, 120_000)
