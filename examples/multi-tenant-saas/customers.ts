// Each customer is a workspace: it has its own API keys, credit, budget and provider keys, and sees nothing of the others.
import type { Workspace } from 'signalbox'
import { gateway } from './gateway.ts'

/** What the admin page shows of a customer. Money is microdollars. */
export interface Customer {
  readonly id: string
  readonly name: string
  readonly credit: number
  readonly requests: number
  /** Charged in the last 30 days. */
  readonly cost: number
  /** Of requests with the customer's own provider key, at list price: the provider charges it. */
  readonly ownKeyCost: number
  readonly budget?: { readonly used: number; readonly limit: number }
  /** `valid` once the provider has accepted it. */
  readonly ownKey?: string
}

/** Creates a customer with an API key, which is returned here and kept nowhere. A name that is taken gets no second key. */
export async function createCustomer(name: string): Promise<string | undefined> {
  const id = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
  await gateway.workspaces.create({ id, name })
  const { apiKeys } = gateway.workspaces(id)
  if ((await apiKeys.list()).length > 0) return undefined
  const { secret } = await apiKeys.create({ name: 'first' })
  return secret
}

/** Adds prepaid credit, once for each reference: a form that is sent twice pays once. */
export async function addCredit(id: string, { amount, reference }: { amount: number; reference: string }): Promise<void> {
  await gateway.workspaces(id).billing.credit({ amount, reference })
}

/** Sets what all keys of the customer together may spend in a month. */
export async function setBudget(id: string, limit: number): Promise<void> {
  const { budgets } = gateway.workspaces(id)
  const [budget] = await budgets.list()
  if (budget) await budgets.update(budget.id, { limit })
  else await budgets.create({ name: 'monthly', period: 'month', limit })
}

/** The customer's own key of OpenAI: from now on its requests use that, and cost no credit. */
export async function setOwnKey(id: string, apiKey: string): Promise<void> {
  const { byokKeys } = gateway.workspaces(id)
  const [key] = await byokKeys.list({ provider: 'openai' })
  if (key) await byokKeys.update(key.id, { apiKey })
  else await byokKeys.create({ provider: 'openai', name: 'own', apiKey })
}

export async function listCustomers(): Promise<readonly Customer[]> {
  const workspaces = await gateway.workspaces.list()
  return Promise.all(workspaces.map(async each => ({ ...each, ...(await factsOf(gateway.workspaces(each.id))) })))
}

async function factsOf({ billing, analytics, budgets, byokKeys }: Workspace): Promise<Omit<Customer, 'id' | 'name'>> {
  const [{ balance }, usage, [budget], [ownKey]] = await Promise.all([
    billing.balance(),
    analytics.summary(),
    budgets.list(),
    byokKeys.list({ provider: 'openai' }),
  ])
  return {
    credit: balance,
    requests: usage.requests,
    cost: usage.cost,
    ownKeyCost: usage.byokCost,
    ...(budget && { budget }),
    ...(ownKey && { ownKey: ownKey.validationStatus }),
  }
}
