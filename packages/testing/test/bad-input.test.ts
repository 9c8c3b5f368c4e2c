import { type Api, createApi } from '@signalbox/api'
import { asIterator } from '@signalbox/core/runtime'
import { simulated } from '@signalbox/providers'
import fc from 'fast-check'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { anyCharacter } from '../../dialects/test/any-character.ts'
import { fakeClock } from '../src/fake-clock.ts'
import { testGateway } from '../src/gateway.ts'
import { endpoints } from './inference-endpoints.ts'

let api: Api
let secret: string

beforeAll(async () => {
  const clock = fakeClock()
  const instant = { ...clock, setTimeout: (run: () => void, ms: number) => (ms < 1_000 ? setTimeout(run, 0) : clock.setTimeout(run, ms)) }
  const testbed = await testGateway({
    providers: [simulated({ id: 'sim', firstWordMs: 0, wordMs: 0, clock: instant })],
    limits: { inferenceRpm: 1_000_000, concurrentRequests: 1_000 },
    models: [{ id: 'm', offers: [{ provider: 'sim', model: 'echo', api: 'chat', price: { input: 1, output: 1 } }] }],
  })
  secret = testbed.secret
  api = createApi(testbed.gateway)
})

interface Told {
  readonly status: number
  readonly error?: { readonly message: string; readonly type: string; readonly param: string | null; readonly code: string }
  readonly text: string
}

interface Sent {
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
}

async function post(text: string, { path = '/v1/responses', headers = {} }: Sent = {}): Promise<Told> {
  const all: Readonly<Record<string, string>> = { authorization: `Bearer ${secret}`, 'content-type': 'application/json', ...headers }
  const reply = await api({
    method: 'POST',
    path,
    query: '',
    header: name => all[name],
    text: async limit => (Buffer.byteLength(text) > limit ? { ok: false, why: 'too_large' } : { ok: true, text }),
    signal: new AbortController().signal,
  })
  let body = ''
  if (typeof reply.body === 'string') body = reply.body
  else {
    const chunks = asIterator(reply.body)
    for (let step = await chunks.next(); !step.done; step = await chunks.next()) body += step.value
  }
  return { status: reply.status, text: body, ...(reply.status === 200 ? {} : { error: JSON.parse(body).error }) }
}

describe.each(endpoints.map(endpoint => [endpoint.path, endpoint] as const))(
  '%s: an invalid body returns an error that names the field, in the dialect of the client',
  (path, endpoint) => {
    const { valid, conversation, terminal, isError } = endpoint
    const { model, ...nameless } = valid
    const { [conversation]: _, ...mute } = valid
    /** A valid body and more of it, as no object could hold it. */
    const and = (more: string): string => `${JSON.stringify(valid).slice(0, -1)},${more}}`

    test.each<[string, string, string, string | null]>([
      ['no body', '', 'invalid_request', null],
      ['no JSON', '{"model":', 'invalid_request', null],
      ['an array', '[]', 'invalid_request', null],
      ['null', 'null', 'invalid_request', null],
      ['neither model nor pool', JSON.stringify(nameless), 'missing_required_parameter', 'model'],
      ['both model and pool', and('"gateway":{"models":["m"]}'), 'invalid_parameter_value', 'model'],
      ['an empty pool', JSON.stringify({ ...nameless, gateway: { models: [] } }), 'invalid_parameter_value', 'gateway.models'],
      ['no conversation', JSON.stringify(mute), 'missing_required_parameter', conversation],
      ['a prototype key', and('"metadata":{"__proto__":"x"}'), 'invalid_request', 'metadata.__proto__'],
      ['half a surrogate pair', and(`"${conversation}":"\\ud800"`), 'invalid_request', conversation],
      ['300 levels', and(`"extensions":${'['.repeat(300)}${']'.repeat(300)}`), 'invalid_request', 'extensions'],
      ['a number beyond all numbers', and('"temperature":1e999'), 'invalid_parameter_value', 'temperature'],
      ['a number for the conversation', and(`"${conversation}":7`), 'invalid_parameter_value', conversation],
      ['a number in the conversation', and(`"${conversation}":[7]`), 'invalid_parameter_value', `${conversation}[0]`],
      ['a role of no one', and(`"${conversation}":[{"role":"robot","content":"x"}]`), 'invalid_parameter_value', `${conversation}[0].role`],
      ['no content', and(`"${conversation}":[{"role":"user"}]`), 'missing_required_parameter', `${conversation}[0].content`],
      ['tools that are no list', and('"tools":{}'), 'invalid_parameter_value', 'tools'],
      [
        'a flag that is none',
        and('"gateway":{"routing":{"allow_fallbacks":"yes"}}'),
        'invalid_parameter_value',
        'gateway.routing.allow_fallbacks',
      ],
      ['a field of the gateway that is none', and('"gateway":{"nonsense":1}'), 'unknown_field', 'gateway.nonsense'],
      ['an option of routing that is none', and('"gateway":{"routing":{"nonsense":1}}'), 'unknown_field', 'gateway.routing.nonsense'],
      ['a tier that is none', and('"gateway":{"routing":{"tier":"slow"}}'), 'invalid_parameter_value', 'gateway.routing.tier'],
      ['no time at all', and('"gateway":{"routing":{"timeout_ms":0}}'), 'invalid_parameter_value', 'gateway.routing.timeout_ms'],
      ['more than a day', and('"gateway":{"routing":{"deadline_ms":86400001}}'), 'invalid_parameter_value', 'gateway.routing.deadline_ms'],
      [
        'all the time there is',
        and(`"gateway":{"routing":{"deadline_ms":${Number.MAX_SAFE_INTEGER}}}`),
        'invalid_parameter_value',
        'gateway.routing.deadline_ms',
      ],
      ['a provider that is none', and('"gateway":{"routing":{"only":["nobody"]}}'), 'invalid_parameter_value', 'gateway.routing.only[0]'],
      ['a strategy that is none', and('"gateway":{"routing":{"strategy":"best"}}'), 'invalid_parameter_value', 'gateway.routing.strategy'],
      ['a model that is none', JSON.stringify({ ...valid, model: 'mm' }), 'model_not_found', 'model'],
    ])('%s', async (...[, text, code, param]) => {
      const told = await post(text, { path })
      expect({ status: told.status, code: told.error?.code }).toEqual({ status: code === 'model_not_found' ? 404 : 400, code })
      isError(JSON.parse(told.text))
      if (param === null) expect(told.error?.param).toBeNull()
      else expect(told.error?.param?.startsWith(param)).toBe(true)
      expect(told.error?.message.length).toBeGreaterThan(10)
    })

    test('a body of another content type, or a compressed one, is refused', async () => {
      const kinds: Record<string, string>[] = [{ 'content-type': 'application/x-www-form-urlencoded' }, { 'content-encoding': 'gzip' }]
      for (const headers of kinds) expect(await post(JSON.stringify(valid), { path, headers })).toMatchObject({ status: 415 })
    })

    test('a minimal and a full valid body succeed, and a stream has one terminal event', async () => {
      for (const body of [valid, endpoint.rich]) {
        expect(await post(JSON.stringify(body), { path })).toMatchObject({ status: 200 })
        const streamed = terminal && (await post(JSON.stringify({ ...body, stream: true }), { path }))
        if (terminal) expect(streamed?.text.match(terminal)).toHaveLength(1)
      }
      expect(model).toBe('m')
    })
  },
)

const valid = { model: 'm', input: 'hi' }
const send = (change: object): Promise<Told> => post(JSON.stringify({ ...valid, ...change }))

const message = (content: unknown): object => ({ input: [{ role: 'user', content }] })

describe('a field of the Responses API', () => {
  test.each<[object, string, string]>([
    [{ store: true }, 'invalid_parameter_value', 'store'],
    [{ previous_response_id: 'resp_1' }, 'unknown_parameter', 'previous_response_id'],
    [{ conversation: 'c' }, 'unknown_parameter', 'conversation'],
    [{ background: true }, 'unknown_parameter', 'background'],
    [{ prompt: { id: 'p' } }, 'unknown_parameter', 'prompt'],
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
    [{ tools: [{ type: 'function' }] }, 'missing_required_parameter', 'tools[0].name'],
    [{ reasoning: { effort: 'enormous' } }, 'invalid_parameter_value', 'reasoning.effort'],
    [{ metadata: { a: 1 } }, 'invalid_parameter_value', 'metadata.a'],
    [{ include: 'all' }, 'invalid_parameter_value', 'include'],
    [{ stream: 'yes' }, 'invalid_parameter_value', 'stream'],
    [{ input: [{ type: 'function_call', call_id: 'c', name: 'f' }] }, 'missing_required_parameter', 'input[0].arguments'],
    [{ input: [{ type: 'function_call_output', output: 'x' }] }, 'missing_required_parameter', 'input[0].call_id'],
    [message([{ type: 'input_text' }]), 'missing_required_parameter', 'input[0].content[0].text'],
    [{ input: [{ type: 'item_reference', id: 'msg_1' }] }, 'invalid_parameter_value', 'input[0]'],
    [{ input: [{ type: 'compaction', encrypted_content: 'c' }] }, 'input_requires_responses_endpoint', 'input[0]'],
  ])('%j: %s at %s', async (change, code, param) => {
    const told = await send(change)
    expect({ code: told.error?.code, param: told.error?.param }).toEqual({ code, param })
    expect(told.status).toBe(400)
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
  ])('%j is accepted', async change => {
    const told = await send(change)
    expect(told).toMatchObject({ status: 200 })
    const streamed = await send({ ...change, stream: true })
    expect(streamed.text.match(/^event: response\.completed$/gm)).toHaveLength(1)
  })
})

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
  fc.string({ unit: anyCharacter, maxLength: 20 }),
)

test.each(endpoints.map(endpoint => [endpoint.path, endpoint] as const))(
  '%s: mutations of a full body return a response, or a 400 or 404 with a message; never a 500, and no prototype is changed',
  async (path, { rich, isError }) => {
    const mutation = fc.record({
      path: fc.constantFrom(...pathsOf(rich)),
      value: odd,
      key: fc.constantFrom('', 'type', 'id', 'constructor', 'toString', 'length', 'extra'),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(mutation, { minLength: 1, maxLength: 3 }), async mutations => {
        const body = mutations.reduce<unknown>((root, { path: at, value, key }) => {
          try {
            return put(root, at, old =>
              typeof old === 'object' && old !== null && key !== '' && !Array.isArray(old) ? { ...old, [key]: value } : value,
            )
          } catch {
            // An earlier mutation took the path away.
            return root
          }
        }, rich)
        const told = await post(JSON.stringify(body) ?? '', { path })
        if (told.status === 200) return
        // An address that is none may name something stored at the provider: 403.
        expect([400, 402, 403, 404]).toContain(told.status)
        isError(JSON.parse(told.text))
      }),
      { numRuns: inject('isLongRun') ? 3_000 : 150 },
    )
    expect(Object.keys(Object.prototype)).toEqual([])
  },
  120_000,
)
