import { isObject } from '@signalbox/dialects/protocol'
import type { RequestSettlement } from '@signalbox/storage/settlement'

/** The data that one settlement writes. */
export type SettlementFacts = Omit<RequestSettlement, 'at'>

/** Formats a settlement as one line of text. */
export const formatSettlement = ({ row, amounts, slotKeys }: SettlementFacts): string => JSON.stringify({ row, amounts, slotKeys })

/** Parses a line. Undefined if it is not a settlement. The store validates the numbers. */
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
