import { chatProvider } from '@signalbox/dialects'
import type { Failure } from '@signalbox/dialects/protocol'
import { compatible } from '@signalbox/providers'
import { expect, test } from 'vitest'
import { makeCandidate } from '../routing/plan.ts'
import { allFailedError } from './error-message.ts'
import { failureWithoutSecret } from './failure-without-secret.ts'
import { logFailure } from './log-failure.ts'

const secret = 'topsecret-0123456789'
const candidate = makeCandidate({
  model: { id: 'm', offers: [] },
  offer: { provider: 'local', model: 'theirs', api: 'chat' },
  provider: compatible({ id: 'local', baseURL: 'http://127.0.0.1:8000/api' }),
  credential: { id: 'local:platform', owner: 'platform', secret },
})

/** The log lines of an error response, and the message that the client receives. */
function told(status: number, body: string) {
  const decoded = chatProvider.decodeFailure({ status, body, header: () => undefined, now: 0 })
  const failure: Failure = { ...failureWithoutSecret(decoded, candidate.credential), provider: 'local' }
  const lines: object[] = []
  logFailure({ info: () => {}, warn: facts => void lines.push(facts), error: () => {} }, candidate, failure)
  return { lines, message: allFailedError([failure]).message }
}

test('an address that is not found is told to the client as such, and logged with its path and the text of the provider', () => {
  expect(told(404, '404 page not found')).toEqual({
    lines: [
      {
        provider: 'local',
        model: 'theirs',
        kind: 'unknown_address',
        status: 404,
        path: '/api/chat/completions',
        text: '404 page not found',
      },
    ],
    message: 'The address of local was not found (404): check its base URL (`baseURL`, or `base_url` in the config).',
  })
})

test.each([
  [401, JSON.stringify({ error: { message: `Incorrect key ${secret} of account 17.`, code: 'invalid_api_key' } }), 'of account 17.'],
  [403, JSON.stringify({ error: { message: 'Country not supported' } }), 'Country not supported'],
  [402, JSON.stringify({ error: { message: 'Add credit to account 17.' } }), 'Add credit to account 17.'],
  [404, JSON.stringify({ error: { message: 'The model theirs does not exist.' } }), 'The model theirs does not exist.'],
])(
  'a failure that only the operator can mend is logged with what the provider said, which no client receives: %i',
  (status, body, text) => {
    const { lines, message } = told(status, body)
    expect(lines).toMatchObject([{ status, path: '/api/chat/completions', text: expect.stringContaining(text) }])
    expect(JSON.stringify(lines)).not.toContain(secret)
    expect(message).not.toContain(text)
  },
)

test('text of the provider in the log is bounded, and what the client is told is not logged', () => {
  const [line] = told(404, 'x'.repeat(100_000)).lines
  expect(JSON.stringify(line).length).toBeLessThan(1_000)
  expect(told(400, JSON.stringify({ error: { message: 'Invalid image' } })).lines).toEqual([])
  expect(told(429, '').lines).toEqual([])
})
