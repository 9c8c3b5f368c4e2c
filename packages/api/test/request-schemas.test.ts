import { checkInput } from '@signalbox/core/resources'
import { clientDialects } from '@signalbox/dialects'
import { GatewayError } from '@signalbox/dialects/errors'
import { isObject, type JsonObject } from '@signalbox/dialects/protocol'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, inject, test } from 'vitest'
import { createApi } from '../src/index.ts'
import { makeDocument } from '../src/openapi/document.ts'
import type { JsonSchema } from '../src/openapi/json-schema.ts'
import { allRoutes as routes } from '../src/routes.ts'
import { ask, parsed } from './asking.ts'
import { fakeGateway, goodKey } from './fake-gateway.ts'
import { changed, changes, valuesOf } from './schema-values.ts'

const document = JSON.parse(JSON.stringify(await makeDocument(routes, { ownedBy: 'x' })))
const schemas: Readonly<Record<string, JsonSchema>> = document.components.schemas
const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema({ $id: 'document', ...document })
const fits = (name: string, body: unknown): boolean => ajv.getSchema(`document#/components/schemas/${name}`)?.(body) === true

/** A valid request is not served here: it ends in `routing_failed`. */
const notServed = new GatewayError('routing_failed', { message: 'Nothing is served here.' })
const api = createApi(
  fakeGateway({
    dialects: clientDialects,
    infer: () => {
      throw notServed
    },
    countTokens: () => Promise.reject(notServed),
  }).gateway,
)

/** The path of the field that the server refuses; undefined if it takes the body. */
async function refusedField(path: string, body: unknown): Promise<string | undefined> {
  const reply = await ask(api, `POST ${path}`, {
    headers: { authorization: `Bearer ${goodKey}`, 'ai-language-model-id': 'small' },
    body: JSON.stringify(body),
  })
  const { code, param } = parsed(reply).error
  if (code === 'routing_failed') return undefined
  expect([reply.status, typeof param]).toEqual([400, 'string'])
  return param
}

const numRuns = inject('isLongRun') ? 2_000 : 40

/** Bodies name their model once, in one of the two ways. */
const withModel = ([body, isPool]: readonly [unknown, boolean]): unknown => {
  const { model: _, gateway, ...rest } = body as JsonObject
  const { models: __, ...options } = isObject(gateway) ? gateway : {}
  return isPool ? { ...rest, gateway: { ...options, models: ['small'] } } : { ...rest, model: 'small', gateway: options }
}

describe.each(
  routes.filter(({ rate, body }) => rate === 'inference' && body !== undefined).map(({ path, body = 'Error' }) => [path, body] as const),
)('the body of POST %s', (path, schema) => {
  const bodies = fc.tuple(valuesOf(schemas[schema] ?? {}, schemas), fc.boolean()).map(withModel)

  test('is accepted if it matches the schema', async () => {
    await fc.assert(
      fc.asyncProperty(bodies, async body => {
        expect([fits(schema, body), await refusedField(path, body)]).toEqual([true, undefined])
      }),
      { numRuns },
    )
  })

  test('is refused, with the name of the field, exactly if it does not match the schema', async () => {
    await fc.assert(
      fc.asyncProperty(bodies, changes, async (body, change) => {
        const other = changed(body, change)
        const field = await refusedField(path, other)
        expect([fits(schema, other), other]).toEqual([field === undefined, other])
      }),
      { numRuns: numRuns * 4 },
    )
  })
})

const responses = { model: 'small', input: 'Hello.' }
const chat = { model: 'small', messages: [{ role: 'user', content: 'Hello.' }] }
const messages = { ...chat, max_tokens: 10 }
const many = (count: number): JsonObject => Object.fromEntries(Array.from({ length: count }, (_, at) => [`key${at}`, 'x']))

test.each<readonly [path: string, schema: string, body: object, isTaken: boolean]>([
  ...['tools', 'text', 'tool_choice', 'user', 'gateway', 'extensions', 'prompt_cache_key', 'safety_identifier'].map(
    field => ['/v1/responses', 'CreateResponse', { ...responses, [field]: null }, true] as const,
  ),
  ...['gateway', 'extensions', 'response_format', 'stop'].map(
    field => ['/v1/chat/completions', 'CreateChatCompletion', { ...chat, [field]: null }, true] as const,
  ),
  ...[
    ...['system', 'tools', 'tool_choice', 'thinking', 'output_config', 'gateway', 'stop_sequences', 'stream', 'temperature'],
    ...['top_p', 'top_k', 'metadata', 'service_tier', 'extensions'],
  ].map(field => ['/v1/messages', 'CreateMessage', { ...messages, [field]: null }, true] as const),
  ['/v1/chat/completions', 'CreateChatCompletion', { ...chat, n: 2 }, false],
  ['/v1/chat/completions', 'CreateChatCompletion', { ...chat, n: 1 }, true],
  ['/v1/chat/completions', 'CreateChatCompletion', { ...chat, store: true }, false],
  ['/v1/chat/completions', 'CreateChatCompletion', { ...chat, messages: [...chat.messages, { role: 'tool', content: 'x' }] }, false],
  ['/v1/responses', 'CreateResponse', { ...responses, gateway: { metadata: many(17) } }, false],
  ['/v1/responses', 'CreateResponse', { ...responses, gateway: { metadata: many(16) } }, true],
  ['/v1/responses', 'CreateResponse', { ...responses, gateway: { metadata: { a: 'x'.repeat(1_024), ['n'.repeat(128)]: '' } } }, true],
  ['/v1/responses', 'CreateResponse', { ...responses, gateway: { metadata: { a: 'x'.repeat(1_025) } } }, false],
  ['/v1/responses', 'CreateResponse', { ...responses, gateway: { metadata: { ['n'.repeat(129)]: '' } } }, false],
  ['/v1/responses', 'CreateResponse', { ...responses, metadata: many(64) }, true],
  ['/v1/responses', 'CreateResponse', { ...responses, metadata: many(65) }, false],
  ['/v1/responses', 'CreateResponse', { ...responses, gateway: { routing: { timeout_ms: 86_400_001 } } }, false],
  ['/v1/responses', 'CreateResponse', { ...responses, gateway: { routing: { deadline_ms: 86_400_000 } } }, true],
  ['/v1/responses', 'CreateResponse', { input: 'x' }, false],
  ['/v1/responses', 'CreateResponse', { ...responses, gateway: { models: ['small'] } }, false],
  ['/v1/responses', 'CreateResponse', { input: 'x', model: null, gateway: { models: ['small'] } }, true],
  ['/v1/responses', 'CreateResponse', { ...responses, previous_response_id: 'resp_1' }, false],
  ['/v1/messages', 'CreateMessage', { ...messages, tool_choice: { type: 'none' } }, true],
])('%s: schema and server agree on a body (%#)', async (path, ...[schema, body, isTaken]) => {
  expect([fits(schema, body), (await refusedField(path, body)) === undefined]).toEqual([isTaken, isTaken])
})

const managed = routes.flatMap(({ body, input }) => (body && input ? [[body, input] as const] : []))

test.each(managed)('the management body %s is refused exactly if it does not match the documented schema', (name, input) => {
  const isTaken = (body: JsonObject): boolean => {
    try {
      checkInput(input, body, 'json')
      return true
    } catch {
      return false
    }
  }
  fc.assert(
    fc.property(valuesOf(schemas[name] ?? {}, schemas), changes, (body, change) => {
      expect([isTaken(body as JsonObject), fits(name, body)]).toEqual([true, true])
      const other = changed(body, change)
      if (isObject(other)) expect([isTaken(other), other]).toEqual([fits(name, other), other])
    }),
    { numRuns },
  )
})
