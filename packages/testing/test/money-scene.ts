import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { chatProvider } from '@signalbox/dialects'
import type { InferenceRequest, JsonObject, Provider } from '@signalbox/dialects/protocol'
import { createGateway, type Gateway, type GatewayOptions } from '@signalbox/gateway'
import type { Storage } from '@signalbox/storage'
import { memoryStorage } from '@signalbox/storage-memory'
import { sqliteStorage } from '@signalbox/storage-sql/sqlite'
import { onTestFinished } from 'vitest'
import type { Act } from '../src/index.ts'
import { acts, type FakeClock, fakeClock, type ScriptedProvider, scriptedProvider } from '../src/index.ts'

// Several gateways over one store, and the resulting ledger.

/** What one request costs, with any provider: twelve tokens in, three out. */
export const cost = 18

export const stores = {
  memory: () => {
    const storage = memoryStorage()
    return () => storage
  },
  /** Each gateway has a connection of its own, as a process would. */
  sqlite: () => {
    const folder = mkdtempSync(join(tmpdir(), 'signalbox-money-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    return () => sqliteStorage(join(folder, 'money.db'))
  },
}

export interface Testbed {
  readonly gateways: readonly Gateway[]
  readonly storage: Storage
  readonly clock: FakeClock
  readonly providers: readonly ScriptedProvider[]
  readonly secret: string
  /** As many calls as were ever under way at the same time. */
  peak(): number
  /** Resolves to the error code, or to `ok`. */
  ask(at: number, body?: JsonObject): Promise<string>
  request(body?: JsonObject): InferenceRequest
}

export interface Building extends Partial<Pick<GatewayOptions, 'limits' | 'timeouts'>> {
  /** What the providers do, one act a call and provider; then they answer. */
  readonly script?: readonly Act[]
  readonly open: () => Storage
  readonly gateways?: number
  readonly clock?: FakeClock
  /** Microdollars. Absent: postpaid. */
  readonly credit?: number
}

/** More than any test requests, so that only what it sets refuses. */
const plenty = { inferenceRpm: 1e6, concurrentRequests: 1e5 }

export async function build({
  open,
  gateways: many = 1,
  clock = fakeClock(),
  credit,
  limits,
  script = [],
  ...rest
}: Building): Promise<Testbed> {
  const answers = Array.from({ length: 12_000 }, () => acts.reply({ text: 'Here.', usage: { input: 12, output: 3 } }))
  const providers = ['one', 'two', 'three'].map(id => scriptedProvider({ id, dialect: chatProvider, clock, acts: [...script, ...answers] }))
  const counted = count(providers)
  const price = { input: 1_000_000, output: 2_000_000 }
  const models = [{ id: 'model', offers: providers.map(({ id }) => ({ provider: id, model: 'm', api: 'chat', price })) }]
  const logger = { info: () => {}, warn: () => {}, error: () => {} }
  const opened = Array.from({ length: many }, () => {
    const storage = open()
    return {
      storage,
      gateway: createGateway({ providers: counted.providers, models, storage, clock, logger, limits: { ...plenty, ...limits }, ...rest }),
    }
  })
  const [first] = opened
  if (!first) throw new Error('A testbed has a gateway.')
  const { gateway, storage } = first
  await gateway.workspaces.create({ id: 'w', name: 'W', billing: credit === undefined ? 'postpaid' : 'prepaid' })
  if (credit !== undefined) await gateway.workspaces('w').billing.credit({ reference: 'start', amount: credit })
  const { secret } = await gateway.workspaces('w').apiKeys.create({ name: 'k', scopes: '*' })
  const all = opened.map(each => each.gateway)
  const request = (body: JsonObject = {}): InferenceRequest =>
    gateway.dialects.responses.decodeRequest({ model: 'model', input: 'Hi', max_output_tokens: 10, ...body }, () => undefined)
  return {
    gateways: all,
    storage,
    clock,
    providers,
    secret,
    peak: counted.peak,
    request,
    async ask(at, body) {
      const chosen = all[at % all.length] as Gateway
      try {
        const caller = await chosen.authenticate(secret)
        await chosen.infer(request(body), { caller }).whole()
        return 'ok'
      } catch (error) {
        return (error as { readonly code?: string }).code ?? String(error)
      }
    },
  }
}

/** Each call takes a turn of the event loop, so that admitted requests run concurrently. */
function count(providers: readonly Provider[]) {
  let running = 0
  let peak = 0
  const counting = ({ answer, ...provider }: Provider): Provider => ({
    ...provider,
    async answer(call) {
      running += 1
      peak = Math.max(peak, running)
      await setImmediate()
      running -= 1
      if (!answer) throw new Error('A scripted provider answers in this process.')
      return answer(call)
    },
  })
  return { providers: providers.map(counting), peak: () => peak }
}

export const times = (outcomes: readonly string[], outcome: string): number => outcomes.filter(each => each === outcome).length

/** The sum of an account's entries, and the lowest it ever was. */
export async function bookOf({ ledger }: Storage, account: string) {
  const entries = await ledger.entries(account, { limit: 100_000 })
  const { balance, held } = await ledger.balance(account)
  return {
    balance,
    held,
    sum: entries.reduce((sum, { amount }) => sum + amount, 0),
    lowest: entries.reduce((least, { balanceAfter }) => Math.min(least, balanceAfter), 0),
  }
}
