import { connect } from 'node:net'
import { GatewayError } from '@signalbox/core/errors'
import { describe, expect, test } from 'vitest'
import { completed, delta, finished } from '../../api/test/fake-gateway.ts'
import { sleep, until } from './raw.ts'
import { auth, type Batches, batchesOf, post, start, stream, whole } from './running.ts'

describe('a client that leaves', () => {
  const waiting = (): { batches: () => Batches; returned: () => boolean } => {
    let returned = false
    let wake: (() => void) | undefined
    let first = true
    return {
      returned: () => returned,
      batches: () => ({
        next: async () => {
          if (first) {
            first = false
            return { done: false, value: [delta('a')] }
          }
          await new Promise<void>(resolve => {
            wake = resolve
          })
          return { done: true, value: undefined }
        },
        return: async () => {
          returned = true
          wake?.()
          return { done: true, value: undefined }
        },
      }),
    }
  }

  test('in the middle of a stream: signal first, then return()', async () => {
    const running = await start()
    const source = waiting()
    let abortedAtReturn: boolean | undefined
    running.act = ({ signal }) => {
      const inner = source.batches()
      return {
        batches: () => ({
          next: () => inner.next(),
          return: async () => {
            abortedAtReturn = signal?.aborted
            await inner.return?.()
            return { done: true, value: undefined }
          },
        }),
      }
    }
    const controller = new AbortController()
    const response = await stream(running.url, controller.signal)
    await response.body?.getReader().read()
    const at = performance.now()
    controller.abort()
    await until(() => source.returned())
    expect(performance.now() - at).toBeLessThan(100)
    expect(abortedAtReturn).toBe(true)
    await until(() => running.lines.length === 1)
    expect(running.lines[0]).toMatchObject({ code: 'client_disconnected' })
  })

  test('before first content: the signal fires', async () => {
    const running = await start()
    running.act = ({ signal }) => ({
      commit: new Promise((_, reject) =>
        signal?.addEventListener('abort', () => reject(new GatewayError('client_disconnected', { message: 'gone' }))),
      ),
    })
    const controller = new AbortController()
    const asked = stream(running.url, controller.signal).catch(() => {})
    await until(() => running.calls.length === 1)
    const at = performance.now()
    controller.abort()
    await until(() => running.calls[0]?.signal?.aborted === true)
    expect(performance.now() - at).toBeLessThan(100)
    await asked
    await until(() => running.lines.length === 1)
    expect(running.lines[0]).toMatchObject({ status: 499, code: 'client_disconnected' })
  })

  test('while it is held open', async () => {
    const running = await start({ holdMs: 20 })
    let returned = false
    running.act = () => ({
      commit: new Promise(() => {}),
      batches: () => ({
        next: () => new Promise(() => {}),
        return: async () => {
          returned = true
          return { done: true, value: undefined }
        },
      }),
    })
    const controller = new AbortController()
    const response = await stream(running.url, controller.signal)
    await response.body?.getReader().read()
    controller.abort()
    await until(() => returned)
    expect(running.calls[0]?.signal?.aborted).toBe(true)
  })

  test('in the middle of its upload: nothing is asked of the gateway', async () => {
    const running = await start()
    const socket = connect(running.port, '127.0.0.1')
    socket.write(post(`${auth}content-length: 1000\r\n`, '{"model":'))
    await sleep(50)
    socket.destroy()
    await until(() => running.lines.length === 1)
    expect(running.calls.length).toBe(0)
    expect(running.errors).toEqual([])
  })

  test('a normal end fires no signal', async () => {
    const running = await start()
    running.act = () => ({ batches: () => batchesOf([[delta('a')], [finished]]) })
    await (await stream(running.url)).text()
    await sleep(30)
    expect(running.calls[0]?.signal?.aborted).toBe(false)
  })
})

describe('a client that reads slowly', () => {
  test('holds the source back, and is dropped when it takes nothing', async () => {
    const running = await start({ drainMs: 300 })
    let given = 0
    let returned = false
    running.act = () => ({
      batches: () => ({
        next: async () => {
          given++
          return { done: false, value: [delta('x'.repeat(65_536))] }
        },
        return: async () => {
          returned = true
          return { done: true, value: undefined }
        },
      }),
    })
    const socket = connect(running.port, '127.0.0.1')
    socket.on('error', () => {})
    socket.pause()
    socket.write(post(`${auth}content-length: 15\r\n`, '{"stream":true}'))
    await sleep(150)
    const stalledAt = given
    // The kernels on both sides take some megabytes; ours must not grow beyond that.
    expect(stalledAt).toBeLessThan(200)
    await sleep(100)
    expect(given - stalledAt).toBeLessThan(5)
    await until(() => returned, 1_000)
    socket.destroy()
  })
})

test('a client that does not take a large whole answer is dropped too', async () => {
  const running = await start({ drainMs: 200 })
  running.act = () => ({ response: Promise.resolve({ ...completed, id: 'x'.repeat(30_000_000) }) })
  const socket = connect(running.port, '127.0.0.1')
  let closed = false
  socket.on('error', () => {})
  socket.pause()
  socket.write(whole)
  await sleep(1_000)
  socket.on('close', () => {
    closed = true
  })
  let bytes = 0
  socket.on('data', chunk => {
    bytes += chunk.length
  })
  socket.resume()
  await until(() => closed)
  expect(bytes).toBeLessThan(30_000_000)
})
