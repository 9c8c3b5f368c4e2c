import { createGateway } from '@signalbox/gateway'
import type { Storage } from '@signalbox/storage'
import { expect, vi } from 'vitest'
import { type Ended, type Fleet, traffic } from './fleet.ts'
import { cost, countOutcomes } from './workers.ts'

/** A workspace with a key. */
export interface FleetCaller {
  readonly id: string
  readonly key: string
}

/** Requests that the credit of the poor workspace pays, and that the limited key may make in a minute. */
export const fleetLimits = { affordable: 333, perMinute: 200 } as const

/** Workspaces with credit and a key each, made before the servers start: one rich, one poor, one limited, one postpaid. */
export async function makeCallers(storage: Storage) {
  const gateway = createGateway({ providers: [], models: [], storage: { ...storage, close: () => {} } })
  const make = async (name: string, credit: number, rateLimitRpm?: number): Promise<FleetCaller> => {
    const { id } = await gateway.workspaces.create({ name, billing: credit === 0 ? 'postpaid' : 'prepaid' })
    const { billing, apiKeys } = gateway.workspaces(id)
    if (credit > 0) await billing.credit({ reference: name, amount: credit })
    const { secret } = await apiKeys.create({ name, ...(rateLimitRpm !== undefined && { rateLimitRpm }) })
    return { id, key: secret }
  }
  const callers = {
    rich: await make('rich', 1_000_000_000),
    poor: await make('poor', fleetLimits.affordable * cost),
    limited: await make('limited', 1_000_000_000, fleetLimits.perMinute),
    postpaid: await make('postpaid', 0),
  }
  await gateway.close()
  return callers
}

export const isAnswered = ({ outcome }: Ended): boolean => outcome === 200
export const outcomesOf = (ended: readonly Ended[]) => countOutcomes(ended.map(({ outcome }) => outcome))

/** The answered requests that are not booked by exactly one row and one entry of their cost. */
export async function wronglyBooked(storage: Storage, { id }: FleetCaller, ended: readonly Ended[]): Promise<readonly string[]> {
  const wrong: string[] = []
  for (const request of ended.filter(isAnswered)) {
    const row = await storage.usage.find(id, request.id)
    const entries = await storage.ledger.entries(`credit:${id}`, { id: request.id, limit: 5 })
    if (row?.cost !== cost || entries.length !== 1 || entries[0]?.amount !== -cost) wrong.push(request.id)
  }
  return wrong
}

/** What a killed process held is settled when it has stood still for 45 s, by checks every 10 s. */
const leftoverMs = 90_000

/** What the log and the ledger have of all callers. */
export async function booksOf(storage: Storage, callers: Readonly<Record<string, FleetCaller>>) {
  let [cost, spent, held, rows, interrupted] = [0, 0, 0, 0, 0]
  for (const { id } of Object.values(callers)) {
    const [total] = await storage.usage.totals({ workspaceId: id, from: 0, to: 1e15 })
    const balance = await storage.ledger.balance(`credit:${id}`)
    cost += total?.cost ?? 0
    rows += total?.requests ?? 0
    interrupted += total?.interrupted ?? 0
    spent += balance.spent
    held += balance.held
  }
  return { cost, spent, held, rows, interrupted }
}

/** Waits until no hold remains. Gateways search for holds of ended processes while they are used. */
export async function settleLeftovers(storage: Storage, fleet: Pick<Fleet, 'members'>, caller: FleetCaller) {
  let isOver = false
  const more = traffic(fleet, { key: caller.key, clients: 1, pauseMs: 500 }, () => isOver)
  const began = performance.now()
  const ids = async () => (await storage.ledger.holds({ limit: 1_000 })).map(({ id }) => id)
  const stale = new Set(await ids())
  try {
    // Those of the requests that keep the gateways in use come and go.
    await vi.waitFor(async () => expect((await ids()).filter(id => stale.has(id))).toEqual([]), { timeout: leftoverMs, interval: 500 })
  } finally {
    isOver = true
  }
  return { afterMs: Math.round(performance.now() - began), more: await more }
}
