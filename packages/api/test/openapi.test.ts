import { createConfig, lintFromString } from '@redocly/openapi-core'
import { codes } from '@signalbox/core/errors'
import { expect, test } from 'vitest'
import { createApi } from '../src/index.ts'
import { makeDocument } from '../src/openapi.ts'
import { type Route, routes, type WorkspaceRoute } from '../src/routes.ts'
import { makeSchemas } from '../src/schemas.ts'
import { ask } from './asking.ts'
import { fakeGateway } from './fake-gateway.ts'

interface Reply {
  readonly description: string
  readonly headers?: Readonly<Record<string, unknown>>
  readonly content: Readonly<Record<string, unknown>>
}

interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly 'x-stability': string
  readonly 'x-scopes'?: readonly string[]
  readonly security: readonly Readonly<Record<string, unknown>>[]
  readonly responses: Readonly<Record<string, Reply>>
  readonly parameters?: readonly { readonly name: string; readonly in: string }[]
}
interface Document {
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, unknown>>
    readonly securitySchemes: Readonly<Record<string, unknown>>
  }
}

const document = JSON.parse(JSON.stringify(makeDocument(routes, makeSchemas(), { operator: 'signalbox', basePath: '' }))) as Document
const operationOf = (method: string, path: string): Operation | undefined =>
  document.paths[path.replace(/:([a-z_]+)\+?/g, '{$1}')]?.[method.toLowerCase()]

test('the document is OpenAPI 3.1, and every reference in it leads somewhere', () => {
  expect(document.openapi).toBe('3.1.0')
  for (const [, name] of JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
    expect(document.components.schemas).toHaveProperty(name ?? '')
  }
  const schemes = Object.values(document.paths).flatMap(methods => Object.values(methods).flatMap(({ security }) => security))
  for (const scheme of schemes) for (const name of Object.keys(scheme)) expect(document.components.securitySchemes).toHaveProperty(name)
})

test('what says whether requests can be served is in it with both of its answers', () => {
  const { responses } = operationOf('GET', '/readyz') ?? {}
  expect(responses?.['503']?.content).toEqual(responses?.['200']?.content)
})

test.each(routes.map(row => [row.method, row.path, row] as const))(
  '%s %s is in it with its tier, its guard and every error',
  (method, path, row) => {
    const operation = operationOf(method, path)
    expect(operation?.['x-stability']).toBe(row.tier)
    const keys = [{ key: [] }, ...(row.keyHeader === undefined ? [] : [{ [row.keyHeader]: [] }])]
    expect(operation?.security).toEqual(row.needs === 'nothing' ? [] : keys)
    const errorShape = JSON.stringify(operation?.responses['500']?.content)
    expect(errorShape).toContain(row.dialect === 'messages' ? 'schemas/MessagesError"' : 'schemas/Error"')
    for (const code of row.errors) expect(operation?.responses[codes[code].status]?.description).toContain(`\`${code}\``)
    const named = operation?.parameters?.map(parameter => `${parameter.in} ${parameter.name}`) ?? []
    expect(named.sort()).toEqual(
      [
        ...[...path.matchAll(/:([a-z_]+)/g)].map(([, name]) => `path ${name}`),
        ...(row.query ?? []).map(({ name }) => `query ${name}`),
        ...(row.cache === undefined ? [] : ['header If-None-Match']),
        ...(row.of === 'workspace' && method === 'POST' ? ['header Idempotency-Key'] : []),
      ].sort(),
    )
  },
)

test('operation ids are unique, and streams are told of', () => {
  const ids = [...JSON.stringify(document).matchAll(/"operationId":"([^"]+)"/g)].map(([, id]) => id)
  expect(new Set(ids).size).toBe(routes.length)
  const streaming = routes.filter(({ method, path }) => 'text/event-stream' in (operationOf(method, path)?.responses['200']?.content ?? {}))
  expect(streaming.map(({ path }) => path)).toEqual(['/v1/responses', '/v1/chat/completions', '/v1/messages'])
})

/** What a linter would have otherwise: probes fail in no other way than 5xx, and the licence is the operator's to say. */
const ours = ['operation-4xx-response /healthz', 'operation-4xx-response /readyz', 'info-license /info']

test('a linter finds nothing in it', async () => {
  const config = await createConfig({ extends: ['recommended-strict'] })
  const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: 'openapi.json', config })
  const found = problems.map(({ ruleId, message, location: [{ pointer = '' } = {}] }) => {
    const [, section = '', path = ''] = pointer.split('/')
    return { problem: `${ruleId} ${section === 'paths' ? path.replaceAll('~1', '/') : `/${section}`}`, message, pointer }
  })
  expect(found.filter(({ problem }) => !ours.includes(problem))).toEqual([])
})

test.each(routes.map(row => [row.method, row.path, row] as const))(
  '%s %s says whom it is for, and what it answers',
  (method, path, row) => {
    const operation = operationOf(method, path)
    expect(operation?.tags).toHaveLength(1)
    expect(operation?.['x-scopes']).toEqual(typeof row.needs === 'string' ? undefined : row.needs)
    const good = Object.entries(operation?.responses ?? {}).filter(([status]) => status.startsWith('2'))
    expect(good.map(([status]) => status)).toEqual([`${row.status ?? 200}`])
    expect(good[0]?.[1].content).toHaveProperty([row.media ?? 'application/json', 'schema'])
  },
)

test('all that changes a workspace answers 202, is counted as a write, and is held to its schema', () => {
  for (const row of routes.filter((one): one is WorkspaceRoute => one.of === 'workspace')) {
    const { method, rate, status, strict, path } = row
    const isWrite = method !== 'GET'
    expect([path, rate, status, strict]).toEqual([
      path,
      isWrite ? 'writes' : 'reads',
      isWrite ? 202 : undefined,
      isWrite ? true : undefined,
    ])
    expect(path.startsWith('/v1/workspaces/:workspace_id/')).toBe(true)
    expect([path, row.needs.every(scope => scope.endsWith(isWrite ? ':write' : ':read'))]).toEqual([path, true])
  }
  expect(routes.filter(({ of, path }) => of === undefined && path.includes('workspace'))).toEqual([])
})

test('a row that is to go says since when, and until when', () => {
  const sample: Route = { ...(routes[0] as Route), path: '/v1/old', deprecated: { from: '2026-01-31', removal: '2026-08-01' } }
  const { paths } = JSON.parse(JSON.stringify(makeDocument([sample], makeSchemas(), { operator: 'x', basePath: '/api' })))
  expect(paths['/v1/old'].post).toMatchObject({ deprecated: true, 'x-deprecation-date': '2026-01-31', 'x-removal-date': '2026-08-01' })
})

test('rows that are to go stay for six months at least', () => {
  for (const { deprecated } of routes)
    if (deprecated) expect(Date.parse(deprecated.removal) - Date.parse(deprecated.from)).toBeGreaterThanOrEqual(181 * 86_400_000)
})

test('a browser may read every header that the document speaks of', async () => {
  const api = createApi(fakeGateway().gateway, { cors: { origins: '*' } })
  const { headers } = await ask(api, 'GET /healthz', { headers: { origin: 'https://app.example' } })
  const readable = [...(headers['access-control-expose-headers'] ?? '').split(', '), 'cache-control']
  const told = Object.values(document.paths).flatMap(methods =>
    Object.values(methods).flatMap(({ responses }) => Object.values(responses).flatMap(reply => Object.keys(reply.headers ?? {}))),
  )
  expect([...new Set(told)].filter(name => !readable.includes(name.toLowerCase()))).toEqual([])
})
