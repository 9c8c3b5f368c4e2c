import type { BuiltInDialect } from '@signalbox/dialects'
import { toFetchHandler } from '@signalbox/fetch-handler'
import type { UsageRow } from '@signalbox/storage'
import { memoryStorage } from '@signalbox/storage-memory'
import { answerWriters } from '../../src/answers/writers.ts'
import { type TestGateway, testGateway } from '../../src/gateway.ts'
import { modelOf, type RawAnswer, rawProvider, scriptedTransport } from '../../test/scripted-transport.ts'
import { type ClientDialectName, faultOf } from './check-reply.ts'
import { bytesOf, dialects } from './samples.ts'

// One gateway, many requests at once, each to a model of its own, whose first provider answers with mutated bytes; then the
// books. A gateway is not asked for ever: what it learns of a bad provider would keep the next answers from it.

export interface Attack {
  readonly number: number
  readonly dialect: BuiltInDialect
  readonly clientDialect: ClientDialectName
  readonly stream: boolean
  /** Another provider would answer rightly. */
  readonly fallback: boolean
  readonly answer: RawAnswer
}

/** More at once than the test has, so that a slot that is not given back is found out by the refusals. */
const slots = 40
const atOnce = 16
const hangMs = 60_000

const good = answerWriters.chat.write({ text: 'Here.', usage: { input: 12, output: 3 } }, { model: 'm', includeUsage: true })
const goodStream: RawAnswer = { pieces: [bytesOf('chat', [...good.opening, ...good.content, ...good.closing])] }
const goodWhole: RawAnswer = { pieces: [new TextEncoder().encode(JSON.stringify(good.whole))] }

const idOf = ({ number }: Attack): string => `attack-${number}-`

export interface BatchResult {
  readonly faults: readonly string[]
  /** How many requests ended how. */
  readonly results: ReadonlyMap<string, number>
}

export async function runBatch(attacks: readonly Attack[]): Promise<BatchResult> {
  const byId = new Map(attacks.map(attack => [idOf(attack), attack]))
  const answer = (url: string, body: string): RawAnswer => {
    if (url.includes('good.test')) return body.includes('"stream":true') ? goodStream : goodWhole
    const id = /attack-\d+-/.exec(url)?.[0] ?? /attack-\d+-/.exec(body)?.[0] ?? ''
    return byId.get(id)?.answer ?? { status: 500, pieces: [] }
  }
  const testbed = await testGateway({
    storage: memoryStorage(),
    providers: [...dialects.map(dialect => rawProvider(`bad-${dialect}`, dialect)), rawProvider('good', 'chat')],
    models: attacks.map(attack =>
      modelOf(idOf(attack), [
        { provider: `bad-${attack.dialect}`, dialect: attack.dialect },
        ...(attack.fallback ? [{ provider: 'good', dialect: 'chat' } as const] : []),
      ]),
    ),
    transport: scriptedTransport(answer),
    limits: { concurrentRequests: slots, inferenceRpm: 1e6 },
  })
  try {
    const ids: string[] = []
    const faults: string[] = []
    let next = 0
    const work = async (): Promise<void> => {
      for (let attack = attacks[next++]; attack; attack = attacks[next++]) {
        const { fault, requestId } = await attackOnce(testbed, attack)
        if (requestId !== undefined) ids.push(requestId)
        if (fault !== undefined) faults.push(`attack ${attack.number} (${attack.dialect} to ${attack.clientDialect}): ${fault}`)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, work))
    const rows = await rowsOf(testbed)
    const results = new Map<string, number>()
    for (const { result, code = '' } of rows) results.set(`${result} ${code}`, (results.get(`${result} ${code}`) ?? 0) + 1)
    return { faults: [...faults, ...(await faultsOfBooks(testbed, rows, ids))], results }
  } finally {
    await testbed.close()
  }
}

const paths = { responses: '/v1/responses', chat: '/v1/chat/completions', messages: '/v1/messages' } as const
const hi = [{ role: 'user', content: 'Hi' }]
const asking = { responses: { input: 'Hi' }, chat: { messages: hi }, messages: { messages: hi, max_tokens: 1_000 } } as const

async function attackOnce(
  { gateway, secret }: TestGateway,
  attack: Attack,
): Promise<{ readonly fault?: string; readonly requestId?: string }> {
  const { clientDialect, stream } = attack
  const body = JSON.stringify({ model: idOf(attack), stream, ...asking[clientDialect] })
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json', 'anthropic-version': '2023-06-01' }
  let timer: NodeJS.Timeout | undefined
  const hung = new Promise<undefined>(resolve => {
    timer = setTimeout(() => resolve(undefined), hangMs)
  })
  try {
    const asked = toFetchHandler(gateway)(`http://gateway.test${paths[clientDialect]}`, { method: 'POST', headers, body })
    const response = await Promise.race([asked, hung])
    const text = response && (await Promise.race([response.text(), hung]))
    if (!response || text === undefined) return { fault: 'no end of the answer' }
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
    const fault = faultOf(clientDialect, { status: response.status, text, isStream })
    const requestId = response.headers.get('x-request-id') ?? undefined
    return { ...(fault !== undefined && { fault: `${fault}: ${text.slice(-300)}` }), ...(requestId !== undefined && { requestId }) }
  } catch (error) {
    return { fault: `threw ${String(error)}` }
  } finally {
    clearTimeout(timer)
  }
}

const rowsOf = async ({ storage, caller: { workspaceId } }: TestGateway): Promise<readonly UsageRow[]> =>
  storage.usage.list({ workspaceId, from: 0, to: Number.MAX_SAFE_INTEGER, limit: 100_000 })

/** Every request has one row, every row was paid for once, and nothing is held any more. */
async function faultsOfBooks(
  { storage, caller: { workspaceId } }: TestGateway,
  rows: readonly UsageRow[],
  ids: readonly string[],
): Promise<readonly string[]> {
  const account = `credit:${workspaceId}`
  const { balance, held } = await storage.ledger.balance(account)
  const entries = await storage.ledger.entries(account, { limit: 100_000 })
  const sum = entries.reduce((total, { amount }) => total + amount, 0)
  const rowIds = new Set(rows.map(({ id }) => id))
  const cost = rows.reduce((total, row) => total + row.cost, 0)
  const credit = entries.reduce((total, { amount }) => total + Math.max(0, amount), 0)
  const missing = ids.filter(id => !rowIds.has(id))
  return [
    ...(sum === balance ? [] : [`the entries sum up to ${sum}, the balance is ${balance}`]),
    ...(held === 0 ? [] : [`${held} is still held`]),
    ...(credit - cost === balance ? [] : [`rows cost ${cost}, the balance fell by ${credit - balance}`]),
    ...(rows.length === rowIds.size && rows.length === ids.length ? [] : [`${rows.length} rows for ${ids.length} requests`]),
    ...(missing.length === 0 ? [] : [`no row for ${missing.slice(0, 3).join(', ')}`]),
  ]
}
