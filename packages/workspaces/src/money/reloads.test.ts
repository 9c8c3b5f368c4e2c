import { createWorkspacePolicies, recordsOf } from '@signalbox/core/access'
import { webClock, webIds } from '@signalbox/core/runtime'
import { memoryStorage } from '@signalbox/storage-memory'
import { expect, test } from 'vitest'
import { makeKeyRing } from '../../../core/src/runtime/seal.ts'
import { keepAnchors } from '../audit-anchor.ts'
import { createCommitWithAudit } from '../commit-with-audit.ts'
import { paidPart } from './billing.ts'
import { keepReloads, type Reload } from './reloads.ts'

const ids = webIds()
const account = 'credit:w'

/** Gateways on one storage, as in several processes. Reload requests are recorded; `pay` pays them, or does not. */
async function testbed({ processes = 1, start = 10 } = {}) {
  const storage = memoryStorage()
  const now = { ms: 1_000_000 }
  const clock = { ...webClock(), now: () => now.ms, monotonic: () => now.ms }
  const laments: string[] = []
  const logger = { info: () => {}, warn: () => {}, error: (_: unknown, message: string) => void laments.push(message) }
  const records = recordsOf(storage.records, clock)
  const anchors = keepAnchors({ ring: makeKeyRing(() => [new Uint8Array(32).fill(1)]), isKeyed: true, clock, logger })
  const asked: Reload[] = []
  const seen = { pay: async (reload: Reload): Promise<void> => credit(reload) }
  const open = () => {
    const terms = createWorkspacePolicies({ records, clock, open: async () => new Map() })
    const commitWithAudit = createCommitWithAudit({
      storage,
      records,
      anchors,
      terms,
      checkBounds: async () => {},
      checkSecret: async () => {},
      clock,
      ids,
    })
    const pending = new Set<Promise<void>>()
    const onReload = (workspaceId: string, reload: Reload): Promise<void> => {
      expect(workspaceId).toBe('w')
      asked.push(reload)
      return seen.pay(reload)
    }
    return {
      terms,
      commitWithAudit,
      pending,
      reloads: keepReloads({ storage, records, commitWithAudit, terms, clock, logger, onReload, pending }),
    }
  }
  const testbeds = Array.from({ length: processes }, open)
  const { commitWithAudit, terms } = open()
  // A short form of billing.credit.
  const credit = ({ reference, amount }: Pick<Reload, 'reference' | 'amount'>): Promise<void> =>
    commitWithAudit('w', {}, async () => ({
      puts: await paidPart(records, 'w', reference),
      credits: [{ id: reference, account, amount, at: now.ms }],
      events: [{ event: 'credit.created', subject: { type: 'credit', id: reference } }],
      result: undefined,
    }))
  const laidDown = async (threshold: number, target: number, enabled = true): Promise<void> => {
    const old = await records.find('workspace', 'w', 'w')
    const body = JSON.stringify({ name: 'W', billing: 'prepaid', autoReload: { enabled, threshold, target } })
    await storage.records.commit({
      puts: [{ kind: 'workspace', workspaceId: 'w', id: 'w', createdAt: 1, body, version: old?.version ?? 0 }],
    })
    for (const each of testbeds) each.terms.forget('w')
  }
  await laidDown(100, 500)
  if (start > 0) await storage.ledger.credit({ id: 'start', account, amount: start, at: 1 })
  let requests = 0
  const idle = async (): Promise<void> => {
    while (testbeds.some(({ pending }) => pending.size > 0)) await Promise.all(testbeds.flatMap(({ pending }) => [...pending]))
  }
  const spend = async (amount: number): Promise<void> => {
    if (amount > 0) await storage.ledger.settle({ id: `r${requests++}`, amounts: { [account]: amount }, at: now.ms })
    for (const { reloads } of testbeds) reloads.look('w')
  }
  const events = async () => (await storage.audit.list({ workspaceId: 'w', limit: 100 })).map(({ event }) => event)
  const balance = async () => (await storage.ledger.balance(account)).balance
  return { now, asked, seen, credit, laidDown, spend, idle, events, balance, terms, laments }
}

test('credit below its threshold is filled up to the target, once, and credit at the threshold is not', async () => {
  const scene = await testbed({ start: 110 })
  await scene.spend(10)
  await scene.idle()
  expect(scene.asked).toEqual([])
  await scene.spend(1)
  await scene.idle()
  expect(scene.asked).toEqual([{ balance: 99, threshold: 100, target: 500, amount: 401, reference: 'reload:w:1' }])
  expect(await scene.balance()).toBe(500)
  await scene.spend(450)
  await scene.idle()
  expect(scene.asked[1]).toMatchObject({ balance: 50, amount: 450, reference: 'reload:w:2' })
  expect(await scene.events()).toEqual(['credit.created', 'reload.created', 'credit.created', 'reload.created'])
})

test('of many processes and concurrent requests, one requests a reload, once', async () => {
  const scene = await testbed({ processes: 4, start: 120 })
  const paying = Promise.withResolvers<void>()
  scene.seen.pay = async reload => {
    await paying.promise
    await scene.credit(reload)
  }
  await Promise.all(Array.from({ length: 40 }, () => scene.spend(1)))
  await expect.poll(() => scene.asked.length).toBe(1)
  paying.resolve()
  await scene.idle()
  expect(scene.asked).toHaveLength(1)
  expect(await scene.events()).toEqual(['credit.created', 'reload.created'])
})

test('an unpaid reload is requested again after 15 minutes, with the same reference', async () => {
  const scene = await testbed()
  scene.seen.pay = () => Promise.reject(new Error('Refused.'))
  for (const wait of [0, 1, 899_998]) {
    scene.now.ms += wait
    await scene.spend(1)
    await scene.idle()
  }
  expect([scene.asked.length, scene.laments.length]).toEqual([1, 1])
  scene.now.ms += 1
  await scene.spend(1)
  await scene.idle()
  expect(scene.asked.map(({ amount, reference }) => [amount, reference])).toEqual([
    [491, 'reload:w:1'],
    [491, 'reload:w:1'],
  ])
  expect(await scene.events()).toEqual(['reload.updated', 'reload.created'])
})

test('setting the clock back does not delay an unpaid reload: it is requested again, with the same reference', async () => {
  const scene = await testbed()
  scene.seen.pay = async () => {}
  await scene.spend(1)
  await scene.idle()
  scene.now.ms -= 3_600_000
  await scene.spend(1)
  await scene.idle()
  expect(scene.asked.map(({ reference }) => reference)).toEqual(['reload:w:1', 'reload:w:1'])
  await scene.spend(1)
  await scene.idle()
  expect(scene.asked).toHaveLength(2)
})

test('a late payment ends its reload, and the next one is a new reload', async () => {
  const scene = await testbed()
  scene.seen.pay = async () => {}
  await scene.spend(1)
  await scene.idle()
  scene.now.ms += 3_600_000
  await scene.credit({ reference: 'reload:w:1', amount: 491 })
  await scene.spend(450)
  await scene.idle()
  expect(scene.asked.map(({ amount, reference }) => [amount, reference])).toEqual([
    [491, 'reload:w:1'],
    [450, 'reload:w:2'],
  ])
})

test('other credit ends no reload, and changed settings make a new one', async () => {
  const scene = await testbed()
  scene.seen.pay = async () => {}
  await scene.spend(1)
  await scene.idle()
  await scene.credit({ reference: 'by hand', amount: 50 })
  await scene.spend(1)
  await scene.laidDown(100, 200)
  await scene.spend(1)
  await scene.idle()
  expect(scene.asked).toHaveLength(1)
  scene.now.ms += 900_000
  await scene.spend(1)
  await scene.idle()
  expect(scene.asked[1]).toMatchObject({ amount: 144, target: 200, reference: 'reload:w:2' })
})

test('a disabled reload is not requested, and a hook that throws synchronously breaks nothing', async () => {
  const scene = await testbed()
  await scene.laidDown(100, 500, false)
  await scene.spend(1)
  await scene.idle()
  expect(scene.asked).toEqual([])
  await scene.laidDown(100, 500)
  scene.seen.pay = () => {
    throw new Error('At once.')
  }
  await scene.spend(1)
  await scene.idle()
  expect([scene.asked.length, scene.laments.length]).toEqual([1, 1])
})
