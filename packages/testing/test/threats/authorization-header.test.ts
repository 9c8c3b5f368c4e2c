import { toFetchHandler } from '@signalbox/fetch-handler'
import { serve } from '@signalbox/node-http'
import fc from 'fast-check'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { rawExchange } from '../raw-client.ts'
import { scene } from './scene.ts'

// Over bare sockets, as a client may write what it likes there.

const head = (path: string, headers: string): string => `GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${headers}\r\n`

async function served(): Promise<{ readonly secret: string; ask(headers: string, path?: string): ReturnType<typeof rawExchange> }> {
  const { gateway } = await scene()
  const { secret } = await gateway.workspaces('w').apiKeys.create({ name: 'key' })
  const { port, close } = await serve(gateway, { port: 0 })
  onTestFinished(() => close())
  return { secret, ask: (headers, path = '/v1/me') => rawExchange(port, head(path, headers)) }
}

/** A form, and whether it holds the key as it is to be sent. */
const forms: readonly (readonly [name: string, form: (key: string) => string, status: number])[] = [
  ['as documented', key => `Authorization: Bearer ${key}\r\n`, 200],
  ['in lower case', key => `authorization: bearer ${key}\r\n`, 200],
  ['with more spaces', key => `AUTHORIZATION:    BeArEr    ${key}   \r\n`, 200],
  ['not at all', () => '', 401],
  ['empty', () => 'authorization:\r\n', 401],
  ['without a scheme', key => `authorization: ${key}\r\n`, 401],
  ['of another scheme', key => `authorization: Basic ${Buffer.from(`x:${key}`).toString('base64')}\r\n`, 401],
  ['without a space', key => `authorization: Bearer${key}\r\n`, 401],
  ['with a tab', key => `authorization: Bearer\t${key}\r\n`, 401],
  ['in quotes', key => `authorization: Bearer "${key}"\r\n`, 401],
  ['twice', key => `authorization: Bearer ${key}\r\nauthorization: Bearer ${key}\r\n`, 401],
  ['twice, one of them wrong', key => `authorization: Bearer no\r\nAuthorization: Bearer ${key}\r\n`, 401],
  ['behind a comma', key => `authorization: Bearer no, Bearer ${key}\r\n`, 401],
  ['with something behind it', key => `authorization: Bearer ${key} x\r\n`, 401],
  ['in another case', key => `authorization: Bearer ${key.toUpperCase()}\r\n`, 401],
  ['escaped', key => `authorization: Bearer ${key.replace('_', '%5f')}\r\n`, 401],
  ['not in ASCII', key => `authorization: Bearer ${key}\xe9\r\n`, 401],
  ['with a NUL', key => `authorization: Bearer ${key}\0\r\n`, 400],
  ['of 10 kB', key => `authorization: Bearer ${key}${'x'.repeat(10_000)}\r\n`, 401],
  ['of 100 kB', key => `authorization: Bearer ${key}${'x'.repeat(100_000)}\r\n`, 431],
  ['on a folded line', key => `authorization: Bearer\r\n ${key}\r\n`, 400],
  ['in a header for proxies', key => `proxy-authorization: Bearer ${key}\r\nx-authorization: Bearer ${key}\r\n`, 401],
  ['in a cookie', key => `cookie: authorization=${key}; api_key=${key}\r\n`, 401],
  ['in a header of another dialect', key => `x-api-key: ${key}\r\napi-key: ${key}\r\nx-goog-api-key: ${key}\r\n`, 401],
]

describe('a key', () => {
  test.each(forms)('%s', async (_, form, status) => {
    const { secret, ask } = await served()
    const answer = await ask(form(secret))
    expect(answer.status).toBe(status)
    expect(answer.headers).toMatch(/x-request-id: \S+/i)
    if (status !== 200)
      expect(JSON.parse(answer.body).error).toMatchObject({ message: expect.any(String), type: expect.any(String), param: null })
  })

  test('is treated the same by a fetch handler', async () => {
    const { gateway } = await scene()
    const { secret } = await gateway.workspaces('w').apiKeys.create({ name: 'key' })
    const handler = toFetchHandler(gateway)
    let asked = 0
    for (const [name, form, status] of forms) {
      const lines = form(secret)
        .split('\r\n')
        .filter(line => line !== '' && !line.startsWith(' '))
      const headers = new Headers()
      // What no Headers can hold never gets here.
      if (status === 400 || status === 431) continue
      for (const line of lines) headers.append(line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim())
      const response = await handler(new Request('http://localhost/v1/me', { headers }))
      expect([name, response.status]).toEqual([name, status])
      asked += 1
    }
    expect(asked).toBeGreaterThan(15)
  })

  test('is not accepted in the query', async () => {
    const { secret, ask } = await served()
    for (const query of [`api_key=${secret}`, `key=${secret}`, `authorization=Bearer%20${secret}`, `access_token=${secret}`])
      expect((await ask('', `/v1/me?${query}`)).status).toBe(401)
  })

  test('is not accepted with any other bytes, and none of them cause an internal error', async () => {
    const { secret, ask } = await served()
    const byte = fc.integer({ min: 0, max: 255 }).map(code => String.fromCharCode(code))
    const piece = fc.oneof(
      fc.constantFrom(
        'Bearer',
        'bearer ',
        ' ',
        '  ',
        ',',
        ';',
        '\t',
        secret,
        secret.slice(0, -1),
        'ak_',
        '"',
        '=',
        '%00',
        'Basic ',
        '\r\n ',
        '\0',
      ),
      fc.array(byte, { maxLength: 8 }).map(bytes => bytes.join('')),
    )
    const value = fc.array(piece, { maxLength: 6 }).map(pieces => pieces.join(''))
    await fc.assert(
      fc.asyncProperty(value, async text => {
        const { status, body } = await ask(`authorization: ${text}\r\n`)
        const isGood = new RegExp(`^[ \\t]*bearer +${secret}[ \\t]*$`, 'i').test(text) && text.includes(secret)
        expect([text, isGood ? [200] : [400, 401]]).toEqual([text, expect.arrayContaining([status])])
        if (!isGood) expect(['invalid_api_key', 'invalid_request']).toContain(JSON.parse(body).error.code)
      }),
      { numRuns: inject('isLongRun') ? 400 : 60 },
    )
  })
})
