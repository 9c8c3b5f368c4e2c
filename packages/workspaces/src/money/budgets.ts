import {
  budgetAccountAt,
  budgetFacts,
  changedRecord,
  isActive,
  type KeyBody,
  maxRecordsOfKind,
  maxRecordsRead,
  newRecord,
  type Records,
  recordRemoval,
  type TypedRecord,
} from '@signalbox/core/access'
import {
  type Budget,
  type BudgetBody,
  type BudgetChange,
  budgetFields,
  invalidValueError,
  type KeyBudgetChange,
  type NewBudget,
  toWire,
} from '@signalbox/core/resources'
import { orStoreDown } from '@signalbox/core/runtime'
import { GatewayError } from '@signalbox/dialects/errors'
import type { Draft } from '../change.ts'
import { findWorkspace, notFoundError } from '../find-workspace.ts'
import type { ManagedWorkspace, ManagementParts } from '../ports.ts'
import { defined } from '../wire-names.ts'

/** The budgets of a workspace and of its keys. Amounts are microdollars: `usd(50)`. */
export interface Budgets {
  /**
   * Creates a budget. A workspace has at most 200. Earlier spending does not count.
   *
   * @example await gateway.workspaces(id).budgets.create({ name: 'monthly', period: 'month', limit: usd(50) })
   *
   * @throws `invalid_parameter_value`, `resource_not_found` (the key), `state_precondition_failed` (200 budgets, or a revoked key)
   */
  create(input: NewBudget): Promise<Budget>
  /** In order of creation. */
  list(options?: { readonly after?: string; readonly limit?: number }): Promise<readonly Budget[]>
  /** @throws `resource_not_found` */
  get(id: string): Promise<Budget>
  /** Changes a budget. The used amount stays. */
  update(id: string, input: BudgetChange): Promise<Budget>
  /** Deletes a budget and returns its last state. */
  delete(id: string): Promise<Budget>
}

export const budgetsOf = (managed: ManagedWorkspace): Budgets => {
  const { workspaceId, actor, storage, records, commitWithAudit, clock, ids } = managed
  const findBudget = async (id: string): Promise<TypedRecord<'budget'>> => {
    const budget = await records.find('budget', workspaceId, id)
    if (!budget) throw notFoundError('budget', id)
    return budget
  }
  const recordOf = async (budget: TypedRecord<'budget'>): Promise<Budget> => {
    const at = clock.now()
    const { spent, credited } = await orStoreDown(() => storage.ledger.balance(budgetAccountAt(budget, at)))
    const { id, body, createdAt } = budget
    return { ...body, id, workspaceId, createdAt, ...budgetFacts(body, { used: spent - credited, at }) }
  }
  return {
    async create(input) {
      const body = createBudgetBody(input)
      const id = ids.uuid()
      const budget = await commitWithAudit(workspaceId, actor, async () => {
        await findWorkspace(records, workspaceId)
        const all = await budgetsIn(records, workspaceId)
        const old = managed.isForSetup && all.find(each => each.body.name === body.name && each.body.apiKeyId === body.apiKeyId)
        if (old) return { events: [], result: old }
        checkRoom(managed, all)
        if (body.apiKeyId !== undefined) await checkKey(managed, workspaceId, body.apiKeyId)
        const record = { id, workspaceId, createdAt: clock.now(), body }
        return {
          puts: [newRecord('budget', record)],
          events: [{ event: 'budget.created', subject: { type: 'budget', id }, changes: toWire(budgetFields, input) }],
          result: { ...record, kind: 'budget' as const, version: 1 },
        }
      })
      return recordOf(budget)
    },
    list: async ({ after, limit = 100 } = {}) => Promise.all((await records.list('budget', { workspaceId, limit, after })).map(recordOf)),
    get: async id => recordOf(await findBudget(id)),
    async update(id, input) {
      const updated = await commitWithAudit(workspaceId, actor, async () => {
        const budget = await findBudget(id)
        if (Object.keys(input).length === 0) return { events: [], result: budget }
        const body = changeBudgetBody(budget.body, input)
        return {
          puts: [changedRecord(budget, { body })],
          events: [{ event: 'budget.updated', subject: { type: 'budget', id }, changes: toWire(budgetFields, input) }],
          result: { ...budget, body },
        }
      })
      return recordOf(updated)
    },
    async delete(id) {
      const gone = await commitWithAudit(workspaceId, actor, async () => {
        const budget = await findBudget(id)
        return {
          removals: [recordRemoval(budget)],
          events: [{ event: 'budget.deleted', subject: { type: 'budget', id } }],
          result: budget,
        }
      })
      return recordOf(gone)
    },
  }
}

/** A new budget with its defaults. */
function createBudgetBody({ scope, ...input }: NewBudget): BudgetBody {
  const { apiKeyId } = input
  const counted = scope ?? (apiKeyId === undefined ? 'workspace' : 'api_key')
  if (counted === 'workspace' && apiKeyId !== undefined)
    throw invalidValueError('apiKeyId', apiKeyId, 'nothing where `scope` is "workspace"; of one key, `scope` is "api_key"')
  if (counted === 'api_key' && apiKeyId === undefined)
    throw new GatewayError('missing_required_parameter', {
      message: '`apiKeyId` is missing. A budget whose `scope` is "api_key" names the key that it counts.',
      param: 'apiKeyId',
    })
  return changeBudgetBody({ period: 'month', enforce: true, includeByok: false, alertAt: [], ...defined(input), scope: counted }, {})
}

/** A budget after a change. */
function changeBudgetBody(body: BudgetBody, change: BudgetChange): BudgetBody {
  const next = { ...body, ...defined(change) }
  return { ...next, alertAt: [...new Set(next.alertAt)].sort((a, b) => a - b) }
}

/** All budgets of a workspace. */
const budgetsIn = async (records: Records, workspaceId: string): Promise<readonly TypedRecord<'budget'>[]> =>
  records.list('budget', { workspaceId, limit: maxRecordsRead })

/** Throws `state_precondition_failed` if the workspace has the maximum number of budgets, unless `setup` adds one. */
function checkRoom({ isForSetup }: Pick<ManagementParts, 'isForSetup'>, there: readonly TypedRecord<'budget'>[]): void {
  if (there.length >= maxRecordsOfKind && !isForSetup)
    throw new GatewayError('state_precondition_failed', {
      message: `This workspace has ${maxRecordsOfKind} budgets, the maximum. Delete one first.`,
    })
}

/** Throws if the workspace has no such key, or if the key is revoked or has expired, which for `setup` is no error. */
async function checkKey({ records, clock, isForSetup }: ManagementParts, workspaceId: string, id: string): Promise<void> {
  const key = await records.find('key', workspaceId, id)
  if (!key || key.group === 'system') throw notFoundError('API key', id)
  if (!isActive(key.body, clock.now()) && !isForSetup)
    throw new GatewayError('state_precondition_failed', {
      message: `The API key "${id}" is revoked or has expired, so it cannot have a budget. Use an active key.`,
      param: 'apiKeyId',
    })
}

/** The budget changes that a change of a key requires, to be committed with it. */
export type BudgetPart = Required<Pick<Draft<unknown>, 'puts' | 'removals' | 'events'>>

export const noBudgetPart: BudgetPart = { puts: [], removals: [], events: [] }

interface Owner {
  readonly id: string
  readonly workspaceId: string
  readonly body: Pick<KeyBody, 'name' | 'revokedAt' | 'expiresAt'>
}

/** The change of a key's budget. Absent fields of an existing budget stay; `null` removes the budget. */
export async function keyBudget(managed: ManagementParts, key: Owner, budget: KeyBudgetChange | null): Promise<BudgetPart> {
  const { records } = managed
  const old = await records.findByName('budget', keyBudgetName(key.id))
  if (budget === null) return old ? withoutBudgets([old]) : noBudgetPart
  if (!isActive(key.body, managed.clock.now())) {
    if (managed.isForSetup) return noBudgetPart
    throw new GatewayError('state_precondition_failed', {
      message: `The API key "${key.id}" is revoked or has expired, so it cannot have a budget.`,
      param: 'budget',
    })
  }
  if (!old) return newBudget(managed, key, budget)
  return {
    ...noBudgetPart,
    puts: [changedRecord(old, { body: changeBudgetBody(old.body, budget) })],
    events: [{ event: 'budget.updated', subject: { type: 'budget', id: old.id }, changes: toWire(budgetFields, budget) }],
  }
}

async function newBudget(managed: ManagementParts, key: Owner, budget: KeyBudgetChange): Promise<BudgetPart> {
  const { records, clock, ids, isForSetup, logger } = managed
  const { limit } = budget
  // The holder of a key can delete its budget.
  if (limit === undefined && isForSetup) {
    logger.warn(
      { workspaceId: key.workspaceId, id: key.id },
      'The budget of an API key that `setup` changes does not exist, so nothing limits what the key spends. Pass `budget.limit` too, which makes it again.',
    )
    return noBudgetPart
  }
  if (limit === undefined)
    throw new GatewayError('missing_required_parameter', {
      message: '`budget.limit` is missing.',
      param: 'budget.limit',
    })
  checkRoom(managed, await budgetsIn(records, key.workspaceId))
  const input = { ...budget, limit, name: key.body.name, apiKeyId: key.id, period: 'total' } as const
  const id = ids.uuid()
  const record = { id, workspaceId: key.workspaceId, name: keyBudgetName(key.id), createdAt: clock.now(), body: createBudgetBody(input) }
  return {
    ...noBudgetPart,
    puts: [newRecord('budget', record)],
    events: [{ event: 'budget.created', subject: { type: 'budget', id }, changes: toWire(budgetFields, input) }],
  }
}

/** Removes the budgets of a revoked key. */
export async function budgetsGone({ records }: ManagementParts, { id, workspaceId }: Owner): Promise<BudgetPart> {
  const all = await budgetsIn(records, workspaceId)
  return withoutBudgets(all.filter(({ body }) => body.apiKeyId === id))
}

const withoutBudgets = (budgets: readonly TypedRecord<'budget'>[]): BudgetPart => ({
  ...noBudgetPart,
  removals: budgets.map(recordRemoval),
  events: budgets.map(({ id }) => ({ event: 'budget.deleted', subject: { type: 'budget', id } })),
})

const keyBudgetName = (keyId: string): string => `key:${keyId}`
