import type { Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import { GatewayError } from '@signalbox/dialects/errors'
import { describe, expect, test } from 'vitest'
import { completed, delta, finished } from '../../api/test/fake-gateway.ts'
import { sleep, until } from './raw.ts'
import { auth, type Batches, batchesOf, post, start, stream, whole } from './running.ts'

describe('a client that disconnects', () => {
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
    controller.abort()
    await until(() => source.returned())
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
    controller.abort()
    await until(() => running.calls[0]?.signal?.aborted === true)
    await asked
    await until(() => running.lines.length === 1)
    expect(running.lines[0]).toMatchObject({ status: 499, code: 'client_disconnected' })
  })

  test('before the first content, while the reply is held', async () => {
    const running = await start({ firstContentWaitMs: 20 })
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

  test('in the middle of its upload: the gateway gets no request', async () => {
    const running = await start()
    const socket = connect(running.port, '127.0.0.1')
    await new Promise<unknown>(sent => socket.write(post(`${auth}content-length: 1000\r\n`, '{"model":'), sent))
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
  test('pauses the source, and is dropped when it reads nothing', async () => {
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
    await until(() => returned)
    // The kernels on both sides take some megabytes; ours must not grow beyond that.
    expect(given).toBeLessThan(200)
    socket.destroy()
  })
})

/** A client that sends and does not read. `taken` returns the bytes it reads once it starts, until it is cut off. */
async function deaf(port: number, bytes: string): Promise<{ readonly socket: Socket; readonly taken: () => Promise<number> }> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.pause()
  socket.write(bytes)
  return {
    socket,
    taken: async () => {
      let closed = false
      let taken = 0
      socket.on('close', () => {
        closed = true
      })
      socket.on('data', chunk => {
        taken += chunk.length
      })
      socket.resume()
      await until(() => closed)
      return taken
    },
  }
}

const connections = (server: Server): Promise<number> =>
  new Promise((resolve, reject) => server.getConnections((error, count) => (error ? reject(error) : resolve(count))))

async function gone(server: Server): Promise<void> {
  for (const end = Date.now() + 120_000; (await connections(server)) > 0; await sleep(20)) {
    if (Date.now() > end) throw new Error('The connection stayed.')
  }
}

describe('a client that does not read is dropped', () => {
  test('from a large whole response', async () => {
    const running = await start({ drainMs: 200 })
    running.act = () => ({ response: Promise.resolve({ ...completed, id: 'x'.repeat(30_000_000) }) })
    const { taken } = await deaf(running.port, whole)
    await until(() => running.calls.length === 1)
    await gone(running.server)
    expect(await taken()).toBeLessThan(30_000_000)
  })

  test('from many small responses', async () => {
    const running = await start({ drainMs: 200 })
    // Each is less than kernels take, in characters far less than in bytes.
    running.act = () => ({ response: Promise.resolve({ ...completed, id: '语'.repeat(80_000) }) })
    await deaf(running.port, whole.repeat(60))
    await until(() => running.calls.length > 1)
    await gone(running.server)
  })

  test('from the end of a stream', async () => {
    const running = await start({ drainMs: 300 })
    let held: Socket | undefined
    running.server.on('connection', socket => (held = socket))
    let ended = false
    let given = 0
    // Goes on until the kernel takes no more, and ends while Node would still take some: no write is ever refused.
    running.act = () => ({
      batches: () => ({
        next: async () => {
          // What was written leaves Node a tick later; what is still there after that was not taken. The head waits for a batch.
          await new Promise(resolve => setImmediate(resolve))
          ended = given++ > 0 && (held?.writableLength ?? 0) > 0
          return ended ? { done: true, value: undefined } : { done: false, value: [delta('x'.repeat(8_000))] }
        },
      }),
    })
    await deaf(running.port, post(`${auth}content-length: 15\r\n`, '{"stream":true}'))
    await until(() => ended)
    await gone(running.server)
  })
})

test('a client that reads a large response slowly gets all of it, and the connection stays', async () => {
  const running = await start({ drainMs: 1_000 })
  const size = 24_000_000
  let response = { ...completed, id: 'x'.repeat(size) }
  running.act = () => ({ response: Promise.resolve(response) })
  const { socket } = await deaf(running.port, whole)
  let taken = 0
  let tail = ''
  socket.on('data', chunk => {
    taken += chunk.length
    tail = (tail + chunk.toString('latin1')).slice(-1_000)
    if (taken < size) {
      socket.pause()
      setTimeout(() => socket.resume(), 5)
    }
  })
  socket.resume()
  const begun = performance.now()
  await until(() => taken > size)
  expect(performance.now() - begun).toBeGreaterThan(1_200)
  // Longer than `drainMs`: what guarded the answer is gone with it.
  await sleep(1_200)
  response = completed
  socket.write(whole)
  await until(() => /HTTP\/1\.1 200 [\s\S]*\}$/.test(tail))
  socket.destroy()
})
