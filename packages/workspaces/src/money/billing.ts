import { byokAccount, changedRecord, creditAccount, type Records, type TypedRecord, type WorkspaceBody } from '@signalbox/core/access'
import {
  type AutoReloadChange,
  autoReloadFields,
  type CreditBalance,
  creditFields,
  invalidValueError,
  type MoneyMove,
  type NewCredit,
  toWire,
} from '@signalbox/core/resources'
import { orStoreDown } from '@signalbox/core/runtime'
import { GatewayError } from '@signalbox/dialects/errors'
import type { LedgerEntry, RecordPut } from '@signalbox/storage'
import { allOf } from '@signalbox/storage/awaitable'
import { findWorkspace } from '../find-workspace.ts'
import type { ManagedWorkspace, ManagementParts } from '../ports.ts'
import { changeWorkspace } from '../settings.ts'
import { reloadReference } from './reloads.ts'

/** The credit of a workspace. Amounts are microdollars: `usd(5)`. */
export interface Billing {
  balance(): Promise<CreditBalance>
  /**
   * Adds credit, once per `reference`: repeating it changes nothing; with another amount it is `duplicate_resource`.
   *
   * @throws `duplicate_resource`, `invalid_parameter_value`, `resource_not_found` (the workspace)
   * @example await gateway.workspaces(id).billing.credit({ reference: 'invoice 17', amount: usd(5) })
   */
  credit(input: NewCredit): Promise<CreditBalance>
  /** Corrects the credit, up or down, also below 0. Once per `reference`, like a credit. For the operator only, not available over HTTP. */
  adjust(input: NewCredit): Promise<CreditBalance>
  /** The changes of the credit, newest first. */
  ledger(query?: LedgerQuery): Promise<readonly MoneyMove[]>
  readonly autoReload: AutoReload
}

/** Which entries of the credit ledger to list. */
interface LedgerQuery {
  /** Unix milliseconds, inclusive. */
  readonly from?: number
  /** Unix milliseconds, exclusive. */
  readonly to?: number
  /** Starts after the entry with this id. Empty if it does not exist. */
  readonly after?: string
  /** Default: 100. */
  readonly limit?: number
}

export const billingOf = (managed: ManagedWorkspace): Billing => {
  const { workspaceId, storage } = managed
  const account = creditAccount(workspaceId)
  const balance = async (): Promise<CreditBalance> => {
    const [workspace, credit] = await allOf([
      () => findWorkspace(managed.records, workspaceId),
      () => orStoreDown(() => storage.ledger.balance(account)),
    ])
    const [hasPaymentMethod, byok] = await Promise.all([isPayable(managed), byokLeft(managed, workspace)])
    return { ...credit, autoReload: workspace.body.autoReload ?? { enabled: false }, hasPaymentMethod, ...byok }
  }
  return {
    balance,
    async credit(input) {
      await enter(managed, 'credit', input)
      return balance()
    },
    async adjust(input) {
      if (input.amount === 0) throw invalidValueError('amount', 0, 'what is to be added, or taken away with a minus')
      await enter(managed, 'adjustment', input)
      return balance()
    },
    async ledger({ after, limit = 100, ...span } = {}) {
      if (span.from !== undefined && span.to !== undefined && span.from >= span.to)
        throw invalidValueError('from', new Date(span.from).toISOString(), 'a time before `to`')
      const before = after === undefined ? {} : { before: after.slice(after.indexOf(':') + 1) }
      const entries = await orStoreDown(() => storage.ledger.entries(account, { ...span, ...before, limit }))
      return entries.map(moveOf)
    },
    autoReload: autoReloadOf(managed, balance),
  }
}

/** Books an entry once per reference, whichever its kind. */
async function enter(managed: ManagedWorkspace, kind: 'credit' | 'adjustment', input: NewCredit): Promise<void> {
  const { workspaceId, actor, storage, records, commitWithAudit, clock, isForSetup } = managed
  const { amount, reference, note } = input
  const account = creditAccount(workspaceId)
  await commitWithAudit(workspaceId, actor, async () => {
    await findWorkspace(records, workspaceId)
    const [before] = await orStoreDown(() => storage.ledger.entries(account, { id: reference, limit: 1 }))
    if (before?.kind === kind && before.amount === amount) return { events: [], result: undefined }
    if (before && !isForSetup)
      throw new GatewayError('duplicate_resource', {
        message: `The reference "${reference.slice(0, 100)}" was already used for another amount. Use one reference per payment.`,
        param: 'reference',
      })
    if (before || (isForSetup && !(await hasRoom(managed, account, amount)))) {
      const found = before ? 'this reference was already used for another amount' : 'the credit has reached its maximum'
      managed.logger.warn({ workspaceId, reference, amount }, `\`setup\` adds no credit here, because ${found}.`)
      return { events: [], result: undefined }
    }
    return {
      puts: await paidPart(records, workspaceId, reference),
      credits: [{ id: reference, account, amount, kind, at: clock.now(), ...(note !== undefined && { note }) }],
      events: [{ event: `${kind}.created`, subject: { type: kind, id: reference }, changes: toWire(creditFields, { amount, reference }) }],
      result: undefined,
    }
  })
}

/** Whether the balance and the sum of all credits stay exact integers with this amount. */
async function hasRoom({ storage }: ManagementParts, account: string, amount: number): Promise<boolean> {
  const { credited, spent } = await orStoreDown(() => storage.ledger.balance(account))
  return [credited + amount, credited - spent + amount].every(sum => Math.abs(sum) <= Number.MAX_SAFE_INTEGER)
}

/** Usage entries are named by their request, others by their reference. The kind is a prefix, so that they never collide. */
const moveOf = ({ id, at, kind, amount, balanceAfter, note }: LedgerEntry): MoneyMove => ({
  id: `${kind}:${id}`,
  at,
  kind,
  amount,
  balanceAfter,
  ...(kind === 'usage' ? { requestId: id } : { reference: id }),
  ...(note !== undefined && { note }),
})

/** Asks the operator's system. If it fails, the balance is returned without this information. */
async function isPayable({ billing, logger, workspaceId }: ManagedWorkspace): Promise<boolean> {
  try {
    return (await billing?.hasPaymentMethod?.(workspaceId)) === true
  } catch (error) {
    logger.warn(
      { workspaceId, error: String(error) },
      'billing.hasPaymentMethod threw an error; the workspace is shown without a payment method.',
    )
    return false
  }
}

async function byokLeft(
  { storage, clock }: ManagedWorkspace,
  { id, body }: TypedRecord<'workspace'>,
): Promise<Pick<CreditBalance, 'byokMonthlyRequestCap' | 'byokRequestsRemaining'>> {
  const cap = body.subscription?.byokMonthlyRequestCap
  if (cap === undefined) return {}
  const at = clock.now()
  const { balance } = await orStoreDown(() => storage.ledger.balance(byokAccount(id, at)))
  return { byokMonthlyRequestCap: cap, byokRequestsRemaining: Math.max(0, cap + balance) }
}

/** Automatic payment of credit when it runs low. */
export interface AutoReload {
  /**
   * Changes the settings. When credit falls below `threshold`, the operator's `billing.onReload` is called to pay the difference to `target`.
   *
   * @example await gateway.workspaces(id).billing.autoReload.update({ enabled: true, threshold: usd(5), target: usd(20) })
   */
  update(input: AutoReloadChange): Promise<CreditBalance>
}

const autoReloadOf = (managed: ManagedWorkspace, balance: () => Promise<CreditBalance>): AutoReload => ({
  async update(input) {
    const { workspaceId } = managed
    if (input.enabled && !managed.reloads) throw impossibleReferenceError()
    await changeWorkspace(managed, { type: 'auto_reload', fields: autoReloadFields, input }, kept => withChange(kept, input, managed))
    // Credit may be low already. Then no request would be admitted that could trigger a reload.
    managed.reloads?.look(workspaceId)
    return balance()
  },
})

function withChange(
  { autoReload }: WorkspaceBody,
  input: AutoReloadChange,
  { isForSetup }: Pick<ManagedWorkspace, 'isForSetup'>,
): Pick<WorkspaceBody, 'autoReload'> {
  const { enabled = false, threshold, target } = { ...autoReload, ...input }
  if (!enabled && threshold === undefined && target === undefined) return {}
  if (threshold === undefined) throw missingError('threshold')
  if (target === undefined) throw missingError('target')
  // An amount that `setup` leaves out is the workspace’s, which may have changed it since.
  if (target <= threshold && isForSetup && (input.threshold === undefined || input.target === undefined)) return {}
  if (target <= threshold) throw invalidValueError('target', target, `more than \`threshold\`, ${threshold}`)
  return { autoReload: { enabled, threshold, target } }
}

const missingError = (param: string): GatewayError =>
  new GatewayError('missing_required_parameter', { message: `\`${param}\` is missing, and no earlier value is stored.`, param })

const impossibleReferenceError = (): GatewayError =>
  new GatewayError('operation_not_allowed', {
    message: 'This gateway cannot reload credit: its operator has not set `billing.onReload`. Add credit manually.',
    param: 'enabled',
  })

/** Marks a reload as paid, in the same commit as the credit that it requested. */
export async function paidPart(records: Records, workspaceId: string, reference: string): Promise<readonly RecordPut[]> {
  const reload = await records.find('reload', workspaceId, workspaceId)
  const isIt = reload && !reload.body.isPaid && reloadReference(workspaceId, reload.body.number) === reference
  return isIt ? [changedRecord(reload, { body: { isPaid: true } })] : []
}
