import type { CreditBalance } from '@signalbox/core/resources'
import { fieldsOf, type ReplyTable } from './reply-table.ts'

const { flag, integerOrNull, text, microdollars } = fieldsOf<CreditBalance>()

/** Whole cents, rounded down, so that a debt of one microdollar is shown as one cent. */
export const centsOf = (microdollars: number): number => Math.floor(microdollars / 10_000)

/** Dollars with two decimal places, as in `-1.05`. */
export function dollarsOf(microdollars: number): string {
  const cents = centsOf(microdollars)
  const whole = Math.abs(cents)
  return `${cents < 0 ? '-' : ''}${Math.floor(whole / 100)}.${String(whole % 100).padStart(2, '0')}`
}

interface Amount {
  readonly description: string
  readonly reply?: 'always' | 'nullable'
  readonly example: number
  readonly from: (balance: CreditBalance) => number | undefined
}

/** An amount in microdollars and in cents, as two fields. */
const amounts = (name: string, { description, reply = 'always', example, from }: Amount): ReplyTable<CreditBalance> => ({
  [name]: { kind: 'microdollars', reply, description, example, from },
  [`${name}Cents`]: {
    kind: 'integer',
    reply,
    description: 'The same in cents, rounded down.',
    example: centsOf(example),
    from: balance => {
      const amount = from(balance)
      return amount === undefined ? undefined : centsOf(amount)
    },
  },
})

/** The credit of a workspace. */
export const balanceReply: ReplyTable<CreditBalance> = {
  ...amounts('balance', { description: 'Credit of the workspace.', example: 12_500_000, from: ({ balance }) => balance }),
  balanceDollars: text('The same in dollars, with two decimal places.', '12.50', ({ balance }) => dollarsOf(balance)),
  held: microdollars('The part of the credit that is held for running requests.', 250_000),
  ...amounts('lifetimePurchased', {
    description: 'Total credit that was ever added.',
    example: 50_000_000,
    from: ({ credited }) => credited,
  }),
  ...amounts('lifetimeUsed', { description: 'Total credit that was ever spent.', example: 37_500_000, from: ({ spent }) => spent }),
  autoReloadEnabled: flag('Whether credit is reloaded automatically.', true, ({ autoReload }) => autoReload.enabled),
  ...amounts('autoReloadThreshold', {
    description: 'Credit is reloaded when the balance falls below this. null: never set.',
    reply: 'nullable',
    example: 5_000_000,
    from: ({ autoReload }) => autoReload.threshold,
  }),
  ...amounts('autoReloadTarget', {
    description: 'The balance after a reload. null: never set.',
    reply: 'nullable',
    example: 20_000_000,
    from: ({ autoReload }) => autoReload.target,
  }),
  hasPaymentMethod: flag('Whether the operator can charge the workspace.', true),
  byokMonthlyRequestCap: integerOrNull(
    'Limit on requests with provider keys of the workspace in a calendar month (UTC). null: no limit.',
    null,
  ),
  byokRequestsRemaining: integerOrNull('Requests left under that limit this month. null: no limit.', null),
}
