import { rmSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { waitFor, waitUntil } from '../../testing/test/waits.ts'
import { namedStorage, openStorage } from '../src/storage.ts'
import { launch, newFolder, stop } from './launch.ts'
import { clientAgent, countOutcomes, load, meteredConfig, meteredUpstream, post, timeoutMs, workersListening } from './workers.ts'

const replaced = 'A worker exited unexpectedly and is being replaced.'

test('a worker killed under load is replaced, and only its own requests fail', async () => {
  const folder = newFolder()
  const server = await workersListening(2, { folder, config: meteredConfig(await meteredUpstream({ streamMs: 300 })) })
  const running = load(server, 16)
  await waitUntil(() => running.count() > 50)
  const [victim] = server.workers()
  process.kill(victim?.pid ?? 0, 'SIGKILL')
  await waitUntil(() => server.workers().length === 3)
  const after = running.count()
  await waitUntil(() => running.count() > after + 100)
  const { 200: good = 0, ...bad } = countOutcomes(await running.stop())
  // Connections of the killed process, at most all of them, and nothing but connections that broke.
  expect(Object.keys(bad).filter(how => how !== 'ECONNRESET')).toEqual([])
  expect(bad.ECONNRESET ?? 0).toBeLessThanOrEqual(16)
  expect(good).toBeGreaterThan(150)
  expect(server.linesWith(replaced)).toMatchObject([{ worker: victim?.id, end: 'signal SIGKILL' }])

  if (inject('isLongRun')) {
    // Another worker settles what the killed one has held, once it has stood still for its time.
    const storage = await openStorage(namedStorage(`sqlite:${join(folder, 'signalbox.db')}`))
    const [{ id } = { id: '' }] = await storage.records.list({ kind: 'workspace', limit: 1 })
    const agent = clientAgent(1)
    const held = async (): Promise<number> => {
      await post(server, { agent })
      return (await storage.ledger.balance(`credit:${id}`)).held
    }
    await waitFor(async () => expect(await held()).toBe(0), { interval: 1_000 })
    await storage.close()
  }
  expect(await stop(server)).toEqual({ code: 0, signal: null })
})

if (inject('isLongRun'))
  test('a connection passed to a worker that died before accepting it is served by another', async () => {
    const server = await workersListening(2, { config: meteredConfig(await meteredUpstream()) })
    const [victim] = server.workers()
    process.kill(victim?.pid ?? 0, 'SIGSTOP')
    const statusOf = (): Promise<string> =>
      new Promise((resolve, reject) => {
        const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
        socket.setTimeout(timeoutMs, () => socket.destroy(new Error('It is never answered.')))
        socket.on('error', reject)
        socket.once('data', data => {
          resolve(String(data).slice(9, 12))
          socket.destroy()
        })
        socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n')
      })
    // In turns: one of them is passed to the stopped worker.
    const statuses = Promise.all(Array.from({ length: 4 }, statusOf))
    await new Promise(resolve => setTimeout(resolve, 300))
    process.kill(victim?.pid ?? 0, 'SIGKILL')
    expect(await statuses).toEqual(['200', '200', '200', '200'])
    await stop(server)
  })

test('workers that fail as soon as they start end the server with their error', async () => {
  const folder = newFolder()
  const server = await workersListening(2, { folder, config: meteredConfig(await meteredUpstream()) })
  // Without its key the database cannot be opened any more.
  rmSync(join(folder, 'signalbox.db.key'))
  const [victim] = server.workers()
  process.kill(victim?.pid ?? 0, 'SIGKILL')
  expect(await server.exited).toEqual({ code: 1, signal: null })
  expect(server.err()).toMatch(/\nsignalbox: signalbox\.db exists, but its sealing key signalbox\.db\.key does not\. [^\n]*\n$/)
  const waits = server.linesWith(replaced).map(({ wait_ms }) => wait_ms)
  expect(waits.filter(ms => ms !== 0)).toEqual([250, 500, 1_000, 2_000])
})

if (inject('isLongRun'))
  test('workers whose primary was killed finish their requests and exit', async () => {
    const server = await workersListening(2, { config: meteredConfig(await meteredUpstream({ streamMs: 1_500 })) })
    const agent = clientAgent(4)
    const streams = Array.from({ length: 4 }, () => post(server, { stream: true, agent }))
    await new Promise(resolve => setTimeout(resolve, 500))
    server.child.kill('SIGKILL')
    expect(await Promise.all(streams)).toEqual([200, 200, 200, 200])
    const isAlive = (pid: number): boolean => {
      try {
        return process.kill(pid, 0)
      } catch {
        return false
      }
    }
    await waitUntil(() => server.workers().every(({ pid }) => !isAlive(pid)))
  })

test('a second signal ends all processes at once', async () => {
  const streaming = Promise.withResolvers<void>()
  const config = meteredConfig(await meteredUpstream({ streamMs: 20_000, onStream: streaming.resolve }))
  const server = await workersListening(2, { config })
  const stream = post(server, { stream: true, agent: clientAgent(1) })
  await streaming.promise
  server.child.kill('SIGTERM')
  await server.says('SIGTERM: shutting down')
  // Signals within 100 ms count as one.
  await new Promise(resolve => setTimeout(resolve, 300))
  server.child.kill('SIGTERM')
  expect((await server.exited).code).toBe(143)
  expect(await stream).toBe('ECONNRESET')
})

test('a signal during the start ends it', async () => {
  const launched = launch({ variables: { SIGNALBOX_WORKERS: '2' } })
  await new Promise(resolve => setTimeout(resolve, 500))
  launched.child.kill('SIGTERM')
  const { code, signal } = await launched.exited
  expect(signal === 'SIGTERM' || code === 0).toBe(true)
})
