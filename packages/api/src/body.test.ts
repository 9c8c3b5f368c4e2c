import { runSteps } from '@signalbox/core/runtime'
import { describe, expect, test } from 'vitest'
import { parseBody, readBody } from './body.ts'

const refusal = (text: string): { code: string; param: string | undefined; message: string } => {
  try {
    parseBody(text)
  } catch (error) {
    const { code, facts, message } = error as { code: string; message: string; facts: { param?: string } }
    return { code, param: facts.param, message }
  }
  throw new Error('It was taken.')
}
const nested = (levels: number, inner = '1'): string => '['.repeat(levels) + inner + ']'.repeat(levels)

describe('a body', () => {
  test('must be a JSON object', () => {
    expect(parseBody('{"a":[1,{"b":"ü"}]}')).toEqual({ a: [1, { b: 'ü' }] })
    expect(parseBody('\uFEFF {"a":1}\n')).toEqual({ a: 1 })
    for (const text of ['', '  ', '[]', '1', 'null', '"x"', '{', '{"a":}', "{'a':1}", 'NaN', '{"a":1}x'])
      expect(refusal(text).code).toBe('invalid_request')
  })

  test('is not repeated in the message that refuses it', () => {
    expect(refusal('{"key":"sk-secret" oops').message).not.toContain('secret')
  })

  test('may be nested 64 levels deep, 128 in metadata, tools and text', () => {
    expect(parseBody(`{"input":${nested(63)}}`)).toBeTruthy()
    expect(refusal(`{"input":${nested(64)}}`).message).toContain('64')
    expect(parseBody(`{"tools":${nested(127)}}`)).toBeTruthy()
    for (const room of ['tools', 'text', 'metadata']) expect(refusal(`{"${room}":${nested(128)}}`).message).toContain('128')
    expect(refusal(`{"input":{"tools":${nested(64)}}}`).message).toContain('64')
    expect(refusal(`{"input":${nested(200_000)}}`).code).toBe('invalid_request')
    expect(refusal(`{"constructor":${nested(64)}}`).message).toContain('64')
  })

  test('must not use prototype names as keys, plain or escaped, at any depth', () => {
    expect(refusal('{"__proto__":{"x":1}}').param).toBe('__proto__')
    expect(refusal('{"a":[0,{"b":{"__proto__":1}}]}').param).toBe('a[1].b.__proto__')
    expect(refusal('{"a":{"\\u005f_proto__":{"x":1}}}').param).toBe('a.__proto__')
    expect(parseBody('{"a":"__proto__","constructor":1,"prototype":{}}')).toEqual({ a: '__proto__', constructor: 1, prototype: {} })
    expect(({} as Record<string, unknown>).x).toBeUndefined()
  })

  test('must not contain lone surrogates, in text or keys', () => {
    expect(refusal('{"input":[{"content":"\\ud83d"}]}').param).toBe('input[0].content')
    expect(refusal('{"a":{"\\udc00":1}}').param).toBe('a')
    expect(parseBody('{"a":"\\ud83d\\ude00","b":"\\u0000"}')).toEqual({ a: '😀', b: '\0' })
  })

  test('of 32 times the length costs about 32 times as much to check', () => {
    const textOf = (messages: number): string =>
      JSON.stringify({
        input: Array.from({ length: messages }, (_, at) => ({ role: 'user', content: `${at} \u2028 ${'x'.repeat(80)}` })),
      })
    const cpuMicroseconds = (text: string): number => {
      const before = process.cpuUsage()
      parseBody(text)
      const { user, system } = process.cpuUsage(before)
      return user + system
    }
    // The fastest of several: what else the machine does only adds to it. Quadratic code would cost 1,024 times as much.
    const fastest = (text: string): number => Math.min(...Array.from({ length: 5 }, () => cpuMicroseconds(text)))
    expect(fastest(textOf(9_600)) / fastest(textOf(300))).toBeLessThan(640)
  })
})

test.each([
  ['application/json', true],
  ['application/json; charset=utf-8', true],
  ['application/json;charset="UTF-8"', true],
  ['application/json; charset=utf8; profile=x', true],
  ['application/vnd.api+json; charset=utf-8', true],
  ['application/json; charset=iso-8859-1', false],
  ['application/json; charset=utf-16', false],
  ['application/json; charset=utf-8x', false],
  ['text/plain', false],
])('a body of the type %s is read: %s', (type, isRead) => {
  const visit = {
    request: {
      method: 'POST',
      path: '/',
      query: '',
      header: (name: string) => (name === 'content-type' ? type : undefined),
      text: () => ({ ok: true, text: '{}' }) as const,
      signal: new AbortController().signal,
    },
    site: { settings: { maxBodyBytes: 100 } },
    upload: undefined,
    close: false,
    headers: undefined,
  }
  const read = (): unknown => runSteps(readBody(visit))
  if (isRead) expect(read()).toBe('{}')
  else expect(read).toThrow('The body must be')
})
