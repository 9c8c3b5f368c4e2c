import type { ReloadBody, WorkspacePolicies } from '@signalbox/core/access'
import { changedRecord, creditAccount, newRecord, type Records } from '@signalbox/core/access'
import type { Clock, Logger } from '@signalbox/core/runtime'
import type { Storage } from '@signalbox/storage'
import { allOf } from '@signalbox/storage/awaitable'
import type { CommitWithAudit, Draft } from '../change.ts'

// One record for each workspace, written with `commitWithAudit`, so that one process asks. A reload that is not paid is asked for again with
// the same reference and amount, so that a payment service with idempotency keys charges once; the credit closes it in the same commit.

/** Billing hooks of the operator. */
export interface BillingOptions {
  /**
   * Called when the credit of a workspace with auto reload falls below its threshold. Charge the amount, and after payment call
   * `gateway.workspaces(workspaceId).billing.credit({ reference, amount })`. For each workspace one reload is requested at a time, across
   * all processes. If the credit does not arrive, for instance because this hook threw, it is called again after 15 minutes with the same
   * `reference` and `amount`: pass the reference to the payment system as its idempotency key, so that one reload is charged once.
   * Default: auto reload cannot be enabled.
   */
  readonly onReload?: (workspaceId: string, reload: Reload) => void | Promise<void>
  /** Shown with the balance. Default: false for all. */
  readonly hasPaymentMethod?: (workspaceId: string) => boolean | Promise<boolean>
}

/** Amounts in microdollars. */
export interface Reload {
  readonly balance: number
  readonly threshold: number
  readonly target: number
  /** The amount to be paid. */
  readonly amount: number
  readonly reference: string
}

export interface Reloads {
  /**
   * Checks in the background whether a workspace needs a reload. Never throws. Call it after a charge is settled, and when credit did
   * not suffice.
   */
  look(workspaceId: string): void
}

export interface ReloadPorts {
  readonly storage: Pick<Storage, 'ledger'>
  readonly records: Records
  readonly commitWithAudit: CommitWithAudit
  readonly terms: WorkspacePolicies
  readonly clock: Clock
  readonly logger: Logger
  readonly onReload: NonNullable<BillingOptions['onReload']>
  /** Closing the gateway waits for these. */
  readonly pending: Set<Promise<void>>
}

/** Payments take time, and a card that was just refused will be refused again. */
const patienceMs = 15 * 60_000

/** Stays the same until the reload is paid, so that the payment system recognizes a repeated request. */
export const reloadReference = (workspaceId: string, number: number): string => `reload:${workspaceId}:${number}`

/** Creates the check that asks the app for credit when a workspace runs low. */
export function keepReloads(ports: ReloadPorts): Reloads {
  const { logger, onReload, pending } = ports
  // One check of a workspace runs at a time. Spending during a check triggers another one afterwards.
  const looking = new Map<string, { again: boolean }>()

  const logFailure = (workspaceId: string, error: unknown): void =>
    logger.error({ workspaceId, error: String(error) }, 'Credit could not be reloaded; will retry later.')
  const ask = async (workspaceId: string, reload: Reload): Promise<void> => {
    try {
      await onReload(workspaceId, reload)
    } catch (error) {
      logFailure(workspaceId, error)
    }
  }
  const lookAll = async (workspaceId: string, state: { again: boolean }): Promise<void> => {
    const pending: Promise<void>[] = []
    try {
      do {
        state.again = false
        const reload = await claim(ports, workspaceId)
        if (reload) pending.push(ask(workspaceId, reload))
      } while (state.again)
    } finally {
      looking.delete(workspaceId)
    }
    // A check does not wait for payments, which may take long.
    await Promise.all(pending)
  }
  return {
    look(workspaceId) {
      const state = looking.get(workspaceId)
      if (state) {
        state.again = true
        return
      }
      const fresh = { again: false }
      looking.set(workspaceId, fresh)
      const done = lookAll(workspaceId, fresh)
        .catch(error => logFailure(workspaceId, error))
        .finally(() => pending.delete(done))
      pending.add(done)
    },
  }
}

/** The reload to request now, reserved so that no other process requests it too. */
async function claim(ports: ReloadPorts, workspaceId: string): Promise<Reload | undefined> {
  const { storage, terms, commitWithAudit } = ports
  const { autoReload } = (await terms.of(workspaceId))?.workspace.body ?? {}
  if (!autoReload?.enabled) return undefined
  const { balance } = await storage.ledger.balance(creditAccount(workspaceId))
  return balance < autoReload.threshold ? commitWithAudit(workspaceId, {}, () => decide(ports, workspaceId)) : undefined
}

const nothing = { events: [], result: undefined }

async function decide({ storage, records, clock }: ReloadPorts, workspaceId: string): Promise<Draft<Reload | undefined>> {
  const at = clock.now()
  const [workspace, last, { balance }] = await allOf([
    () => records.find('workspace', workspaceId, workspaceId),
    () => records.find('reload', workspaceId, workspaceId),
    () => storage.ledger.balance(creditAccount(workspaceId)),
  ])
  const { autoReload } = workspace?.body ?? {}
  if (!autoReload?.enabled || balance >= autoReload.threshold) return nothing
  // A deadline further away than the longest wait was written before the clock was set back, and is ignored.
  if (last && !last.body.isPaid && last.body.until > at && last.body.until <= at + patienceMs) return nothing
  const { threshold, target } = autoReload
  const isSame = last && !last.body.isPaid && last.body.threshold === threshold && last.body.target === target
  const body: ReloadBody = isSame
    ? { ...last.body, until: at + patienceMs }
    : { number: (last?.body.number ?? 0) + 1, amount: target - balance, threshold, target, until: at + patienceMs, isPaid: false }
  const reference = reloadReference(workspaceId, body.number)
  const event = isSame ? 'reload.updated' : 'reload.created'
  return {
    puts: [last ? changedRecord(last, { body }) : newRecord('reload', { id: workspaceId, workspaceId, createdAt: at, body })],
    events: [{ event, subject: { type: 'reload', id: reference }, changes: { amount_microdollars: body.amount } }],
    result: { balance, threshold, target, amount: body.amount, reference },
  }
}
