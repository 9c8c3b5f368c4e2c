import type { CreditBalance } from '@signalbox/core/resources'
import { fieldsOf, type ReplyTable } from './reply-table.ts'

const { flag, integerOrNull, text } = fieldsOf<CreditBalance>()

/** Whole cents, rounded down, so that a debt of one microdollar is shown as one cent. */
export const centsOf = (microdollars: number): number => Math.floor(microdollars / 10_000)

/** Dollars with two decimal places, as in `-1.05`. */
export function dollarsOf(microdollars: number): string {
  const cents = centsOf(microdollars)
  const whole = Math.abs(cents)
  return `${cents < 0 ? '-' : ''}${Math.floor(whole / 100)}.${String(whole % 100).padStart(2, '0')}`
}

interface AmountFacts {
  readonly reply?: 'always' | 'nullable'
  readonly example: number
  readonly from: (balance: CreditBalance) => number | undefined
}

/** An amount in microdollars and in cents, as two fields. */
const amounts = (name: string, description: string, { reply = 'always', example, from }: AmountFacts): ReplyTable<CreditBalance> => ({
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
  ...amounts('balance', 'Credit of the workspace.', { example: 12_500_000, from: ({ balance }) => balance }),
  balanceDollars: text({
    description: 'The same in dollars, with two decimal places.',
    example: '12.50',
    from: ({ balance }) => dollarsOf(balance),
  }),
  held: {
    kind: 'microdollars',
    reply: 'always',
    description: 'The part of the credit that is held for running requests.',
    example: 250_000,
    from: ({ held }) => held,
  },
  ...amounts('lifetimePurchased', 'Total credit that was ever added.', { example: 50_000_000, from: ({ credited }) => credited }),
  ...amounts('lifetimeUsed', 'Total credit that was ever spent.', { example: 37_500_000, from: ({ spent }) => spent }),
  autoReloadEnabled: flag({
    description: 'Whether credit is reloaded automatically.',
    example: true,
    from: ({ autoReload }) => autoReload.enabled,
  }),
  ...amounts('autoReloadThreshold', 'Credit is reloaded when the balance falls below this. null: never set.', {
    reply: 'nullable',
    example: 5_000_000,
    from: ({ autoReload }) => autoReload.threshold,
  }),
  ...amounts('autoReloadTarget', 'The balance after a reload. null: never set.', {
    reply: 'nullable',
    example: 20_000_000,
    from: ({ autoReload }) => autoReload.target,
  }),
  hasPaymentMethod: flag({
    description: 'Whether the operator can charge the workspace.',
    example: true,
    from: ({ hasPaymentMethod }) => hasPaymentMethod,
  }),
  byokMonthlyRequestCap: integerOrNull({
    description: 'Limit on requests with provider keys of the workspace in a calendar month (UTC). null: no limit.',
    example: null,
    from: balance => balance.byokMonthlyRequestCap,
  }),
  byokRequestsRemaining: integerOrNull({
    description: 'Requests left under that limit this month. null: no limit.',
    example: null,
    from: balance => balance.byokRequestsRemaining,
  }),
}
