import { expect, test } from 'vitest'
import { costOf } from '../../../core/src/metering/money.ts'
import { decode } from '../../test/laws.ts'
import { recordings } from '../../test/recordings.ts'
import { messagesProvider } from '../messages/provider.ts'
import { fold } from '../protocol/fold.ts'
import type { Usage } from '../protocol/response.ts'

test('a recorded compaction is billed whole and streamed', () => {
  const recording = recordings.find(({ name }) => name === 'anthropic/anthropic-compaction.1') ?? expect.fail('no recording')
  const price = { input: 5_000_000, output: 25_000_000 }
  const streamed = fold(decode(messagesProvider, recording.frames)).usage as Usage
  const whole = messagesProvider.decodeResponse(recording.whole ?? expect.fail('no body')).usage as Usage
  expect(costOf(price, streamed)).toBe(5 * (60_385 + 612) + 25 * (522 + 2_819))
  expect(costOf(price, whole)).toBe(5 * (60_385 + 682) + 25 * (592 + 1_320))
})
