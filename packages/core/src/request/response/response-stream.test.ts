import type { InferenceEvent, Sink, Usage } from '@signalbox/dialects/protocol'
import type { Awaitable } from '@signalbox/storage'
import { fakeClock } from '@signalbox/testing'
import { describe, expect, test } from 'vitest'
import { createMeter, type MeteredAnswer } from '../../metering/meter.ts'
import { createUsageDrains, usageDrainLimits } from '../../metering/usage-drains.ts'
import type { AnswerStream } from '../../upstream/answer-stream.ts'
import { startTimer } from '../../upstream/answer-timer.ts'
import type { EventBatch } from '../../upstream/event-batches.ts'
import { ResponseStream, type ResponseStreamContext } from './response-stream.ts'

const delta = (text: string): InferenceEvent => ({ type: 'delta', index: 0, delta: { kind: 'text', part: 0, text } })
const usage: Usage = {
  input_tokens: 1,
  output_tokens: 1,
  cached_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
  estimated: true,
}
const received: Usage = { ...usage, output_tokens: 7, estimated: false }
const finished: InferenceEvent = { type: 'finished', outcome: { status: 'completed' } }
const finishedWithUsage: InferenceEvent = { ...finished, usage: received }
const gone = [{ type: 'finished', outcome: { status: 'failed', error: { kind: 'client_left', code: 'client_disconnected', message: '' } } }]

/** A response whose batches the test pushes. What is pushed while it is paused waits, as it does in a real one. */
function pushedAnswer() {
  const waiting: EventBatch[] = []
  const state = { sink: undefined as Sink<EventBatch> | undefined, isPaused: true, isBlocked: false, cancels: 0, isEnding: false }
  let latest: Promise<unknown> | undefined
  const flush = (): void => {
    while (!state.isPaused && !state.isBlocked && state.cancels === 0 && waiting.length > 0) state.sink?.next(waiting.shift() ?? [])
    if (state.isEnding && !state.isPaused && !state.isBlocked && state.cancels === 0 && waiting.length === 0) {
      state.isEnding = false
      state.sink?.end()
    }
  }
  const cancel = (): void => {
    state.cancels += 1
  }
  const source: AnswerStream = {
    read(sink) {
      state.sink = sink
      state.isPaused = false
      flush()
    },
    pause: () => {
      state.isPaused = true
    },
    resume: () => {
      state.isPaused = false
      flush()
    },
    hold: work => {
      latest = work
      state.isBlocked = true
      const done = (): void => {
        if (latest !== work) return
        state.isBlocked = false
        flush()
      }
      work.then(done, done)
    },
    cancel,
    timer: startTimer(fakeClock(), { milliseconds: 1, now: 0 }, () => {}),
    stop: cancel,
    close: () => {
      cancel()
      return []
    },
  }
  const push = (...batches: readonly EventBatch[]): void => {
    waiting.push(...batches)
    flush()
  }
  const end = (): void => {
    state.isEnding = true
    flush()
  }
  return { source, state, push, end }
}

/** A client that records what it receives. */
function noting() {
  const batches: EventBatch[] = []
  const state = { batches, ends: 0, failures: [] as unknown[] }
  const sink: Sink<EventBatch> = {
    next: batch => void batches.push(batch),
    end: () => {
      state.ends += 1
    },
    fail: error => void state.failures.push(error),
  }
  return { state, sink }
}

const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

/** A promise that the test resolves. */
function held<T>() {
  let resolve = (_: T): void => {}
  let reject = (_: unknown): void => {}
  const promise = new Promise<T>((onValue, onError) => {
    resolve = onValue
    reject = onError
  })
  return { promise, resolve: (value: T) => resolve(value), reject: (error: unknown) => reject(error) }
}

interface Wanted {
  readonly pipeline?: ResponseStreamContext['pipeline']
  readonly running?: ResponseStreamContext['running']
  readonly settled?: (seen: MeteredAnswer) => Awaitable<Usage>
}

function open({ pipeline = batch => batch, running, settled = () => usage }: Wanted = {}) {
  const clock = fakeClock()
  const drains = createUsageDrains(clock)
  const ends: MeteredAnswer[] = []
  const settle = (seen: MeteredAnswer): Awaitable<Usage> => {
    ends.push(seen)
    return settled(seen)
  }
  const answer = pushedAnswer()
  const stream = new ResponseStream(answer.source, { pipeline, meter: createMeter(clock), running, drains, settle })
  const { state: client, sink } = noting()
  return { clock, drains, ends, answer, stream, client, sink }
}

describe('the end of a response', () => {
  test('is settled before it is passed on, and carries the billed usage', () => {
    const { answer, stream, client, sink, ends } = open({
      settled: () => {
        expect(client.batches).toEqual([[delta('ab')]])
        return usage
      },
    })
    stream.read(sink)
    answer.push([delta('ab')])
    expect(ends).toHaveLength(0)
    answer.push([delta('c'), finished])
    answer.end()
    expect(client).toEqual({ batches: [[delta('ab')], [delta('c'), { ...finished, usage }]], ends: 1, failures: [] })
    expect(ends).toMatchObject([{ characters: 3, outcome: { status: 'completed' } }])
  })

  test('waits for an asynchronous settlement', async () => {
    const settling = held<Usage>()
    const { answer, stream, client, sink } = open({ settled: () => settling.promise })
    stream.read(sink)
    answer.push([finished])
    await turn()
    expect([client.batches, client.ends]).toEqual([[], 0])
    settling.resolve(usage)
    await turn()
    expect([client.batches, client.ends]).toEqual([[[{ ...finished, usage }]], 1])
  })

  test('reaches the client even if the client disconnects during settlement', async () => {
    const settling = held<Usage>()
    const { answer, stream, client, sink, ends } = open({ settled: () => settling.promise })
    stream.read(sink)
    answer.push([finished])
    const left = stream.leave()
    await turn()
    settling.resolve(usage)
    await left
    await turn()
    expect(client).toEqual({ batches: [[{ ...finished, usage }]], ends: 1, failures: [] })
    expect([ends.length, ends[0]?.leftAt]).toEqual([1, undefined])
  })

  test('is settled once, however often the client disconnects after it', async () => {
    const { answer, stream, sink, ends } = open()
    stream.read(sink)
    answer.push([delta('a'), finished])
    await Promise.all([stream.leave(), stream.leave()])
    stream.cancel()
    expect([ends.length, answer.state.cancels]).toEqual([1, 0])
  })

  test.each([
    [
      'throws',
      () => {
        throw new Error('no store')
      },
    ],
    ['rejects', () => Promise.reject(new Error('no store'))],
  ] as const)('is passed on if settlement %s, and is not settled twice', async (_, settled) => {
    const { answer, stream, client, sink, ends } = open({ settled })
    stream.read(sink)
    answer.push([delta('a')], [finished])
    await turn()
    expect(client.failures.map(String)).toEqual(['Error: no store'])
    expect([client.batches, client.ends, ends.length]).toEqual([[[delta('a')]], 0, 1])
  })
})

describe('a client that disconnects', () => {
  test('before its first read has the response closed and counted once', async () => {
    const { answer, stream, client, sink, ends } = open()
    await stream.leave()
    await stream.leave()
    expect(ends).toMatchObject([{ characters: 0 }])
    expect(answer.state.cancels).toBe(1)
    stream.read(sink)
    expect(client).toEqual({ batches: [gone], ends: 1, failures: [] })
  })

  test('while no event arrives is sent the end at once', async () => {
    const { answer, stream, client, sink, ends, drains } = open()
    drains.stop()
    stream.read(sink)
    answer.push([delta('ab')])
    const left = stream.leave()
    expect(client).toEqual({ batches: [[delta('ab')], gone], ends: 1, failures: [] })
    await left
    expect(ends).toMatchObject([{ characters: 2 }])
    expect(ends[0]?.outcome).toBeUndefined()
    expect(answer.state.cancels).toBe(1)
  })

  test('and cancels receives nothing more', async () => {
    const { answer, stream, client, sink, ends } = open()
    stream.read(sink)
    answer.push([delta('ab')])
    stream.cancel()
    answer.push([delta('c'), finishedWithUsage])
    await turn()
    expect(client).toEqual({ batches: [[delta('ab')]], ends: 0, failures: [] })
    expect(ends).toMatchObject([{ characters: 2, usage: received }])
  })

  test('before any content ends the response without reading on, since nothing is owed', async () => {
    const { answer, stream, sink, ends, clock } = open()
    stream.read(sink)
    answer.push([{ type: 'started', id: 'r', model: 'm', created_at: 1 }])
    await stream.leave()
    expect([ends.length, answer.state.cancels, clock.pending()]).toEqual([1, 1, 0])
  })
})

describe('reading on after the client has disconnected', () => {
  const leaving = async (wanted: Wanted = {}) => {
    const opened = open(wanted)
    opened.stream.read(opened.sink)
    opened.answer.push([delta('ab')])
    const state = { isOver: false }
    void opened.stream.leave().then(() => {
      state.isOver = true
    })
    await turn()
    return { ...opened, state }
  }

  test('collects the usage, and passes nothing on', async () => {
    const { answer, stream, client, ends, state, clock } = await leaving()
    expect([state.isOver, stream.isDraining(), ends.length]).toEqual([false, true, 0])
    answer.push([delta('cd')])
    answer.push([finishedWithUsage])
    await turn()
    expect([state.isOver, stream.isDraining(), clock.pending()]).toEqual([true, false, 0])
    expect(ends).toMatchObject([{ characters: 2, outcome: { status: 'completed' }, usage: received, leftAt: 0 }])
    expect(client).toEqual({ batches: [[delta('ab')], gone], ends: 1, failures: [] })
  })

  test('ends after its time limit and closes the response', async () => {
    const { answer, ends, state, clock } = await leaving()
    await clock.advance(usageDrainLimits.milliseconds - 1)
    expect([state.isOver, answer.state.cancels]).toEqual([false, 0])
    await clock.advance(1)
    expect([state.isOver, answer.state.cancels, ends.length]).toEqual([true, 1, 1])
  })

  test('ends at its limit if the response does not end', async () => {
    const { answer, ends, state, clock } = await leaving()
    answer.push([delta('x'.repeat(usageDrainLimits.characters))])
    await turn()
    expect(state.isOver).toBe(false)
    answer.push([delta('x')])
    await turn()
    expect([state.isOver, answer.state.cancels, ends.length, clock.pending()]).toEqual([true, 1, 1, 0])
    expect(ends[0]).toMatchObject({ characters: 2 })
  })

  test('ends when the response fails', async () => {
    const { answer, ends, state, clock } = await leaving()
    answer.push([{ type: 'finished', outcome: { status: 'failed', error: { kind: 'unreadable', message: '' } } }])
    await turn()
    expect([state.isOver, ends.length, clock.pending()]).toEqual([true, 1, 0])
  })

  test('continues even if the client had paused the response', async () => {
    const { answer, stream, sink, ends } = open()
    stream.read(sink)
    answer.push([delta('ab')])
    stream.pause()
    answer.push([delta('c')], [finishedWithUsage])
    await stream.leave()
    expect(ends).toMatchObject([{ characters: 2, usage: received }])
  })

  test('includes the batches that the pipeline was still processing', async () => {
    const sealing = held<EventBatch>()
    const { answer, stream, sink, client, ends } = open({ pipeline: batch => (batch.length === 2 ? sealing.promise : batch) })
    stream.read(sink)
    answer.push([delta('ab')], [delta('c'), delta('d')], [finishedWithUsage])
    const left = stream.leave()
    sealing.resolve([delta('c'), delta('d')])
    await left
    expect(ends).toMatchObject([{ characters: 2, usage: received }])
    expect(client).toEqual({ batches: [[delta('ab')], gone], ends: 1, failures: [] })
  })

  test('is stopped when the gateway closes', async () => {
    const { drains, ends, state, answer } = await leaving()
    drains.stop()
    await turn()
    expect([state.isOver, ends.length, answer.state.cancels]).toEqual([true, 1, 1])
  })
})

describe('a pipeline', () => {
  const throwing: readonly (readonly [string, ResponseStreamContext['pipeline']])[] = [
    [
      'throws',
      () => {
        throw new Error('broken')
      },
    ],
    ['rejects', () => Promise.reject(new Error('broken'))],
  ]
  test.each(throwing)('that %s ends the response, which is settled once', async (_, pipeline) => {
    const { answer, stream, client, sink, ends } = open({ pipeline })
    stream.read(sink)
    answer.push([delta('ab')], [finished])
    await turn()
    expect(client.failures.map(String)).toEqual(['Error: broken'])
    expect([ends.length, answer.state.cancels]).toEqual([1, 1])
    expect(ends[0]).toMatchObject({ characters: 0, errorCode: 'internal_error' })
    await stream.leave()
    expect([ends.length, client.ends, client.batches]).toEqual([1, 0, []])
  })

  test('that is asynchronous keeps the order, and the response waits for it', async () => {
    const sealing = held<EventBatch>()
    const { answer, stream, client, sink } = open({ pipeline: batch => (batch.length === 2 ? sealing.promise : batch) })
    stream.read(sink)
    answer.push([delta('a')], [delta('b'), delta('c')], [delta('d')], [finished])
    await turn()
    expect([client.batches, answer.state.isBlocked]).toEqual([[[delta('a')]], true])
    sealing.resolve([delta('B')])
    await turn()
    expect(client.batches).toEqual([[delta('a')], [delta('B')], [delta('d')], [{ ...finished, usage }]])
  })

  test('that replaces a batch determines what is metered', () => {
    const { answer, stream, sink, ends } = open({ pipeline: batch => [...batch.filter(({ type }) => type !== 'delta'), delta('x')] })
    stream.read(sink)
    answer.push([delta('long words')])
    answer.push([delta('more'), finished])
    expect(ends).toMatchObject([{ characters: 2 }])
  })
})

describe('a client that pauses', () => {
  test('receives nothing until it resumes', () => {
    const { answer, stream, client, sink } = open()
    stream.read(sink)
    answer.push([delta('a')])
    stream.pause()
    answer.push([delta('b')])
    expect([client.batches.length, answer.state.isPaused]).toEqual([1, true])
    stream.resume()
    expect([client.batches, answer.state.isPaused]).toEqual([[[delta('a')], [delta('b')]], false])
  })

  test('while the pipeline processes a batch receives later batches only after it', async () => {
    const sealing = held<EventBatch>()
    const { answer, stream, client, sink } = open({ pipeline: batch => (batch.length === 2 ? sealing.promise : batch) })
    stream.read(sink)
    answer.push([delta('a'), delta('b')], [delta('c')])
    stream.pause()
    sealing.resolve([delta('ab')])
    await turn()
    expect(answer.state.isPaused).toBe(true)
    expect(client.batches).not.toContainEqual([delta('c')])
    stream.resume()
    expect(client.batches).toEqual([[delta('ab')], [delta('c')]])
  })

  test('and resumes while the pipeline processes a batch still waits for that batch', async () => {
    const sealing = held<EventBatch>()
    const { answer, stream, client, sink } = open({ pipeline: batch => (batch.length === 2 ? sealing.promise : batch) })
    stream.read(sink)
    answer.push([delta('a'), delta('b')], [delta('c')])
    stream.pause()
    stream.resume()
    expect([answer.state.isBlocked, client.batches]).toEqual([true, []])
    sealing.resolve([delta('ab')])
    await turn()
    expect(client.batches).toEqual([[delta('ab')], [delta('c')]])
  })
})

describe('the running cost limit of a response', () => {
  const limitOf = (characters: number, passed: () => Awaitable<void>) => ({ characters, passed })

  test('is checked once it is exceeded, and not before', () => {
    let checks = 0
    const running = limitOf(3, () => {
      checks += 1
      running.characters += 3
    })
    const { answer, stream, client, sink } = open({ running })
    stream.read(sink)
    answer.push([delta('abc')])
    expect(checks).toBe(0)
    answer.push([delta('d')])
    expect(checks).toBe(1)
    answer.push([delta('ef')])
    expect(checks).toBe(1)
    expect(client.batches).toHaveLength(3)
  })

  test('holds the response until more credit is held', async () => {
    const extending = held<void>()
    const running = limitOf(1, () => {
      running.characters = 100
      return extending.promise
    })
    const { answer, stream, client, sink } = open({ running })
    stream.read(sink)
    answer.push([delta('ab')], [delta('c')])
    await turn()
    expect([client.batches, answer.state.isBlocked]).toEqual([[[delta('ab')]], true])
    extending.resolve()
    await turn()
    expect(client.batches).toEqual([[delta('ab')], [delta('c')]])
  })

  test('is not checked at the end of the response, which settlement handles', () => {
    let checks = 0
    const running = limitOf(0, () => {
      checks += 1
    })
    const { answer, stream, sink } = open({ running })
    stream.read(sink)
    answer.push([delta('ab'), finished])
    expect(checks).toBe(0)
  })
})

describe('a reader that cancels while it receives the disconnect event', () => {
  test('receives nothing more, and the response is settled once', async () => {
    const { answer, stream, client, ends, clock } = open()
    const received: string[] = []
    stream.read({
      next: batch => {
        client.batches.push(batch)
        if (batch.some(event => event.type === 'finished')) stream.cancel()
      },
      end: () => void received.push('end'),
      fail: () => void received.push('fail'),
    })
    answer.push([delta('ab')])
    const left = stream.leave()
    expect([client.batches, received]).toEqual([[[delta('ab')], gone], []])
    // Reading on uses one timer, which the end of the response stops.
    expect(clock.pending()).toBe(1)
    answer.push([finished])
    await left
    expect([ends.length, clock.pending(), received]).toEqual([1, 0, []])
  })
})
