import { chatProvider } from '@signalbox/dialects'
import type { Transport, TransportReply } from '@signalbox/dialects/protocol'
import { describe, expect, test } from 'vitest'
import { makeCandidate } from '../routing/plan.ts'
import { webClock } from '../runtime/web.ts'
import { type AnswerHandlers, Exchange, type ProviderRequest } from './send.ts'

const candidate = makeCandidate({
  model: { id: 'm', offers: [] },
  offer: { provider: 'p', model: 'm', api: 'chat' },
  provider: { id: 'p', dialects: [chatProvider], endpoint: () => 'http://p.test/', authorize: () => {} },
  credential: { id: 'c', owner: 'platform', secret: 'sk-secret-secret' },
})
const request: ProviderRequest = {
  candidate,
  dialect: chatProvider,
  encoded: { body: {}, warnings: [] },
  quirks: {},
  stream: false,
  signal: new AbortController().signal,
}
/** The failure that a request ends in. */
const failureOf = (transport: Transport): Promise<Parameters<AnswerHandlers['onFailure']>[0]> =>
  new Promise((resolve, reject) => {
    const unwanted = (): never => {
      throw new Error('It should have failed.')
    }
    const handlers = { onAccepted: () => {}, onBody: unwanted, onStream: unwanted, onFailure: resolve, onError: reject }
    new Exchange(request, { clock: webClock(), transport }, handlers).send()
  })
const failing = (reason: unknown) => failureOf(() => Promise.reject(reason))
const withCode = (code: unknown): Error => Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:443'), { code })

describe('why a provider could not be reached', () => {
  test.each([
    ['ECONNREFUSED', withCode('ECONNREFUSED'), '(ECONNREFUSED)'],
    ['ECONNRESET as the cause', new Error('x', { cause: withCode('ECONNRESET') }), '(ECONNRESET)'],
    ['UND_ERR_CONNECT_TIMEOUT', withCode('UND_ERR_CONNECT_TIMEOUT'), '(UND_ERR_CONNECT_TIMEOUT)'],
  ])('is reported by its code: %s', async (_, reason, message) => {
    expect(await failing(reason)).toEqual({ kind: 'unreachable', message })
  })

  test.each([
    ['a code that holds an address', withCode('connect 10.0.0.1:443')],
    ['a number', withCode(5)],
    ['a code in small letters', withCode('econnrefused')],
    ['a code of 41 letters', withCode('E'.repeat(41))],
    ['no code', new Error('getaddrinfo internal.host')],
    ['no error', 'connect 10.0.0.1:443'],
  ])('is not reported if it may contain a URL: %s', async (_, reason) => {
    expect(await failing(reason)).toEqual({ kind: 'unreachable', message: '' })
  })
})

test('a response that breaks off is reported by its code, without the URL', async () => {
  const body: TransportReply['body'] = { next: () => Promise.reject(withCode('ECONNRESET')) }
  const reply: TransportReply = { status: 200, header: () => undefined, body }
  expect(await failureOf(async () => reply)).toEqual({ kind: 'unreadable', message: '(ECONNRESET)', status: 200 })
})
