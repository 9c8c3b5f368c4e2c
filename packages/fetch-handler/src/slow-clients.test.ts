import { describe, expect, test } from 'vitest'
import { delta, type Fake, fakeGateway, goodKey } from '../../api/test/fake-gateway.ts'
import { type FetchOptions, toFetchHandler } from './index.ts'

const headers = { authorization: `Bearer ${goodKey}`, 'content-type': 'application/json' }
const tick = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms))
const ask = (fake: Fake, body: string | ReadableStream<Uint8Array>, options: FetchOptions): Promise<Response> =>
  toFetchHandler(
    fake.gateway,
    options,
  )(new Request('http://x/v1/responses', { method: 'POST', headers, body, duplex: 'half' } as RequestInit))

interface EndlessFake extends Fake {
  readonly isCancelled: () => boolean
}

/** A gateway whose stream sends a delta every `everyMs`, without end. */
function endless(everyMs: number): EndlessFake {
  const fake = fakeGateway()
  let isCancelled = false
  fake.act = () => ({
    batches: () => ({
      next: async () => {
        await tick(everyMs)
        return { done: false, value: [delta('x')] }
      },
      return: async () => {
        isCancelled = true
        return { done: true, value: undefined }
      },
    }),
  })
  return Object.assign(fake, { isCancelled: () => isCancelled })
}

describe('a stream that is not read', () => {
  test.each([
    ['from the start', 0],
    ['after two reads', 2],
  ])('%s is cancelled: first the signal, then return()', async (_, reads) => {
    const fake = endless(0)
    const reader = (await ask(fake, '{"stream":true}', { drainMs: 60 })).body?.getReader()
    for (let at = 0; at < reads; at++) await reader?.read()
    await tick(20)
    expect(fake.isCancelled()).toBe(false)
    await tick(100)
    expect([fake.calls[0]?.signal?.aborted, fake.isCancelled()]).toEqual([true, true])
    await expect(reader?.read()).rejects.toThrow('was not read')
  })

  test('is distinguished from one that is silent or read slowly', async () => {
    const fake = endless(100)
    const reader = (await ask(fake, '{"stream":true}', { drainMs: 60 })).body?.getReader()
    for (let at = 0; at < 3; at++) {
      expect((await reader?.read())?.done).toBe(false)
      await tick(30)
    }
    expect(fake.isCancelled()).toBe(false)
    await reader?.cancel()
  })
})

describe('an upload', () => {
  /** Cancelling it never completes, as on some runtimes. */
  const upload = (everyMs: number): { readonly body: ReadableStream<Uint8Array>; readonly cancelled: () => boolean } => {
    let cancelled = false
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await tick(everyMs)
        if (!cancelled) controller.enqueue(Uint8Array.of(0x20))
      },
      cancel() {
        cancelled = true
        return new Promise(() => {})
      },
    })
    return { body, cancelled: () => cancelled }
  }

  test.each([
    ['sends nothing', 100_000],
    ['drips', 20],
  ])('that %s is cancelled', async (_, everyMs) => {
    const fake = fakeGateway()
    const { body, cancelled } = upload(everyMs)
    const response = await ask(fake, body, { bodyIdleMs: 80 })
    expect([response.status, cancelled(), fake.calls.length]).toEqual([400, true, 0])
  })

  test('may take long if it keeps its minimum rate', async () => {
    const chunks = ['{"model":', ' '.repeat(2_000), ' '.repeat(2_000), '"small"}']
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await tick(50)
        const chunk = chunks.shift()
        if (chunk === undefined) controller.close()
        else controller.enqueue(new TextEncoder().encode(chunk))
      },
    })
    expect((await ask(fakeGateway(), body, { bodyIdleMs: 120 })).status).toBe(200)
  })
})
