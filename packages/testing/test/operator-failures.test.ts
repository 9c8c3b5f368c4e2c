import { chatProvider } from '@signalbox/dialects'
import type { InferenceRequest } from '@signalbox/dialects/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { type Act, acts, scriptedProvider, testGateway } from '../src/index.ts'

// Failures that only the operator can mend: one line of the log for each, with what the provider said.

const request: InferenceRequest = {
  prompt: { input: [{ type: 'message', role: 'user', content: [{ type: 'text', text: 'Hi' }] }] },
  routing: { models: ['test-model'], allow_fallbacks: false },
  delivery: 'stream',
}

const rows: readonly (readonly [when: string, act: Act, line: object])[] = [
  [
    'before the response',
    acts.status(404, { message: 'No such path.', code: 'none' }),
    { status: 404, kind: 'unknown_address', text: 'No such path.' },
  ],
  [
    'as its first event',
    acts.errorFirst('insufficient_quota', 'Pay for account 17.'),
    { kind: 'out_of_quota', text: 'Pay for account 17.' },
  ],
  [
    'after its first content',
    acts.errorAfter(2, 'insufficient_quota', 'Pay for account 17.'),
    { kind: 'out_of_quota', text: 'Pay for account 17.' },
  ],
]

test.each(rows)('a failure %s is logged once with the text of the provider, which the client does not receive', async (_, act, line) => {
  const lines: object[] = []
  const logger = { info: () => {}, warn: (facts: object) => void lines.push(facts), error: () => {} }
  const provider = scriptedProvider({ id: 'scripted', dialect: chatProvider, acts: [act] })
  const { gateway, caller, close } = await testGateway({ providers: [provider], logger })
  onTestFinished(close)
  const outcome = await gateway
    .infer(request, { caller })
    .whole()
    .catch((error: unknown) => error)
  const told =
    outcome instanceof Error
      ? outcome.message
      : JSON.stringify((outcome as { outcome: { error?: { message?: string } } }).outcome.error?.message)
  expect(lines.filter(facts => 'kind' in facts)).toMatchObject([line])
  expect(told).not.toContain('account 17')
  expect(told).not.toContain('No such path')
})
