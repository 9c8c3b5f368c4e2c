import { describe, expect, test } from 'vitest'
import { bookOf, build, cost, stores, type Testbed, times } from './money-scene.ts'

// The limits of a key apply wherever it is used: in the process that created it, and in one that has just read it.

/** Calls with another key than that of the testbed. Resolves to the error code, or to `ok`. */
async function askWith({ gateways, request }: Testbed, at: number, secret: string): Promise<string> {
  const gateway = gateways[at]
  if (!gateway) throw new Error('There is no such gateway.')
  try {
    const caller = await gateway.authenticate(secret)
    await gateway.infer(request(), { caller }).whole()
    return 'ok'
  } catch (error) {
    return (error as { readonly code?: string }).code ?? String(error)
  }
}

/** How many requests are answered, one after the other, before one is refused for its budget. */
async function answeredUntilRefused(testbed: Testbed, at: number, secret: string): Promise<number> {
  for (let answered = 0; answered < 200; answered++) {
    const outcome = await askWith(testbed, at, secret)
    if (outcome === 'ok') continue
    expect(outcome).toBe('budget_exceeded')
    return answered
  }
  throw new Error('A budget refuses nothing.')
}

const many = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at)

describe.each(Object.entries(stores))('over %s', (_, openStore) => {
  async function twoTestbeds() {
    const testbed = await build({ open: openStore(), gateways: 2 })
    // Both have read what the workspace laid down, and know it for 30 s.
    expect([await testbed.ask(0), await testbed.ask(1)]).toEqual(['ok', 'ok'])
    const [here] = testbed.gateways as readonly [Testbed['gateways'][0]]
    return { testbed, own: here.workspaces('w') }
  }
  const bookOfKey = async ({ storage }: Testbed, budgetId: string) => bookOf(storage, `budget:${budgetId}`)

  test('the budget of a new key pays for exactly as many requests, even if another process serves them concurrently', async () => {
    const { testbed, own } = await twoTestbeds()
    const budget = { limit: 40 * cost }
    const known = await own.apiKeys.create({ name: 'known', budget })
    const paid = await answeredUntilRefused(testbed, 0, known.secret)
    const { id, secret } = await own.apiKeys.create({ name: 'new', budget })
    const first = await Promise.all(many(300).map(() => askWith(testbed, 1, secret)))
    expect(times(first, 'ok')).toBeLessThanOrEqual(paid)
    expect(times(first, 'ok') + times(first, 'budget_exceeded')).toBe(300)
    // Unused amounts of released holds are available to later requests.
    expect(times(first, 'ok') + (await answeredUntilRefused(testbed, 1, secret))).toBe(paid)
    expect(await answeredUntilRefused(testbed, 0, secret)).toBe(0)
    const made = (await own.budgets.list()).find(({ apiKeyId }) => apiKeyId === id)
    expect(await bookOfKey(testbed, made?.id ?? '')).toMatchObject({ balance: -paid * cost, held: 0 })
  })

  test('a budget created for a new key before its first use applies in another process', async () => {
    const { testbed, own } = await twoTestbeds()
    const { id: apiKeyId, secret } = await own.apiKeys.create({ name: 'new' })
    const { id } = await own.budgets.create({ name: 'b', period: 'total', limit: 5 * cost, apiKeyId })
    const answered = await answeredUntilRefused(testbed, 1, secret)
    expect([answered > 0, answered <= 5]).toEqual([true, true])
    expect((await bookOfKey(testbed, id)).balance).toBe(-answered * cost)
  })

  test('a change of the key applies its new budget once the other process sees the change', async () => {
    const { testbed, own } = await twoTestbeds()
    const { id, secret } = await own.apiKeys.create({ name: 'new' })
    expect(await askWith(testbed, 1, secret)).toBe('ok')
    await testbed.clock.advance(29_000)
    // Policy is read just before the change, and so is known for 30 s more; the key itself for one.
    expect(await askWith(testbed, 1, secret)).toBe('ok')
    await own.apiKeys.update(id, { budget: { limit: 5 * cost } })
    await testbed.clock.advance(1_001)
    expect(await answeredUntilRefused(testbed, 1, secret)).toBeLessThanOrEqual(5)
  })

  test('a budget created later for a key in use applies after 30 s at the latest', async () => {
    const { testbed, own } = await twoTestbeds()
    const { id: apiKeyId, secret } = await own.apiKeys.create({ name: 'new' })
    expect(await askWith(testbed, 1, secret)).toBe('ok')
    await own.budgets.create({ name: 'b', period: 'total', limit: 5 * cost, apiKeyId })
    await testbed.clock.advance(30_001)
    expect(await answeredUntilRefused(testbed, 1, secret)).toBeLessThanOrEqual(5)
  })
})

test('a known key costs no reads, and reading it again unchanged does not read its policy again', async () => {
  const asked: string[] = []
  const openStore = stores.memory()
  const open = () => {
    const storage = openStore()
    const { records } = storage
    const find: typeof records.find = (kind, ...named) => {
      asked.push(`find ${kind}`)
      return records.find(kind, ...named)
    }
    const findByName: typeof records.findByName = (kind, name) => {
      asked.push(`find by name ${kind}`)
      return records.findByName(kind, name)
    }
    const list: typeof records.list = query => {
      asked.push(`list ${query.kind}`)
      return records.list(query)
    }
    return { ...storage, records: { ...records, find, findByName, list } }
  }
  const testbed = await build({ open })
  const stepsOf = async (): Promise<readonly string[]> => {
    asked.length = 0
    expect(await testbed.ask(0)).toBe('ok')
    return [...asked].sort()
  }
  expect(await stepsOf()).toEqual(['find by name key', 'find workspace', 'list budget', 'list credential', 'list workspace'])
  expect(await stepsOf()).toEqual([])
  await testbed.clock.advance(15_000)
  const [gateway] = testbed.gateways
  const { secret } = await (gateway as NonNullable<typeof gateway>).workspaces('w').apiKeys.create({ name: 'other' })
  await askWith(testbed, 0, secret)
  // The other key's first use read the policy at 15 s; the first key, due at 30 s, goes by that.
  await testbed.clock.advance(15_001)
  expect(await stepsOf()).toEqual(['find by name key'])
})
