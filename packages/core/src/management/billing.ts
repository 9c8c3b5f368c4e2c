import type { Storage } from '@signalbox/storage'
import { creditAccount } from '../access/accounts.ts'
import type { Clock } from '../runtime/ports.ts'

export interface Billing {
  /** Microdollars. */
  balance(
    workspaceId: string,
  ): Promise<{ readonly balance: number; readonly held: number; readonly credited: number; readonly spent: number }>
  /** `reference` makes it happen once. */
  credit(workspaceId: string, input: { readonly reference: string; readonly amount: number }): Promise<void>
}

export const billingOf = ({ ledger, workspaces }: Storage, clock: Clock): Billing => ({
  balance: workspaceId => ledger.balance(creditAccount(workspaceId), clock.now()),
  async credit(workspaceId, { reference, amount }) {
    if (!Number.isSafeInteger(amount) || amount < 1) {
      throw new TypeError(`billing.credit: \`amount\` is ${amount}; it takes whole microdollars, 1 or more (1 USD = 1,000,000).`)
    }
    if (!(await workspaces.find(workspaceId)))
      throw new TypeError(`billing.credit: there is no workspace "${workspaceId}". Make it first, with workspaces.create.`)
    await ledger.credit({ id: reference, account: creditAccount(workspaceId), amount, at: clock.now() })
  },
})
