import { allOf, type LedgerEntry } from '@signalbox/storage'
import { byokAccount, creditAccount } from '../../access/accounts.ts'
import type { Kept } from '../../access/records.ts'
import { GatewayError, orStoreDown } from '../../errors/gateway-error.ts'
import { checkText, checkWhole, wrong } from '../check.ts'
import { ownWorkspace } from '../own.ts'
import type { Desk } from '../ports.ts'
import { type AutoReload, autoReloadOf, paidPart } from './auto-reload.ts'

export interface Billing {
  balance(): Promise<CreditBalance>
  /**
   * Money in, once per `reference`: the same one again changes nothing; with another amount it is `duplicate_resource`.
   *
   * @example await gateway.workspaces(id).billing.credit({ reference: 'invoice 17', amount: 5_000_000 })
   */
  credit(input: NewCredit): Promise<CreditBalance>
  /** A correction by the operator: up, or down, below 0 too. Once per `reference`, like a credit. Not to be had over HTTP. */
  adjust(input: NewCredit): Promise<CreditBalance>
  /** What came in and went out of the credit, newest first. */
  ledger(query?: LedgerQuery): Promise<readonly MoneyMove[]>
  readonly autoReload: AutoReload
}

/** Microdollars. */
export interface CreditBalance {
  readonly balance: number
  /** Set aside for requests under way. */
  readonly held: number
  readonly credited: number
  readonly spent: number
  /** Absent amounts were never said. */
  readonly autoReload: { readonly enabled: boolean; readonly threshold?: number; readonly target?: number }
  /** As the operator's `billing.hasPaymentMethod` says; false where there is none. */
  readonly hasPaymentMethod: boolean
  /** Requests with credentials of the workspace's own in a calendar month (UTC). Absent: any number. */
  readonly byokMonthlyRequestCap?: number
  readonly byokRequestsRemaining?: number
}

export interface NewCredit {
  /** Microdollars: 1 or more; of an adjustment whichever sign, but not 0. */
  readonly amount: number
  readonly reference: string
  readonly note?: string
}

export interface LedgerQuery {
  /** Unix milliseconds, included. */
  readonly from?: number
  /** Unix milliseconds, not included. */
  readonly to?: number
  /** Goes on after the entry of this id; one that is not there has nothing after it. */
  readonly after?: string
  /** Default: 100. */
  readonly limit?: number
}

export interface MoneyMove {
  readonly id: string
  /** Unix milliseconds. */
  readonly at: number
  readonly kind: 'credit' | 'usage' | 'adjustment'
  /** Microdollars: above 0 came in, below 0 went out. */
  readonly amount: number
  readonly balanceAfter: number
  /** Of usage. */
  readonly requestId?: string
  /** Of what was paid in, or corrected. */
  readonly reference?: string
  readonly note?: string
}

const most = 1e15

export const billingOf = (desk: Desk): Billing => {
  const { ports, workspaceId } = desk
  const { storage } = ports
  const account = creditAccount(workspaceId)
  const balance = async (): Promise<CreditBalance> => {
    const [workspace, credit] = await allOf([
      () => ownWorkspace(ports.records, workspaceId),
      () => orStoreDown(() => storage.ledger.balance(account)),
    ])
    const [hasPaymentMethod, byok] = await Promise.all([isPayable(desk), byokLeft(desk, workspace)])
    return { ...credit, autoReload: workspace.body.autoReload ?? { enabled: false }, hasPaymentMethod, ...byok }
  }
  return {
    balance,
    async credit(input) {
      checkWhole('amount_microdollars', input.amount, { min: 1, max: most })
      await enter(desk, 'credit', input)
      return balance()
    },
    async adjust(input) {
      if (input.amount === 0) throw wrong('amount_microdollars', 0, 'what is to be added, or taken away with a minus')
      checkWhole('amount_microdollars', input.amount, { min: -most, max: most })
      await enter(desk, 'adjustment', input)
      return balance()
    },
    async ledger({ after, limit = 100, ...span } = {}) {
      if (span.from !== undefined && span.to !== undefined && span.from >= span.to)
        throw wrong('from', new Date(span.from).toISOString(), 'a time before `to`')
      const before = after === undefined ? {} : { before: after.slice(after.indexOf(':') + 1) }
      const entries = await orStoreDown(() => storage.ledger.entries(account, { ...span, ...before, limit }))
      return entries.map(moveOf)
    },
    autoReload: autoReloadOf(desk, balance),
  }
}

/** Once per reference, whichever kind: what has its name already is not done again. */
async function enter({ ports, workspaceId, actor }: Desk, kind: 'credit' | 'adjustment', input: NewCredit): Promise<void> {
  const { storage, records, register, clock } = ports
  const { amount, reference, note } = input
  const account = creditAccount(workspaceId)
  checkText('reference', reference)
  if (note !== undefined) checkText('note', note, { min: 0, max: 1_000 })
  await register(workspaceId, actor, async () => {
    await ownWorkspace(records, workspaceId)
    const [before] = await orStoreDown(() => storage.ledger.entries(account, { id: reference, limit: 1 }))
    if (before?.kind === kind && before.amount === amount) return { events: [], result: undefined }
    if (before) throw otherMove(reference)
    return {
      puts: await paidPart(records, workspaceId, reference),
      credits: [{ id: reference, account, amount, kind, at: clock.now(), ...(note !== undefined && { note }) }],
      events: [{ event: `${kind}.created`, subject: { type: kind, id: reference }, changes: { amount_microdollars: amount, reference } }],
      result: undefined,
    }
  })
}

/** A usage entry is named by its request, the others by who entered them: the kind before it keeps them apart. */
const moveOf = ({ id, at, kind, amount, balanceAfter, note }: LedgerEntry): MoneyMove => ({
  id: `${kind}:${id}`,
  at,
  kind,
  amount,
  balanceAfter,
  ...(kind === 'usage' ? { requestId: id } : { reference: id }),
  ...(note !== undefined && { note }),
})

/** Somebody else's system answers: the balance is told without it. */
async function isPayable({ ports: { billing, logger }, workspaceId }: Desk): Promise<boolean> {
  try {
    return (await billing?.hasPaymentMethod?.(workspaceId)) === true
  } catch (error) {
    logger.warn({ workspaceId, error: String(error) }, 'billing.hasPaymentMethod threw; the workspace is shown without a payment method.')
    return false
  }
}

async function byokLeft(
  { ports: { storage, clock } }: Desk,
  { id, body }: Kept<'workspace'>,
): Promise<Pick<CreditBalance, 'byokMonthlyRequestCap' | 'byokRequestsRemaining'>> {
  const cap = body.subscription?.byokMonthlyRequestCap
  if (cap === undefined) return {}
  const at = clock.now()
  const { balance } = await orStoreDown(() => storage.ledger.balance(byokAccount(id, at)))
  return { byokMonthlyRequestCap: cap, byokRequestsRemaining: Math.max(0, cap + balance) }
}

const otherMove = (reference: string): GatewayError =>
  new GatewayError('duplicate_resource', {
    message: `The reference "${reference.slice(0, 100)}" stands for another amount already. Use one reference for each payment.`,
    param: 'reference',
  })
