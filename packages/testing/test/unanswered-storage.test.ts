import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { webClock } from '@signalbox/core/runtime'
import { chatProvider } from '@signalbox/dialects'
import type { InferenceEvent } from '@signalbox/dialects/protocol'
import { serve } from '@signalbox/node-http'
import type { Storage } from '@signalbox/storage'
import { memoryStorage } from '@signalbox/storage-memory'
import { describe, expect, test } from 'vitest'
import { type Act, fakeClock, scriptedProvider, type TestGatewayOptions, testGateway } from '../src/index.ts'
import { waitFor } from './waits.ts'

// A store, or a hook, that takes a call and never answers it, or answers it long after its request is over.

type Verb = `${'storage' | 'records' | 'counters' | 'ledger'}.${string}`

/** The same storage, some calls of which never resolve. */
function silent(storage: Storage) {
  const verbs = new Set<Verb>()
  const late: (() => void)[] = []
  const state = { doesIt: false }
  const watch = <Store extends object>(name: string, store: Store): Store =>
    new Proxy(store, {
      get(target, verb) {
        const method: unknown = Reflect.get(target, verb)
        if (typeof method !== 'function') return method
        return (...given: readonly unknown[]): unknown => {
          if (!verbs.has(`${name}.${String(verb)}` as Verb)) return method.apply(target, given)
          if (state.doesIt) method.apply(target, given)
          return new Promise(resolve => late.push(() => resolve(method.apply(target, given))))
        }
      },
    })
  const { records, counters, ledger, settle } = storage
  return {
    storage: {
      ...storage,
      records: watch('records', records),
      counters: watch('counters', counters),
      ledger: watch('ledger', ledger),
      ...watch('storage', { settle }),
    },
    /** From now on these are not answered. `doesIt`: they are done all the same. */
    hang(names: readonly Verb[], doesIt = false): void {
      state.doesIt = doesIt
      for (const name of names) verbs.add(name)
    },
    /** Resolves the pending calls, late, and all later ones. */
    answer(): void {
      verbs.clear()
      for (const resolve of late.splice(0)) resolve()
    },
  }
}

async function scene(options: Partial<TestGatewayOptions> = {}) {
  const clock = fakeClock()
  const kept = options.storage ?? memoryStorage()
  const { storage, hang, answer } = silent(kept)
  const provider = scriptedProvider({ id: 'p', dialect: chatProvider, clock })
  const { gateway, caller } = await testGateway({
    limits: { concurrentRequests: 1 },
    credit: 1_000_000,
    ...options,
    storage,
    clock,
    providers: [provider],
  })
  const credit = `credit:${caller.workspaceId}`
  const ask = (more: object = {}, signal?: AbortSignal) => {
    const body = { model: 'test-model', input: 'Hi', max_output_tokens: 10, gateway: { routing: { deadline_ms: 2_000 } }, ...more }
    const decoded = gateway.dialects.responses.decodeRequest(body, () => undefined)
    return gateway.infer(decoded, { caller, ...(signal && { signal }) })
  }
  const outcomeOf = (answer: Promise<unknown>) => {
    const seen = { code: '', at: -1 }
    answer.then(
      () => Object.assign(seen, { code: 'ok', at: clock.monotonic() }),
      (error: { code?: string }) => Object.assign(seen, { code: error.code ?? String(error), at: clock.monotonic() }),
    )
    return seen
  }
  const books = async () => {
    const { held, spent } = await kept.ledger.balance(credit)
    const rows = await kept.usage.list({ workspaceId: caller.workspaceId, from: 0, to: 1e15, limit: 100 })
    return { held, spent, rows: rows.map(({ result }) => result) }
  }
  return { clock, kept, hang, answer, provider, gateway, caller, ask, outcomeOf, books, credit }
}

const beforeCall: readonly (readonly [string, readonly Verb[]])[] = [
  ['rates', ['counters.take']],
  ['slots', ['counters.enter']],
  ['holds', ['ledger.reserve']],
  ['policies', ['records.find', 'records.list']],
  ['slots and what gives them back', ['counters.enter', 'counters.leave']],
]

describe.each(beforeCall)('a store that does not respond to %s', (_, verbs) => {
  test('ends the request at its deadline; a late result is released, and the next request is served', async () => {
    const { clock, hang, answer, provider, ask, outcomeOf, books } = await scene()
    await clock.advance(31_000)
    const from = clock.monotonic()
    hang(verbs)
    const outcome = outcomeOf(ask().whole())
    await clock.advance(1_999)
    expect(outcome.code).toBe('')
    await clock.advance(1)
    expect(outcome).toEqual({ code: 'deadline_exceeded', at: from + 2_000 })
    answer()
    await clock.advance(1_000)
    expect([provider.calls.length, await books()]).toEqual([0, { held: 0, spent: 0, rows: [] }])
    const next = outcomeOf(ask().whole())
    await clock.advance(100)
    expect([next.code, (await books()).rows, (await books()).held]).toEqual(['ok', ['ok'], 0])
  })

  test('ends the request when its client disconnects', async () => {
    const { clock, hang, provider, ask, outcomeOf } = await scene()
    await clock.advance(31_000)
    hang(verbs)
    const client = new AbortController()
    const outcome = outcomeOf(ask({}, client.signal).whole())
    await clock.advance(500)
    expect(outcome.code).toBe('')
    client.abort()
    await clock.advance(0)
    expect([outcome.code, provider.calls.length]).toEqual(['client_disconnected', 0])
  })
})

test.each([0, 1, 2, 3, 4])(
  'a client that disconnects %i microtasks after its admission was answered leaves no hold or slot',
  async turns => {
    const { clock, hang, answer, ask, outcomeOf, books } = await scene()
    hang(['ledger.reserve'])
    const client = new AbortController()
    const outcome = outcomeOf(ask({}, client.signal).whole())
    await clock.advance(100)
    answer()
    let then = Promise.resolve()
    for (let turn = 0; turn < turns; turn++) then = then.then(() => {})
    void then.then(() => client.abort())
    await clock.advance(100)
    expect([outcome.code, (await books()).held]).toEqual(['client_disconnected', 0])
    const next = outcomeOf(ask().whole())
    await clock.advance(100)
    expect(next.code).toBe('ok')
  },
)

test('a hold that was placed and never confirmed is free again within two minutes', async () => {
  const { clock, hang, answer, ask, outcomeOf, books, gateway } = await scene()
  hang(['ledger.reserve'], true)
  const outcome = outcomeOf(ask().whole())
  await clock.advance(2_000)
  expect([outcome.code, (await books()).held > 0]).toEqual(['deadline_exceeded', true])
  hang([])
  for (let second = 0; second < 12; second++) {
    await gateway.health()
    await clock.advance(10_000)
  }
  expect(await books()).toMatchObject({ held: 0, spent: 0 })
  answer()
  await clock.advance(1_000)
  expect(await books()).toMatchObject({ held: 0, spent: 0 })
})

describe('a `transformRequest` hook that does not resolve', () => {
  const prepared = async () => {
    const late: { resolve?: (value: never) => void; reject?: (error: Error) => void } = {}
    const here = await scene({
      transformRequest: () =>
        new Promise((resolve, reject) => {
          Object.assign(late, { resolve, reject })
        }),
    })
    return { ...here, late }
  }

  test.each(['resolve', 'reject'] as const)('ends the request at its deadline, and a late %s changes nothing', async how => {
    const { clock, provider, ask, outcomeOf, books, late } = await prepared()
    const outcome = outcomeOf(ask().whole())
    await clock.advance(2_000)
    expect(outcome).toMatchObject({ code: 'deadline_exceeded', at: 2_000 })
    if (how === 'resolve') late.resolve?.({} as never)
    else late.reject?.(new Error('too late'))
    await clock.advance(60_000)
    expect([provider.calls.length, await books(), clock.pending()]).toEqual([0, { held: 0, spent: 0, rows: [] }, 0])
  })

  test('ends the request when its client disconnects, and a closing gateway does not wait for it', async () => {
    const { clock, ask, outcomeOf, gateway } = await prepared()
    const client = new AbortController()
    const left = outcomeOf(ask({}, client.signal).whole())
    const closed = outcomeOf(ask().whole())
    client.abort()
    await clock.advance(0)
    expect(left.code).toBe('client_disconnected')
    void gateway.close()
    await clock.advance(100)
    expect(closed.code).toBe('service_unavailable')
  })

  test('ends a token count at its deadline', async () => {
    const { clock, gateway, caller, outcomeOf } = await prepared()
    const body = { model: 'test-model', input: 'Hi', gateway: { routing: { deadline_ms: 2_000 } } }
    const asked = gateway.dialects.responses.decodeRequest(body, () => undefined)
    // Loads the code of token counts too, which takes time of another clock.
    await gateway.callableOffers(caller)
    const outcome = outcomeOf(gateway.countTokens(asked, caller))
    await clock.advance(2_000)
    expect(outcome.code).toBe('deadline_exceeded')
  })
})

/** Text without end, more than its hold pays for. */
const endless: Act = async ({ signal, writer }) => {
  const asked = { model: 'm', includeUsage: true }
  const { opening } = writer.write({ text: 'x' }, asked)
  return {
    status: 200,
    frames: (async function* () {
      yield opening
      for (let at = 0; !signal.aborted && at < 100_000; at++) yield [writer.textFrame('It goes on and on. ', asked)]
    })(),
  }
}

test('a deadline that passes while a hold is extended is reported as the deadline at once, and settled once', async () => {
  const { clock, hang, answer, provider, ask, books } = await scene({ credit: 1_000_000_000 })
  provider.play(endless)
  hang(['ledger.extend'])
  const events: InferenceEvent[] = []
  const seen = { endedAt: -1 }
  ask({ stream: true, max_output_tokens: 1_000 })
    .events()
    .read({
      next: batch => void events.push(...batch),
      end: () => {
        seen.endedAt = clock.monotonic()
      },
      fail: () => {},
    })
  await clock.advance(1_999)
  expect([seen.endedAt, events.some(({ type }) => type === 'delta')]).toEqual([-1, true])
  await clock.advance(1)
  expect(seen.endedAt).toBe(2_000)
  expect(events.at(-1)).toMatchObject({ outcome: { status: 'failed', error: { kind: 'deadline', code: 'deadline_exceeded' } } })
  answer()
  await clock.advance(30_000)
  const { held, spent, rows } = await books()
  expect([held, rows, spent > 0, provider.calls[0]?.aborted]).toEqual([0, ['error'], true, true])
})

const settling: readonly (readonly [string, readonly Verb[], boolean])[] = [
  ['takes the settlement and never says so', ['storage.settle'], true],
  ['loses the settlement', ['storage.settle'], false],
]

test.each(settling)('a response whose store %s is returned within 11 s, and settled once', async (_, verbs, doesIt) => {
  const { clock, hang, answer, ask, outcomeOf, books } = await scene()
  hang(verbs, doesIt)
  const outcome = outcomeOf(ask({ gateway: {} }).whole())
  await clock.advance(11_000)
  expect(outcome.code).toBe('ok')
  answer()
  await clock.advance(10_000)
  const first = await books()
  expect(first).toMatchObject({ held: 0, rows: ['ok'] })
  const next = outcomeOf(ask().whole())
  await clock.advance(100)
  expect([next.code, (await books()).spent]).toEqual(['ok', first.spent * 2])
})

test('a gateway closes even if neither its store nor its spool responds', async () => {
  const never = (): Promise<never> => new Promise(() => {})
  const { clock, hang, ask, outcomeOf, gateway } = await scene({
    storage: { ...memoryStorage(), spool: { append: never, clear: never, adopt: never }, close: never },
  })
  hang(['storage.settle'])
  outcomeOf(ask().whole())
  await clock.advance(100)
  const closed = outcomeOf(gateway.close())
  await clock.advance(120_000)
  expect(closed.code).toBe('ok')
})

describe('over sockets', () => {
  async function server(transformRequest: () => Promise<never>) {
    const { gateway, secret, caller } = await testGateway({
      transformRequest,
      providers: [scriptedProvider({ id: 'p', dialect: chatProvider, clock: webClock() })],
      limits: { concurrentRequests: 1 },
    })
    const running = await serve(gateway, { port: 0 })
    const send = (deadline_ms: number) => {
      const asked = httpRequest(`${running.url}/v1/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      })
      asked.on('error', () => {})
      asked.end(JSON.stringify({ model: 'test-model', input: 'Hi', gateway: { routing: { deadline_ms } } }))
      return asked
    }
    return { gateway, caller, send, close: () => Promise.all([running.close({ graceMs: 120_000 }), gateway.close({ graceMs: 120_000 })]) }
  }

  test('a `transformRequest` that does not resolve ends in a 504 at the deadline of the request', async () => {
    const { send, close } = await server(() => new Promise(() => {}))
    const [response] = await once(send(200), 'response')
    expect(response.statusCode).toBe(504)
    await close()
  })

  test('a client that disconnects frees its request, even if `transformRequest` does not resolve', async () => {
    let prepared = 0
    const { send, close } = await server(() => {
      prepared += 1
      return new Promise(() => {})
    })
    const asked = send(60_000)
    await waitFor(() => expect(prepared).toBe(1))
    asked.destroy()
    await close()
  })
})
