import { creditAccount } from '../access/accounts.ts'
import { GatewayError } from '../errors/gateway-error.ts'
import { noWorkspace } from './api-keys.ts'
import { checkText, checkWhole } from './check.ts'
import type { Desk } from './ports.ts'

export interface Billing {
  /** Microdollars. */
  balance(): Promise<CreditBalance>
  /**
   * Money in, once per `reference`: the same one again changes nothing; with another amount it is `duplicate_resource`.
   *
   * @example await gateway.workspaces(id).billing.credit({ reference: 'invoice 17', amount: 5_000_000 })
   */
  credit(input: NewCredit): Promise<CreditBalance>
}

export interface CreditBalance {
  readonly balance: number
  readonly held: number
  readonly credited: number
  readonly spent: number
}

export interface NewCredit {
  /** Microdollars, 1 or more. */
  readonly amount: number
  readonly reference: string
  readonly note?: string
}

export const billingOf = ({ ports, workspaceId, actor }: Desk): Billing => {
  const { storage, records, register, clock } = ports
  const account = creditAccount(workspaceId)
  const balance = (): Promise<CreditBalance> => storage.ledger.balance(account, clock.now())
  return {
    balance,
    async credit({ amount, reference, note }) {
      checkWhole('amount_microdollars', amount, { min: 1, max: 1e15 })
      checkText('reference', reference)
      if (note !== undefined) checkText('note', note, { min: 0, max: 1_000 })
      await register(workspaceId, actor, async () => {
        if (!(await records.find('workspace', workspaceId, workspaceId))) throw noWorkspace(workspaceId)
        const [before] = await storage.ledger.entries(account, { id: reference, limit: 1 })
        if (before?.kind === 'credit') {
          if (before.amount === amount) return { events: [], result: undefined }
          throw new GatewayError('duplicate_resource', {
            message: `The reference "${reference.slice(0, 100)}" stands for another amount already. Use one reference for each payment.`,
            param: 'reference',
          })
        }
        return {
          credits: [{ id: reference, account, amount, at: clock.now(), ...(note !== undefined && { note }) }],
          events: [
            { event: 'credit.created', subject: { type: 'credit', id: reference }, changes: { amount_microdollars: amount, reference } },
          ],
          result: undefined,
        }
      })
      return balance()
    },
  }
}
