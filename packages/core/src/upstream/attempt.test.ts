import { bedrockProvider, chatProvider } from '@signalbox/dialects'
import type { InferenceRequest, JsonObject, Quirks, Sink, Source, Transport } from '@signalbox/dialects/protocol'
import { expect, test } from 'vitest'
import { type Candidate, makeCandidate } from '../routing/plan.ts'
import { type Cancellation, createCancellation } from '../runtime/cancellation.ts'
import type { Clock, MediaReader } from '../runtime/ports.ts'
import { Attempt, type SelectedOffer, type UpstreamEngine } from './attempt.ts'

const logger = { info: () => {}, warn: () => {}, error: () => {} }

/** A clock that stands still; every timer fires when the test triggers it. */
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

const candidateOf = (dialect: typeof chatProvider, quirks: Quirks = {}): Candidate =>
  makeCandidate({
    model: { id: 'm', offers: [] },
    offer: { provider: 'p', model: 'm', api: dialect.name, quirks },
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

interface Call {
  readonly candidate?: Candidate
  readonly request?: InferenceRequest
  readonly cancellation?: Cancellation
  readonly deadlineAt?: number
  readonly ceilingMs?: number
  readonly clock?: Clock
  readonly media?: MediaReader
}

/** Makes one attempt, and returns its result with what it reported to the router. */
async function attempted(transport: Transport, call: Call = {}) {
  const { candidate = candidateOf(chatProvider), request = picture, cancellation = createCancellation() } = call
  const { deadlineAt = 60_000, ceilingMs = 500, clock = heldClock(), media } = call
  const reports: string[] = []
  const report = (name: string) => () => {
    reports.push(name)
    return {}
  }
  const router = { startAttempt: report('start'), recordFirstContent: report('content'), abandonAttempt: report('abandon') }
  const engine = { transport, clock, logger, media, router, timeouts: { idleMs: 1_000 } } as unknown as UpstreamEngine
  const selected = { candidate, contender: {}, choice: {} } as unknown as SelectedOffer
  const attempt = new Attempt({ engine, deadlineAt, lastSent: undefined, options: {} }, selected, ceilingMs, cancellation)
  const failure = await attempt.send(request)
  return { attempt, failure, accepted: attempt.isAccepted, reports }
}

const streamed: InferenceRequest = { ...picture, delivery: 'stream' }

const silent: Transport = ({ signal }) =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error))
  })

async function outcomeOf(limits: { readonly deadlineAt: number; readonly ceilingMs: number }) {
  const clock = heldClock()
  const trial = attempted(silent, { ...limits, clock })
  await new Promise(resolve => setImmediate(resolve))
  clock.fire()
  const { failure, accepted } = await trial
  return { outcome: { failure, accepted }, waits: clock.waits }
}

test('a provider that is silent for its time limit has timed out', async () => {
  const { outcome, waits } = await outcomeOf({ deadlineAt: 60_000, ceilingMs: 500 })
  expect(waits).toEqual([500])
  expect(outcome).toEqual({
    accepted: false,
    failure: { kind: 'timed_out', message: 'No content arrived within 500 ms.', provider: 'p' },
  })
})

test('if the request’s time ends before the provider’s timeout, the deadline has passed', async () => {
  const { outcome, waits } = await outcomeOf({ deadlineAt: 300, ceilingMs: 500 })
  expect(waits).toEqual([300])
  expect(outcome).toEqual({ accepted: false, failure: { kind: 'deadline', message: '', provider: 'p' } })
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
  await attempted(transport, { candidate: candidateOf(dialect, quirks), ceilingMs: 1_000, media })
  return { read, body }
}

test('a provider that takes bytes only is sent the image, read once, and never its URL', async () => {
  const { read, body } = await sentWith(bedrockProvider, { inlineMediaOnly: true })
  expect(read).toEqual(['https://pictures.test/cat.png'])
  const content = (JSON.parse(body) as { readonly messages: readonly { readonly content: readonly JsonObject[] }[] }).messages[0]?.content
  expect(content).toEqual([{ image: { format: 'png', source: { bytes: 'Q0FU' } } }])
})

test('a provider that takes URLs is sent the URL, and nothing is read for it', async () => {
  const { read, body } = await sentWith(chatProvider, {})
  expect(read).toEqual([])
  expect(body).toContain('https://pictures.test/cat.png')
})

/** A transport that ignores its signal, and what happens to its response. */
function deaf({ answers = true }: { readonly answers?: boolean } = {}) {
  const state = { sink: undefined as Sink<Uint8Array> | undefined, cancels: 0, answer: (): void => {} }
  const body: Source<Uint8Array> = {
    read: sink => {
      state.sink = sink
    },
    pause: () => {},
    resume: () => {},
    cancel: () => {
      state.cancels += 1
    },
  }
  const transport: Transport = () =>
    new Promise(resolve => {
      state.answer = () => resolve({ status: 200, header: () => undefined, body })
      if (answers) state.answer()
    })
  return { state, transport }
}

const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

async function timedOut(transport: Transport, sent: () => void = () => {}) {
  const clock = heldClock()
  const cancellation = createCancellation()
  const trial = attempted(transport, { request: streamed, cancellation, clock })
  await turn()
  sent()
  clock.fire()
  return { outcome: await trial, clock, cancellation }
}

test('a response that arrives after its attempt has failed is not read', async () => {
  const { state, transport } = deaf({ answers: false })
  expect((await timedOut(transport)).outcome.failure?.kind).toBe('timed_out')
  state.answer()
  await turn()
  expect([state.cancels, state.sink]).toEqual([1, undefined])
})

test('a response that is being read when its attempt fails is cancelled, and later data changes nothing', async () => {
  const { state, transport } = deaf()
  const bytes = (content: string): Uint8Array =>
    new TextEncoder().encode(`data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta: { role: 'assistant', content } }] })}\n\n`)
  const { outcome, clock, cancellation } = await timedOut(transport, () => state.sink?.next(bytes('')))
  expect([outcome.failure?.kind, state.cancels > 0]).toEqual(['timed_out', true])
  const timers = clock.waits.length
  state.sink?.next(bytes('late'))
  state.sink?.end()
  await turn()
  expect([clock.waits.length, cancellation.reason]).toEqual([timers, undefined])
})

test('a stream that breaks ends, also if the dialect does not report how', async () => {
  const { state, transport } = deaf()
  const mute = { ...chatProvider, decodeEvents: () => ({ read: () => [], end: () => [] }) }
  const trial = attempted(transport, { candidate: candidateOf(mute), request: streamed })
  await turn()
  state.sink?.next(new TextEncoder().encode('data: {}\n\n'))
  state.sink?.fail(new Error('broken'))
  expect((await trial).failure).toMatchObject({ kind: 'unreadable' })
})

test('a call that lost to its hedge is no longer in flight for the router, and is reported once', async () => {
  const { state, transport } = deaf()
  const trial = attempted(transport, { request: streamed })
  await turn()
  state.sink?.next(new TextEncoder().encode(`data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta: { content: 'a' } }] })}\n\n`))
  const { attempt, reports } = await trial
  attempt.reportEnd()
  attempt.reportEnd()
  expect(reports).toEqual(['start', 'content', 'abandon'])
})
