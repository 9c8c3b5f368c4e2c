import { expect, test } from 'vitest'
import { readRecorded } from '../../test/recordings.ts'
import { geminiProvider } from './provider.ts'

const fail = (status: number, body: unknown) =>
  geminiProvider.decodeFailure({
    status,
    body: typeof body === 'string' ? body : JSON.stringify(body),
    header: () => undefined,
    now: Date.parse('2026-11-21T10:00:00Z'),
  })

test('the recorded 429 is a limit of requests per minute', () => {
  const body = readRecorded('google/google-429-retry-info.json')
  expect(fail(429, body)).toMatchObject({ kind: 'rate_limited', type: 'RESOURCE_EXHAUSTED', retryAfterMs: 34_400 })
})
