import { inspect } from 'node:util'
import type { Hooks } from '@signalbox/core/runtime'
import { toFetchHandler } from '@signalbox/fetch-handler'
import { compatible } from '@signalbox/providers'
import { expect, onTestFinished, test } from 'vitest'
import { testGateway } from '../../src/gateway.ts'
import { bytesOf, modelOf, type RawAnswer, scriptedTransport } from '../scripted-transport.ts'

// A provider that quotes the key that it was called with, in the ways in which servers and proxies write what they received.

const secret = 'canaryoperator7f3a9c51/0b8e6d24+x=='
const bytes = Buffer.from(secret)
const escaped = secret.replace(/./g, letter => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Texts in JSON. */
const quotations: Readonly<Record<string, string>> = {
  'as it is': JSON.stringify(secret),
  'with every letter escaped': `"${escaped}"`,
  'in an address': JSON.stringify(`https://p.test/v1?key=${encodeURIComponent(secret)}`),
  'as Basic credentials': JSON.stringify(`Basic ${Buffer.from(`user:${secret}`).toString('base64')}`),
  'in hex': JSON.stringify(bytes.toString('hex')),
  'in JSON inside of JSON': JSON.stringify(JSON.stringify({ key: secret.replaceAll('/', '\\/') })),
  'folded over lines': JSON.stringify(`${secret.slice(0, 14)}\r\n ${secret.slice(14)}`),
  'at the place where long texts are cut': JSON.stringify(`${'long '.repeat(95)}${secret}`),
  'there, with every letter escaped': `"${'long '.repeat(95)}${escaped}"`,
}

const traces = [
  'operator7f3a',
  '0b8e6d24',
  bytes.toString('hex').slice(10, 30),
  ...[0, 1, 2].map(at => bytes.subarray(at).toString('base64').slice(8, 24)),
]

const errorIn = (quoted: string): string => `{"error":{"message":${quoted},"type":${quoted},"param":${quoted},"code":${quoted}}}`
const begun = 'data: {"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":"Hi"}}]}\n\n'

const answers: Readonly<Record<string, (quoted: string) => RawAnswer>> = {
  'a refusal': quoted => ({ status: 400, pieces: [bytesOf(errorIn(quoted))], headers: { 'content-type': 'application/json' } }),
  'a limit': quoted => ({ status: 429, pieces: [bytesOf(errorIn(quoted))], headers: { 'content-type': 'application/json' } }),
  'a stream that breaks': quoted => ({
    pieces: [bytesOf(begun), ...Array.from(bytesOf(`data: ${errorIn(quoted)}\n\n`), byte => Uint8Array.of(byte))],
  }),
}

const cases = Object.keys(answers).flatMap(kind => Object.keys(quotations).map(name => [kind, name] as const))

test.each(cases)('%s that quotes the key of the operator %s never reaches a client, a hook or the log', async (kind, name) => {
  const heard: unknown[] = []
  const hear = (...given: readonly unknown[]): void => void heard.push(given)
  const hooks: Hooks = Object.fromEntries(['onRoute', 'onFailure', 'onFirstContent', 'onFinish'].map(hook => [hook, hear]))
  const testbed = await testGateway({
    providers: [compatible({ id: 'p', baseURL: 'http://p.test/v1', apiKey: secret, apis: ['chat'] })],
    models: [modelOf('m', [{ provider: 'p', dialect: 'chat' }])],
    transport: scriptedTransport(() => answers[kind]?.(quotations[name] ?? '') ?? { pieces: [] }),
    hooks,
    logger: { info: hear, warn: hear, error: hear },
  })
  onTestFinished(() => testbed.close())
  const response = await toFetchHandler(testbed.gateway)('http://gateway.test/v1/chat/completions', {
    method: 'POST',
    headers: { authorization: `Bearer ${testbed.secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], stream: kind.startsWith('a stream') }),
  })
  const told = JSON.stringify([...response.headers]) + (await response.text())
  const all = told + inspect(heard, { depth: Number.POSITIVE_INFINITY, maxStringLength: null, maxArrayLength: null })
  expect(traces.filter(trace => all.includes(trace))).toEqual([])
  expect(told).toMatch(/redacted|could not be read|limits the rate/)
})
