import type { RequestSettlement } from '@signalbox/storage/settlement'
import { isObject } from '../protocol/wire.ts'

/** What one settlement writes. */
export type SettlementFacts = Omit<RequestSettlement, 'at'>

/** One line of text that holds a settlement. */
export const formatSettlement = ({ row, amounts, slotKeys }: SettlementFacts): string => JSON.stringify({ row, amounts, slotKeys })

/** The settlement that a line holds. Nothing: the line is not one. Numbers are checked by the store. */
export function parseSettlement(line: string): SettlementFacts | undefined {
  try {
    const found: unknown = JSON.parse(line)
    return isSettlement(found) ? found : undefined
  } catch {
    return undefined
  }
}

const isSettlement = (found: unknown): found is SettlementFacts =>
  isObject(found) && isObject(found.row) && typeof found.row.id === 'string' && isObject(found.amounts) && Array.isArray(found.slotKeys)
