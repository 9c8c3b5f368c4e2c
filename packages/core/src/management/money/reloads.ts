import type { Storage } from '@signalbox/storage'
import { allOf } from '@signalbox/storage/awaitable'
import { creditAccount } from '../../access/accounts.ts'
import type { ReloadBody } from '../../access/kinds.ts'
import { changedRecord, newRecord, type Records } from '../../access/records.ts'
import type { WorkspacePolicies } from '../../access/workspace-policy.ts'
import type { Clock, Logger } from '../../runtime/ports.ts'
import type { CommitWithAudit, Draft } from '../commit-with-audit.ts'

/** What the operator does about money. */
export interface BillingOptions {
  /**
   * Credit of a workspace with auto reload fell below its threshold: have it paid, and once it is, call
   * `gateway.workspaces(workspaceId).billing.credit({ reference, amount })`. Asked once at a time for each workspace, whatever the
   * number of processes. Without that credit, be it because this threw, it is asked again after 15 minutes with the same
   * `reference` and `amount`: pass the reference on to the payment system, so that one reload is one charge. Default: no workspace
   * can turn auto reload on.
   */
  readonly onReload?: (workspaceId: string, reload: Reload) => void | Promise<void>
  /** Shown with the balance. Default: false for all. */
  readonly hasPaymentMethod?: (workspaceId: string) => boolean | Promise<boolean>
}

/** Microdollars. */
export interface Reload {
  readonly balance: number
  readonly threshold: number
  readonly target: number
  /** To be paid in. */
  readonly amount: number
  readonly reference: string
}

export interface Reloads {
  /**
   * Checks in the background whether a workspace with auto reload needs one; never throws. To be called after a charge is settled, and
   * when credit did not suffice.
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
  /** A closing gateway waits for what is in here. */
  readonly pending: Set<Promise<void>>
}

/** A payment takes its time; and a card that was refused just now is refused again. */
const patienceMs = 15 * 60_000

/** The same until that reload is paid, so that the payment system recognizes a second request. */
export const reloadReference = (workspaceId: string, number: number): string => `reload:${workspaceId}:${number}`

export function keepReloads(ports: ReloadPorts): Reloads {
  const { logger, onReload, pending } = ports
  // What is spent during a check is checked afterwards: one check of a workspace runs at a time, and none is lost.
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
    const asked: Promise<void>[] = []
    try {
      do {
        state.again = false
        const reload = await claim(ports, workspaceId)
        if (reload) asked.push(ask(workspaceId, reload))
      } while (state.again)
    } finally {
      looking.delete(workspaceId)
    }
    // A check does not wait for the payment, however long it takes.
    await Promise.all(asked)
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

/** The reload to request now; no other process requests it too. */
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
  // One that ends later than the longest wait from now was written before the clock went back, and holds nothing up.
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
