import { expect, test } from 'vitest'
import { bedrockProvider, chatProvider } from '../dialects/index.ts'
import type { Quirks } from '../protocol/model.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import type { JsonObject } from '../protocol/wire.ts'
import type { Candidate } from '../routing/plan.ts'
import { makeEnding } from '../runtime/ending.ts'
import type { Clock, MediaReader, Transport } from '../runtime/ports.ts'
import { attempt } from './attempt.ts'

const logger = { info: () => {}, warn: () => {}, error: () => {} }

/** Time that stands still; every timer that is set fires when told. */
function heldClock(): Clock & { readonly fire: () => void; readonly waits: readonly number[] } {
  const timers = new Map<object, () => void>()
  const waits: number[] = []
  return {
    waits,
    now: () => 0,
    monotonic: () => 0,
    setTimeout(run, milliseconds) {
      const timer = {}
      waits.push(milliseconds)
      timers.set(timer, run)
      return timer
    },
    clearTimeout: timer => void timers.delete(timer as object),
    fire: () => {
      for (const run of [...timers.values()]) run()
    },
  }
}

const candidateOf = (dialect: typeof chatProvider, quirks: Quirks = {}): Candidate => ({
  model: { id: 'm', offers: [] },
  offer: { provider: 'p', provider_model_id: 'm', dialect: dialect.name, quirks },
  provider: { id: 'p', dialects: [dialect], endpoint: () => 'http://p.test/', authorize: () => {} },
  credential: { id: 'c', owner: 'platform', secret: 'sk-secret-secret' },
})

const picture: InferenceRequest = {
  prompt: {
    input: [{ type: 'message', role: 'user', content: [{ type: 'image', url: 'https://pictures.test/cat.png' }] }],
  },
  routing: { models: ['m'], allow_fallbacks: true },
  delivery: 'whole',
}

const silent: Transport = ({ signal }) =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error))
  })

async function outcomeOf(limits: { readonly deadlineAt: number; readonly ceilingMs: number }) {
  const clock = heldClock()
  const trying = { candidate: candidateOf(chatProvider), request: picture, ending: makeEnding(), limits: { ...limits, idleMs: 1_000 } }
  const trial = attempt(trying, { transport: silent, clock, logger })
  await new Promise(resolve => setImmediate(resolve))
  clock.fire()
  return { outcome: await trial, waits: clock.waits }
}

test('a provider that is silent for as long as it may be has timed out', async () => {
  const { outcome, waits } = await outcomeOf({ deadlineAt: 60_000, ceilingMs: 500 })
  expect(waits).toEqual([500])
  expect(outcome).toEqual({
    ok: false,
    accepted: false,
    failure: { kind: 'timed_out', message: 'The limit of 500 ms passed.', provider: 'p' },
  })
})

test('where the time of the request is over before the patience with the provider, the deadline has passed', async () => {
  const { outcome, waits } = await outcomeOf({ deadlineAt: 300, ceilingMs: 500 })
  expect(waits).toEqual([300])
  expect(outcome).toEqual({ ok: false, accepted: false, failure: { kind: 'deadline', message: '', provider: 'p' } })
})

async function sentWith(
  dialect: typeof chatProvider,
  quirks: Quirks,
): Promise<{ readonly read: readonly string[]; readonly body: string }> {
  const read: string[] = []
  let body = ''
  const media: MediaReader = async url => {
    read.push(url)
    return { ok: true, mediaType: 'image/png', base64: 'Q0FU' }
  }
  const transport: Transport = async request => {
    body = request.body ?? ''
    throw new Error('enough')
  }
  const limits = { deadlineAt: 60_000, ceilingMs: 1_000, idleMs: 1_000 }
  const trying = { candidate: candidateOf(dialect, quirks), request: picture, ending: makeEnding(), limits }
  await attempt(trying, { transport, clock: heldClock(), logger, media })
  return { read, body }
}

test('a provider that takes bytes only is sent the picture, read once, and never its address', async () => {
  const { read, body } = await sentWith(bedrockProvider, { bytes_only: true })
  expect(read).toEqual(['https://pictures.test/cat.png'])
  const content = (JSON.parse(body) as { readonly messages: readonly { readonly content: readonly JsonObject[] }[] }).messages[0]?.content
  expect(content).toEqual([{ image: { format: 'png', source: { bytes: 'Q0FU' } } }])
})

test('a provider that takes addresses is sent the address, and nothing is read for it', async () => {
  const { read, body } = await sentWith(chatProvider, {})
  expect(read).toEqual([])
  expect(body).toContain('https://pictures.test/cat.png')
})
