import { describe, expect, test } from 'vitest'
import { fakeGateway, goodKey } from '../../api/test/fake-gateway.ts'
import { rawCall } from './raw.ts'
import { auth, start } from './running.ts'

describe('keys', () => {
  const forms: readonly (readonly [string, string])[] = [
    ['missing', ''],
    ['unknown', 'authorization: Bearer ak_bad\r\n'],
    ['another scheme', `authorization: Basic ${goodKey}\r\n`],
    ['no scheme', `authorization: ${goodKey}\r\n`],
    ['empty', 'authorization:\r\n'],
    ['scheme only', 'authorization: Bearer\r\n'],
    ['two headers', auth + auth],
    ['two headers, one bad', `${auth}authorization: Bearer x\r\n`],
    ['joined by a comma', `authorization: Bearer ${goodKey}, Bearer ${goodKey}\r\n`],
    ['something behind it', `authorization: Bearer ${goodKey} x\r\n`],
    ['not ASCII', 'authorization: Bearer ak_gööd\r\n'],
    ['long', `authorization: Bearer ak_${'x'.repeat(10_000)}\r\n`],
    ['a tab', `authorization: Bearer\t${goodKey}\r\n`],
    ['elsewhere', `x-api-key: ${goodKey}\r\n`],
    ['a cookie', `cookie: authorization=Bearer ${goodKey}\r\n`],
  ]

  test('every malformed form is the same 401', async () => {
    const { port } = await start()
    const answers = new Set<string>()
    for (const [name, headers] of forms) {
      const { text } = await rawCall(port, `GET /v1/me HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${headers}\r\n`)
      expect(text, name).toMatch(/^HTTP\/1\.1 401 /)
      answers.add(text.replace(/x-request-id: .*\r\n/, '').replace(/date: .*\r\n/i, ''))
    }
    expect(answers.size).toBe(1)
    expect([...answers][0]).toMatch(/www-authenticate: Bearer\r\n/)
  })

  test.each([
    ['in lower case', `authorization: bearer ${goodKey}\r\n`],
    ['with spaces', `AUTHORIZATION:   BEARER   ${goodKey}   \r\n`],
  ])('%s a key is accepted', async (_, headers) => {
    const { port } = await start()
    const { text } = await rawCall(port, `GET /v1/me HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${headers}\r\n`)
    expect(text).toMatch(/^HTTP\/1\.1 200 /)
  })

  test('a key in the query is never accepted', async () => {
    const { port } = await start()
    const { text } = await rawCall(port, `GET /v1/me?api_key=${goodKey}&authorization=Bearer%20${goodKey} HTTP/1.1\r\nhost: x\r\n\r\n`)
    expect(text).toMatch(/^HTTP\/1\.1 401 /)
  })

  test('a NUL or 100 kB are refused by the parser, with the documented body and a request id', async () => {
    const { port } = await start()
    for (const [value, status] of [
      ['ak\0x', 400],
      [`ak_${'x'.repeat(100_000)}`, 431],
    ] as const) {
      const { text, closed } = await rawCall(port, `GET /v1/me HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${value}\r\n\r\n`)
      expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
      expect(text).toMatch(/x-request-id: /)
      expect(JSON.parse(text.slice(text.indexOf('{'))).error).toMatchObject({ code: 'invalid_request', param: null })
      expect(closed).toBe(true)
    }
  })

  test('a key without the scope gets the name of the scope', async () => {
    const fake = fakeGateway()
    const caller = await fake.gateway.authenticate(goodKey)
    const { url } = await start({}, fakeGateway({ authenticate: async () => ({ ...caller, scopes: new Set(['keys:read']) }) }))
    const response = await fetch(`${url}/v1/responses`, { method: 'POST', body: '{}' })
    expect([response.status, (await response.json()).error]).toEqual([
      403,
      expect.objectContaining({ code: 'operation_not_allowed', message: expect.stringContaining('inference:invoke') }),
    ])
  })
})
