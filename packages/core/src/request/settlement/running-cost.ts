import type { Price } from '@signalbox/dialects/protocol'
import { ratesAt } from '@signalbox/dialects/protocol'
import type { Awaitable, LedgerStore } from '@signalbox/storage'
import { andThen, recover } from '@signalbox/storage/awaitable'
import type { HoldRefusal } from '@signalbox/storage/ledger'
import { charactersPerToken } from '../../metering/count-text.ts'
import { costAt } from '../../metering/money.ts'
import type { Clock, Logger } from '../../runtime/ports.ts'
import { withinStorageWait } from '../../runtime/timers.ts'
import type { StopReason } from '../../upstream/connection.ts'
import type { HeldAccount } from '../admission/budget-holds.ts'

// The hold of a request can grow with its response. It limits the bill on every account that can refuse.

/** The amounts reserved for one request. */
export interface Allowance {
  /** Reserved microdollars on an account. Undefined if the account cannot refuse. */
  amountOf(account: string): number | undefined
  /** The smallest reserved amount; `Infinity` if no account can refuse. */
  least(): number
  /** Reserves more on all accounts that can refuse, or on none. Resolves to the refusal, if any. A failing store counts as one. */
  extend(more: (account: string) => number): Awaitable<HoldRefusal | undefined>
}

export interface AllowancePorts {
  readonly storage: { readonly ledger: Pick<LedgerStore, 'extend'> }
  readonly clock: Clock
  readonly logger: Logger
}

/** Whether an account counts money rather than requests, and can refuse. */
const isMoney = ({ account, floor }: HeldAccount): boolean => Number.isFinite(floor) && !account.startsWith('byok:')

export function allowanceOf(requestId: string, held: readonly HeldAccount[], { storage, clock, logger }: AllowancePorts): Allowance {
  let isExtending = false
  const bounded: { readonly account: string; readonly floor: number; amount: number }[] = []
  for (const each of held) if (isMoney(each)) bounded.push({ account: each.account, floor: each.floor, amount: each.amount })
  return {
    amountOf: account => bounded.find(each => each.account === account)?.amount,
    least: () => bounded.reduce((least, { amount }) => Math.min(least, amount), Number.POSITIVE_INFINITY),
    extend(more) {
      const accounts = bounded.map(({ account, floor }) => ({ account, floor, amount: more(account) })).filter(({ amount }) => amount > 0)
      const [first] = accounts
      if (!first) return undefined
      // A settlement does not wait for a ledger that has not responded to the previous extension.
      if (isExtending) return { account: first.account, available: 0 }
      isExtending = true
      const extended = recover(
        () => withinStorageWait(storage.ledger.extend({ id: requestId, accounts }), clock),
        error => {
          logger.warn(
            { requestId, error: String(error) },
            'The hold of a running request could not be extended; its response ends when the hold is used up.',
          )
          return { account: first.account, available: 0 }
        },
      )
      return andThen(extended, refusal => {
        isExtending = false
        if (refusal) return refusal
        for (const { account, amount } of accounts) {
          const grown = bounded.find(each => each.account === account)
          if (grown) grown.amount += amount
        }
        return undefined
      })
    },
  }
}

/** The limit of a response in progress. */
export interface RunningLimit {
  /** Number of characters after which the cost may exceed the hold. */
  characters: number
  /** Called once this number is exceeded: extends the hold and raises the limit, or ends the response. */
  passed(): Awaitable<void>
}

export interface RunningCost {
  readonly allowance: Allowance
  readonly price: Price | undefined
  readonly inputTokens: number
  /** Ends the response. */
  readonly stop: (why: StopReason) => void
}

/** The limit that the hold sets on a text response. Undefined if money does not limit it. */
export function runningLimit({ allowance, price, inputTokens, stop }: RunningCost): RunningLimit | undefined {
  if (!price || allowance.least() === Number.POSITIVE_INFINITY) return undefined
  const rates = ratesAt(price, inputTokens)
  if (rates.output <= 0) return undefined
  const read = costAt(rates, { input_tokens: inputTokens, output_tokens: 0, cached_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 })
  const charactersFor = (amount: number): number =>
    Math.max(0, Math.floor(((amount - read) * 1_000_000) / rates.output)) * charactersPerToken
  const running: RunningLimit = {
    characters: charactersFor(allowance.least()),
    passed: () =>
      andThen(
        allowance.extend(account => Math.ceil((allowance.amountOf(account) ?? 0) / 2)),
        refusal => {
          running.characters = refusal ? Number.POSITIVE_INFINITY : charactersFor(allowance.least())
          if (refusal) stop(refusal.account.startsWith('credit:') ? 'out_of_credit' : 'out_of_budget')
        },
      ),
  }
  return running
}
