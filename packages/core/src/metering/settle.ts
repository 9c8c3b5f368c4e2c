import type { Storage, UsageResult, UsageRow } from '@signalbox/storage'
import pRetry from 'p-retry'
import type { Failure } from '../protocol/failure.ts'
import type { Price } from '../protocol/model.ts'
import type { Usage } from '../protocol/response.ts'
import type { Clock, Logger } from '../runtime/ports.ts'
import { sleep } from '../runtime/timers.ts'
import { tokensOfText } from './estimate.ts'
import type { Seen } from './meter.ts'
import { costOf, type Microdollars, saneUsage } from './money.ts'

const none: Usage = { input_tokens: 0, output_tokens: 0, cached_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 }

/**
 * What is billed: the provider's figures, else ours, flagged. Nothing that a failed attempt used ever counts, and an answer
 * without a word costs nothing, whatever its provider took for reading the question.
 */
export function billed(
  seen: Pick<Seen, 'usage' | 'characters' | 'outcome'>,
  price: Price | undefined,
  inputTokens: number,
): { readonly usage: Usage; readonly cost: Microdollars } {
  const told = seen.usage ? saneUsage(seen.usage) : undefined
  const usage = told ?? { ...none, input_tokens: inputTokens, output_tokens: tokensOfText(seen.characters), estimated: true }
  return { usage, cost: price && !isWordless(seen) ? costOf(price, usage) : 0 }
}

/** What is not text, a picture say, has tokens all the same. */
const isWordless = ({ usage, characters, outcome }: Pick<Seen, 'usage' | 'characters' | 'outcome'>): boolean =>
  outcome?.status === 'completed' && characters === 0 && usage?.output_tokens === 0

export const nothingBilled = { usage: none, cost: 0 } as const

/** How a request that committed ended, as the usage row names it. */
export function resultOf(seen: Seen, left: boolean): { readonly result: UsageResult; readonly code?: string } {
  if (seen.outcome?.status === 'completed') return { result: 'ok' }
  if (seen.outcome?.status === 'incomplete') return { result: 'incomplete' }
  if (left || !seen.outcome) return { result: 'abandoned', code: 'client_disconnected' }
  return { result: 'error', code: codeOf(seen.outcome.error) }
}

const codeOf = (failure: Failure): string => failure.code ?? 'provider_error'

export interface Settling {
  readonly row: UsageRow
  /** Microdollars by account. */
  readonly amounts: Readonly<Record<string, number>>
  readonly slotKeys: readonly string[]
  /** Called once it is written down. */
  readonly onSettled?: () => void
}

export interface SettlePorts {
  readonly storage: Storage
  readonly clock: Clock
  readonly logger: Logger
  /** Settlements that are being tried again; a closing gateway waits for them. */
  readonly pending: Set<Promise<void>>
}

/** Waits before each further try. */
const waits = [200, 1_000, 5_000] as const

/** Ledger, usage row and slots in one go: a store that groups its writes makes one of them. An answer is never lost for a store that fails now. */
export async function settle(
  { row, amounts, slotKeys, onSettled }: Settling,
  { storage, clock, logger, pending }: SettlePorts,
): Promise<void> {
  const at = row.at + Math.round(row.durationMs)
  // Each of them does nothing the second time, so what did succeed is not done twice.
  const write = async (): Promise<void> => {
    const done = await Promise.allSettled([
      storage.ledger.settle({ id: row.id, amounts, at }),
      storage.usage.append(row),
      ...slotKeys.map(key => storage.counters.leave(key, row.id)),
    ])
    const failed = done.find(result => result.status === 'rejected')
    if (failed) throw failed.reason
    onSettled?.()
  }
  // Its own pauses are off: time is the clock's.
  const again = (): Promise<void> =>
    pRetry(
      async attempt => {
        await sleep(clock, waits[attempt - 1] ?? 0)
        await write()
      },
      {
        retries: waits.length - 1,
        minTimeout: 0,
        onFailedAttempt: ({ error }) =>
          logger.warn({ requestId: row.id, error: String(error) }, 'The request could not be settled; it is tried again.'),
      },
    ).catch(() => logger.error({ requestId: row.id, cost: row.cost }, 'The request was not settled; its hold runs out by itself.'))
  try {
    await write()
  } catch (error) {
    logger.warn({ requestId: row.id, error: String(error) }, 'The request could not be settled at once; it is tried again.')
    const trying = again().finally(() => pending.delete(trying))
    pending.add(trying)
  }
}
