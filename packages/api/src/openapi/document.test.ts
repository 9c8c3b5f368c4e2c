import { createConfig, lintFromString } from '@redocly/openapi-core'
import { codes } from '@signalbox/dialects/errors'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import * as z from 'zod/v4'
import { checkRows } from '../../../testing/test/check-rows.ts'
import { ask } from '../../test/asking.ts'
import { fakeGateway } from '../../test/fake-gateway.ts'
import { createApi } from '../index.ts'
import type { Route, WorkspaceRoute } from '../route.ts'
import { allRoutes as routes } from '../routes.ts'
import { makeDocument } from './document.ts'
import { type JsonSchema, undescribedFields } from './json-schema.ts'
import { errorSchemaOf } from './responses.ts'

interface Reply {
  readonly description: string
  readonly headers?: Readonly<Record<string, unknown>>
  readonly content: Readonly<Record<string, { readonly schema: unknown; readonly example?: unknown; readonly examples?: object }>>
}

interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly 'x-stability': string
  readonly 'x-scopes'?: readonly string[]
  readonly security: readonly Readonly<Record<string, unknown>>[]
  readonly requestBody?: Pick<Reply, 'content'>
  readonly responses: Readonly<Record<string, Reply>>
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: unknown }[]
}
interface Document {
  readonly openapi: string
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>
    readonly responses: Readonly<Record<string, Reply>>
    readonly headers: Readonly<Record<string, unknown>>
    readonly examples: Readonly<Record<string, { readonly value: unknown }>>
    readonly securitySchemes: Readonly<Record<string, unknown>>
  }
}

const source = JSON.parse(JSON.stringify(await makeDocument(routes, { ownedBy: 'signalbox' }))) as Document
const document = withResponses(source)

/** The operation with its response references resolved. */
function withResponses(whole: Document): Document {
  const resolved: Document = JSON.parse(JSON.stringify(whole), (_, value: unknown) => {
    const [, name] = (typeof value === 'object' && value && '$ref' in value && /responses\/(.*)/.exec(String(value.$ref))) || []
    return name === undefined ? value : whole.components.responses[name]
  })
  return resolved
}

const operationOf = (method: string, path: string): Operation | undefined =>
  document.paths[path.replace(/:([a-z_]+)\+?/g, '{$1}')]?.[method.toLowerCase()]

test('the document is OpenAPI 3.1, and every reference in it resolves', () => {
  expect(document.openapi).toBe('3.1.0')
  for (const [, name] of JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
    expect(document.components.schemas).toHaveProperty(name ?? '')
  }
  const schemes = Object.values(document.paths).flatMap(methods => Object.values(methods).flatMap(({ security }) => security))
  for (const scheme of schemes) for (const name of Object.keys(scheme)) expect(document.components.securitySchemes).toHaveProperty(name)
})

test('the readiness endpoint is documented with both of its responses', () => {
  const { responses } = operationOf('GET', '/readyz') ?? {}
  const schemaAt = (status: string): unknown => responses?.[status]?.content['application/json']?.schema
  expect(schemaAt('503')).toEqual(schemaAt('200'))
})

const rows = routes.map(row => [`${row.method} ${row.path}`, row] as const)

test('every route is documented with its tier, its authorization and every error', () =>
  checkRows(rows, row => {
    const { method, path } = row
    const operation = operationOf(method, path)
    expect(operation?.['x-stability']).toBe(row.tier)
    const keys = [{ key: [] }, ...(row.keyHeader === undefined ? [] : [{ [row.keyHeader]: [] }])]
    expect(operation?.security).toEqual(row.needs === 'nothing' ? [] : keys)
    const errorShape = JSON.stringify(operation?.responses['500']?.content)
    expect(errorShape).toContain(`schemas/${errorSchemaOf(row)}"`)
    for (const code of row.errors) expect(operation?.responses[codes[code].status]?.description).toContain(`\`${code}\``)
    const named = operation?.parameters?.map(parameter => `${parameter.in} ${parameter.name}`) ?? []
    expect(named.sort()).toEqual(
      [
        ...[...path.matchAll(/:([a-z_]+)/g)].map(([, name]) => `path ${name}`),
        ...(row.query ?? []).map(({ name }) => `query ${name}`),
        ...(row.headers ?? []).map(name => `header ${name}`),
        ...(row.cache === undefined ? [] : ['header If-None-Match']),
        ...(row.of === 'workspace' && method === 'POST' ? ['header Idempotency-Key'] : []),
      ].sort(),
    )
  }))

test('operation ids are unique, and streams are documented', () => {
  const ids = [...JSON.stringify(document).matchAll(/"operationId":"([^"]+)"/g)].map(([, id]) => id)
  expect(new Set(ids).size).toBe(routes.length)
  const streaming = routes.filter(({ method, path }) => 'text/event-stream' in (operationOf(method, path)?.responses['200']?.content ?? {}))
  expect(streaming.map(({ path }) => path)).toEqual(['/v1/responses', '/v1/chat/completions', '/v1/messages', '/v4/ai/language-model'])
})

/** Deliberate exceptions: probes fail only with 5xx, and the operator chooses the licence. */
const ours = ['operation-4xx-response /healthz', 'operation-4xx-response /readyz', 'info-license /info']

test('a linter reports no problem', async () => {
  const config = await createConfig({ extends: ['recommended-strict'] })
  const problems = await lintFromString({ source: JSON.stringify(source), absoluteRef: 'openapi.json', config })
  const found = problems.map(({ ruleId, message, location: [{ pointer = '' } = {}] }) => {
    const [, section = '', path = ''] = pointer.split('/')
    return { problem: `${ruleId} ${section === 'paths' ? path.replaceAll('~1', '/') : `/${section}`}`, message, pointer }
  })
  expect(found.filter(({ problem }) => !ours.includes(problem))).toEqual([])
})

test('every route documents its authorization and its responses', () =>
  checkRows(rows, row => {
    const operation = operationOf(row.method, row.path)
    expect(operation?.tags).toHaveLength(1)
    expect(operation?.['x-scopes']).toEqual(typeof row.needs === 'string' ? undefined : row.needs)
    const good = Object.entries(operation?.responses ?? {}).filter(([status]) => status.startsWith('2'))
    expect(good.map(([status]) => status)).toEqual([`${row.status ?? 200}`])
    expect(good[0]?.[1].content).toHaveProperty([row.media ?? 'application/json', 'schema'])
  }))

test('every change of a workspace replies 202, counts as a write, and has its body checked by a table of fields', () => {
  for (const row of routes.filter((one): one is WorkspaceRoute => one.of === 'workspace')) {
    const { method, rate, status, body, input, path } = row
    const isWrite = method !== 'GET'
    expect([path, rate, status]).toEqual([path, isWrite ? 'writes' : 'reads', isWrite ? 202 : undefined])
    expect([path, input === undefined]).toEqual([path, body === undefined])
    expect(path.startsWith('/v1/workspaces/:workspace_id/')).toBe(true)
    expect([path, row.needs.every(scope => scope.endsWith(isWrite ? ':write' : ':read'))]).toEqual([path, true])
  }
  expect(routes.filter(({ of, path }) => of === undefined && path.includes('workspace'))).toEqual([])
})

test('a deprecated row states when the deprecation began and when it may be removed', async () => {
  const sample: Route = { ...(routes[0] as Route), path: '/v1/old', deprecated: { from: '2026-01-31', removal: '2026-08-01' } }
  const { paths } = JSON.parse(JSON.stringify(await makeDocument([sample], { ownedBy: 'x' })))
  expect(paths['/v1/old'].post).toMatchObject({ deprecated: true, 'x-deprecation-date': '2026-01-31', 'x-removal-date': '2026-08-01' })
})

test('deprecated rows stay for at least six months', () => {
  for (const { deprecated } of routes)
    if (deprecated) expect(Date.parse(deprecated.removal) - Date.parse(deprecated.from)).toBeGreaterThanOrEqual(181 * 86_400_000)
})

test('browsers may read every documented response header', async () => {
  const api = createApi(fakeGateway().gateway, { cors: { origins: '*' } })
  const { headers } = await ask(api, 'GET /healthz', { headers: { origin: 'https://app.example' } })
  const readable = [...(headers['access-control-expose-headers'] ?? '').split(', '), 'cache-control']
  const told = Object.values(document.paths).flatMap(methods =>
    Object.values(methods).flatMap(({ responses }) => Object.values(responses).flatMap(reply => Object.keys(reply.headers ?? {}))),
  )
  expect([...new Set(told)].filter(name => !readable.includes(name.toLowerCase()))).toEqual([])
})

test('every field is described', () => {
  const { schemas } = document.components
  const missing = Object.entries(schemas).flatMap(([name, schema]) => undescribedFields(name, schema, new Map(Object.entries(schemas))))
  expect(missing).toEqual([])
})

test('every operation, tag, parameter and header is described', () => {
  const described = z.looseObject({ description: z.string().min(10) })
  const operations = Object.values(document.paths).flatMap(Object.values)
  const tags = new Map(document.tags.map(tag => [tag.name, tag.description]))
  for (const operation of operations) {
    described.parse(operation)
    for (const tag of operation.tags) expect(tags.get(tag)).toMatch(/.{10}/)
    for (const parameter of operation.parameters ?? []) described.parse(parameter)
  }
  for (const header of Object.values(document.components.headers)) described.parse(header)
  for (const parameter of operations
    .flatMap(({ parameters = [] }) => parameters)
    .filter(({ name }) => name.endsWith('_id') && name !== 'model_id'))
    if (parameter.in === 'path') expect(parameter.schema).toEqual({ type: 'string', format: 'uuid' })
})

test('every request and response has an example that matches its schema, and every error code has one', () => {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
  ajv.addSchema({ $id: 'document', ...source })
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, { requestBody, responses }] of Object.entries(methods)) {
      const bodies = [requestBody, ...Object.values(responses)].flatMap(body => Object.values(body?.content ?? {}))
      for (const { schema, example, examples = {} } of bodies) {
        const { $ref } = schema as { readonly $ref: string }
        const values = example === undefined ? Object.keys(examples) : [example]
        expect([method, path, values.length > 0]).toEqual([method, path, true])
        if (example === undefined) continue
        const validate = ajv.getSchema(`document${$ref}`)
        expect([method, path, $ref, validate?.(example), validate?.errors ?? null]).toEqual([method, path, $ref, true, null])
      }
    }
  }
  for (const [name, { value }] of Object.entries(document.components.examples)) {
    const prefix = /^(messages|ai-sdk)\./.exec(name)?.[0] ?? ''
    const schema = { '': 'Error', 'messages.': 'MessagesError', 'ai-sdk.': 'AiGatewayError' }[prefix]
    expect([name, ajv.getSchema(`document#/components/schemas/${schema}`)?.(value)]).toEqual([name, true])
    const { code, message } = (value as { readonly error: { readonly code: string; readonly message: string } }).error
    expect([name, message.length > 10 && message !== code]).toEqual([`${prefix}${code}`, true])
  }
})

test('errors are documented with their headers', () => {
  const { responses } = operationOf('POST', '/v1/responses') ?? {}
  const names = (status: string): readonly string[] => Object.keys(responses?.[status]?.headers ?? {})
  const always = ['X-Request-ID', 'X-Client-Request-ID']
  expect(names('401')).toEqual([...always, 'WWW-Authenticate'])
  expect(names('402')).toEqual([
    ...always,
    'X-Should-Retry',
    'X-Budget-Limit-USD',
    'X-Budget-Used-USD',
    'X-Budget-Remaining-USD',
    'X-Budget-Reset',
  ])
  expect(names('405')).toEqual([...always, 'Allow'])
  expect(names('415')).toEqual([...always, 'Accept-Encoding'])
  expect(names('429')).toEqual([...always, 'Retry-After', 'Retry-After-Ms', 'X-Rate-Limit-Source', 'X-Should-Retry'])
})

test('the document is created in pieces, and not sent again to a client that has it', async () => {
  const api = createApi(fakeGateway().gateway)
  const [first, second] = await Promise.all([ask(api, 'GET /v1/openapi.json'), ask(api, 'GET /v1/openapi.json')])
  expect(first.body).toBe(second.body)
  const { etag = '' } = first.headers
  const again = await ask(api, 'GET /v1/openapi.json', { headers: { 'if-none-match': etag } })
  expect([again.status, again.body]).toEqual([304, ''])
  let pauses = 0
  await makeDocument(routes, {
    ownedBy: 'x',
    pause: async () => {
      pauses += 1
    },
  })
  expect(pauses).toBeGreaterThan(50)
})
