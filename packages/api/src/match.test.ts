import { describe, expect, test } from 'vitest'
import { pathTest } from './index.ts'
import { managementRoutes } from './management/routes.ts'
import { createMatcher, isManagement } from './match.ts'
import type { Route } from './route.ts'
import { allRoutes as routes } from './routes.ts'

const match = createMatcher(routes, '')
const outcome = (method: string, path: string): unknown => {
  try {
    const found = match(method, path)
    return found.kind === 'row' ? [found.row.path, found.params] : [found.kind, found.allow]
  } catch (error) {
    const { code, status } = error as { code: string; status: number }
    return [status, code]
  }
}

describe('a path', () => {
  test.each(routes.map(row => [row.method, row.path] as const))('%s %s is found', (method, path) => {
    expect(outcome(method, path.replace(/:[a-z_]+\+?/g, 'x'))).toEqual([path, path.includes(':') ? expect.anything() : {}])
  })

  test.each([
    ['/v1/models/small', 'small'],
    ['/v1/models/meta/llama-3', 'meta/llama-3'],
    ['/v1/models/meta%2Fllama-3', 'meta/llama-3'],
    ['/v1/models/a%20b', 'a b'],
    ['/v1/models/..%2fme', '../me'],
    ['/v1/models/../me', '../me'],
    ['/v1/models/__proto__', '__proto__'],
  ])('%s names the model %s', (path, model_id) => {
    expect(outcome('GET', path)).toEqual(['/v1/models/:model_id+', { model_id }])
  })

  test.each([
    '',
    '/v1',
    '/v1/',
    '/v1/models/',
    '/v1/models/%',
    '/v1/models/%ff',
    '/v1/me/',
    '//v1/me',
    '/v1//me',
    '/v1/%6de',
    '/v1/me%2f',
    '/v1/me;a=b',
    '/V1/me',
    '/v1/ME',
    '/v1/m\u0435',
    '/v1/me ',
    '/v1/constructor',
    '/constructor',
    '/v1/responses/x',
  ])('"%s" is not found', path => {
    for (const method of ['GET', 'POST', 'OPTIONS', 'HEAD']) expect(outcome(method, path)).toEqual([404, 'resource_not_found'])
  })

  test('doubled prefixes are explained in the error, and the reserved one is named', () => {
    expect(() => match('POST', '/v1/v1/responses')).toThrow('"/v1/v1/"')
    expect(outcome('POST', '/v1/v1/responses')).toEqual([400, 'invalid_parameter_value'])
    expect(() => match('GET', '/v1beta/models')).toThrow('reserved')
  })

  test('with another method lists the allowed methods', () => {
    expect(outcome('DELETE', '/v1/models')).toEqual(['wrong_method', 'GET, HEAD, OPTIONS'])
    expect(outcome('constructor', '/v1/models')).toEqual(['wrong_method', 'GET, HEAD, OPTIONS'])
    expect(outcome('get', '/v1/models')).toEqual(['wrong_method', 'GET, HEAD, OPTIONS'])
    expect(outcome('OPTIONS', '/v1/responses')).toEqual(['options', 'POST, OPTIONS'])
    expect(outcome('HEAD', '/v1/responses')).toEqual(['wrong_method', 'POST, OPTIONS'])
  })

  test('may begin with a base path', () => {
    const based = createMatcher(routes, '/api')
    expect(based('GET', '/api/v1/me').kind).toBe('row')
    expect(() => based('GET', '/v1/me')).toThrow()
    expect(() => based('GET', '/apiv1/me')).toThrow()
  })

  test('outside the base path, or unknown below it, is shown in the error as the client sent it', () => {
    const based = createMatcher(routes, '/api')
    for (const path of ['/apix/v1/models', '/api2', '/v1/models'])
      expect(() => based('GET', path)).toThrow(`There is no endpoint at "${path}". The gateway is mounted with \`basePath: "/api"\``)
    expect(() => based('GET', '/api/v1/modles')).toThrow('There is no endpoint at "/api/v1/modles".')
    expect(() => based('GET', '/api/v1/v1/models')).toThrow('use "/api/v1/models"')
  })

  test('without "/v1", of which there is one with it, is told so', () => {
    expect(() => match('POST', '/responses')).toThrow('There is one at "/v1/responses": end the client\'s base URL with "/v1"')
    expect(() => createMatcher(routes, '/api')('POST', '/api/responses')).toThrow('There is one at "/api/v1/responses"')
    expect(() => match('POST', '/respond')).not.toThrow('There is one at')
  })

  test('can be looked up without a method', () => {
    const ours = pathTest({ basePath: '/api/' })
    for (const { path } of routes) expect(ours(`/api${path.replace(/:[a-z_]+\+?/g, 'x')}`)).toBe(true)
    for (const path of ['/', '/v1/me', '/api/v1', '/api/v1/users', '/api/v1/me?x=1', '/apiv1/me']) expect(ours(path)).toBe(false)
    expect(ours('/api')).toBe(true)
  })

  test('leaves "/" to the app if it is mounted without a base path', () => {
    expect(pathTest()('/')).toBe(false)
    expect(match('GET', '/')).toMatchObject({ kind: 'row' })
  })

  test('rows may have several parameters, and share a path', () => {
    const first = routes[0] as Route
    const many = createMatcher(
      [
        { ...first, method: 'GET', path: '/v1/w/:w/keys/:id' },
        { ...first, method: 'DELETE', path: '/v1/w/:w/keys/:id' },
        { ...first, method: 'GET', path: '/v1/w/:w/keys' },
      ],
      '',
    )
    expect(many('DELETE', '/v1/w/a/keys/b')).toMatchObject({ params: { w: 'a', id: 'b' } })
    expect(many('GET', '/v1/w/a/keys')).toMatchObject({ params: { w: 'a' } })
    expect(many('PATCH', '/v1/w/a/keys/b')).toMatchObject({ allow: 'GET, DELETE, HEAD, OPTIONS' })
    expect(() => many('GET', '/v1/w/a%2fb/keys')).toThrow()
    expect(() => many('GET', '/v1/w//keys')).toThrow()
  })
})

test('every management row, and no other, is below a management path', () => {
  const misplaced = routes.filter(row => isManagement(row.path, '') !== managementRoutes.includes(row))
  expect(misplaced.map(({ path }) => path)).toEqual([])
})
