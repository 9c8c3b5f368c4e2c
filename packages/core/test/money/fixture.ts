import { chatProvider, responsesClient } from '@signalbox/dialects'
import type { Credential, InferenceResponse, JsonObject } from '@signalbox/dialects/protocol'
import type { CreditEntry } from '@signalbox/storage'
import { type Act, acts, type FakeClock, fakeClock, type ScriptedProvider, scriptedProvider } from '@signalbox/testing'
import { creditAccount } from '../../src/access/accounts.ts'
import type { Caller } from '../../src/access/caller.ts'
import type { WorkspaceBody } from '../../src/access/kinds.ts'
import type { TypedRecord } from '../../src/access/records.ts'
import type { WorkspacePolicy } from '../../src/access/workspace-policy.ts'
import { SettlementQueue } from '../../src/metering/settlement-queue.ts'
import type { Engine } from '../../src/request/engine.ts'
import { runRequest } from '../../src/request/run-request.ts'
import type { BudgetBody } from '../../src/resources/budget.ts'
import { watchedEngine } from '../engine.ts'

// One workspace and what it laid down, and providers that answer twelve tokens with three.

/** A microdollar for a token that goes in, two for one that comes out. */
const price = { input: 1_000_000, output: 2_000_000 }
export const answer: Act = acts.reply({ text: 'Here.', usage: { input: 12, output: 3 } })
/** What such an answer costs. */
export const costOfAnswer = 18

export interface FixtureOptions {
  readonly workspace?: Partial<WorkspaceBody>
  readonly budgets?: readonly TypedRecord<'budget'>[]
  /** Of the workspace's own, by provider. */
  readonly own?: Readonly<Record<string, readonly Credential[]>>
  readonly engine?: Partial<Engine>
  readonly caller?: Partial<Caller>
  readonly acts?: Readonly<Record<string, Act>>
}

export interface Fixture {
  readonly caller: Caller
  readonly engine: Engine
  readonly clock: FakeClock
  readonly providers: Readonly<Record<'first' | 'second', ScriptedProvider>>
  /** Asks for at most ten tokens. */
  ask(body?: JsonObject, requestId?: string): Promise<Answered>
  balance(account: string): Promise<number>
  held(account: string): Promise<number>
  credit(amount: number, more?: Partial<CreditEntry>): Promise<void>
}

interface Answered extends InferenceResponse {
  readonly routing: { readonly provider: string; readonly cost?: { readonly usd: number; readonly byok_usd?: number } } | undefined
}

export const ownOf = (provider: string, more: Partial<Credential> = {}): Credential => ({
  id: `byok-${provider}`,
  owner: 'workspace',
  secret: 'theirs',
  ...more,
})

export const budget = (id: string, body: Partial<BudgetBody> & Pick<BudgetBody, 'limit'>): TypedRecord<'budget'> => ({
  kind: 'budget',
  workspaceId: 'workspace',
  id,
  version: 1,
  createdAt: 0,
  body: { name: id, scope: 'workspace', period: 'month', enforce: true, includeByok: false, alertAt: [], ...body },
})

export function createFixture({
  workspace,
  budgets = [],
  own = {},
  engine: parts,
  caller: told,
  acts: played = {},
}: FixtureOptions = {}): Fixture {
  const clock = fakeClock({ now: Date.UTC(2026, 2, 10, 12) })
  const provider = (id: string): ScriptedProvider => {
    const made = scriptedProvider({ id, dialect: chatProvider, clock })
    made.play(...Array.from({ length: 50 }, () => played[id] ?? answer))
    return made
  }
  const providers = { first: provider('first'), second: provider('second') }
  const models = [
    {
      id: 'model',
      offers: Object.keys(providers).map(id => ({ provider: id, model: 'm', api: 'chat', price })),
    },
  ]
  const watched = watchedEngine(clock, Object.values(providers), models)
  const { storage } = watched
  const terms: WorkspacePolicy = {
    workspace: {
      kind: 'workspace',
      workspaceId: 'workspace',
      id: 'workspace',
      version: 1,
      createdAt: 0,
      body: { name: 'Workspace', billing: 'prepaid', ...workspace },
    },
    budgets,
    credentials: new Map(Object.entries(own)),
  }
  const engine: Engine = {
    ...watched.engine,
    planning: { ...watched.engine.planning, strategy: 'order' },
    policies: { of: async () => terms },
    ...(parts?.storage && { settlements: new SettlementQueue({ storage: parts.storage, clock, logger: watched.engine.logger }) }),
    ...parts,
  }
  const caller = { ...watched.caller, ...told }
  let asked = 0
  return {
    caller,
    engine,
    clock,
    providers,
    async ask(body = {}, requestId = `request-${++asked}`) {
      const request = responsesClient.decodeRequest({ model: 'model', input: 'Hi', max_output_tokens: 10, ...body }, () => undefined)
      const reply = runRequest(engine, request, { caller, requestId })
      const response = await reply.whole()
      return { ...response, routing: reply.metadata().routing }
    },
    balance: async account => (await storage.ledger.balance(account)).balance,
    held: async account => (await storage.ledger.balance(account)).held,
    credit: async (amount, more) =>
      storage.ledger.credit({ id: 'credit', account: creditAccount('workspace'), amount, at: clock.now(), ...more }),
  }
}
