import { codes } from '@signalbox/core/errors'
import { expect, test } from 'vitest'
import { makeDocument } from '../src/openapi.ts'
import { routes } from '../src/routes.ts'
import { makeSchemas } from '../src/schemas.ts'

interface Operation {
  readonly 'x-stability': string
  readonly security: readonly Readonly<Record<string, unknown>>[]
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content: Readonly<Record<string, unknown>> }>>
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

const document = JSON.parse(JSON.stringify(makeDocument(routes, makeSchemas(), 'signalbox'))) as Document
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
