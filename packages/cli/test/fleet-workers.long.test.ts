import { Agent } from 'node:http'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { namedStorage, openStorage } from '../src/storage.ts'
import { type Ended, type Fleet, traffic } from './fleet.ts'
import { booksOf, fleetLimits, isAnswered, makeCallers, outcomesOf, settleLeftovers, wronglyBooked } from './fleet-books.ts'
import { newFolder } from './launch.ts'
import { adminKey, cost, meteredConfig, meteredUpstream, timeoutMs, workersListening } from './workers.ts'

const runMs = 60_000
const killEveryMs = 5_000

/** A server of several processes as a fleet of one member: which of them serves a connection is not known to the client. */
async function oneMember(folder: string, config: unknown) {
  const server = await workersListening(4, { folder, config, timeoutMs })
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  onTestFinished(() => agent.destroy())
  const member = { place: 0, url: server.url, agent, child: server.child, isKilled: false }
  const killed = new Set<number>()
  const kill = (): void => {
    const [victim] = server.workers().filter(({ pid }) => !killed.has(pid))
    // A machine that is slow to start replacements gets the next kill later.
    if (!victim || server.workers().length - killed.size < 4) return
    killed.add(victim.pid)
    process.kill(victim.pid, 'SIGKILL')
  }
  return { fleet: { members: () => [member] } satisfies Pick<Fleet, 'members'>, kill, kills: () => killed.size }
}

/** Ends of requests whose process was killed: the connection broke, before or within the answer. */
const isCut = ({ outcome }: Ended): boolean => outcome === 'ECONNRESET' || outcome === 'EPIPE' || String(outcome).endsWith(' cut')

test('four workers on one SQLite file under load, one of which is killed every 5 s: credit and limits are exact, each response is charged once', async () => {
  const folder = newFolder()
  const storage = await openStorage(namedStorage(`sqlite:${join(folder, 'signalbox.db')}`))
  onTestFinished(() => storage.close())
  const callers = await makeCallers(storage)
  const config = meteredConfig(await meteredUpstream({ streamMs: 200 }), { workers: 4, admin_key: adminKey, sealing_key: '5'.repeat(64) })
  const { fleet, kill, kills } = await oneMember(folder, config)
  const end = performance.now() + runMs
  const isOver = (): boolean => performance.now() > end
  const timer = setInterval(kill, killEveryMs)
  onTestFinished(() => clearInterval(timer))
  const [rich, poor, limited] = await Promise.all([
    traffic(fleet, { key: callers.rich.key, clients: 8 }, isOver),
    traffic(fleet, { key: callers.poor.key, clients: 10, most: 1_000, pauseMs: 250 }, isOver),
    traffic(fleet, { key: callers.limited.key, clients: 8, pauseMs: 100 }, isOver),
  ])
  clearInterval(timer)
  const { afterMs, more } = await settleLeftovers(storage, fleet, callers.rich)
  const ended = { rich: [...rich, ...more], poor, limited }
  const all = Object.values(ended).flat()
  const books = await booksOf(storage, callers)
  const admitted = poor.filter(isAnswered).length
  const windowEnd = Math.min(...limited.map(({ from }) => from)) + 60_000
  const inWindow = limited.filter(each => isAnswered(each) && each.to < windowEnd).length
  const poorBalance = (await storage.ledger.balance(`credit:${callers.poor.id}`)).balance
  const facts = { kills: kills(), rich: outcomesOf(ended.rich), poor: outcomesOf(poor), limited: outcomesOf(limited) }
  console.log(JSON.stringify({ ...facts, admitted, inWindow, requests: all.length, ...books, poorBalance, holdsGoneAfterMs: afterMs }))

  expect(kills()).toBeGreaterThanOrEqual(5)
  expect(admitted).toBeLessThanOrEqual(fleetLimits.affordable)
  expect(admitted).toBeGreaterThan(fleetLimits.affordable / 2)
  expect(inWindow).toBeLessThanOrEqual(fleetLimits.perMinute)
  expect(inWindow).toBeGreaterThan(fleetLimits.perMinute / 2)
  const bad = all.filter(each => !isCut(each) && ![200, 402, 429].includes(Number(each.outcome)))
  expect(bad.length / all.length).toBeLessThan(0.001)
  // A killed worker has at most all connections.
  expect(all.filter(isCut).length).toBeLessThanOrEqual(kills() * 27)
  for (const name of ['rich', 'poor', 'limited'] as const) expect(await wronglyBooked(storage, callers[name], ended[name])).toEqual([])
  expect(books.cost).toBe(books.spent)
  expect(books.held).toBe(0)
  expect(poorBalance).toBeGreaterThanOrEqual(0)
  expect(poor.filter(isAnswered).length * cost).toBeLessThanOrEqual(fleetLimits.affordable * cost)
}, 240_000)
