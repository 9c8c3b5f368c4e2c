import type { Storage } from '@signalbox/storage'
import { faultOfRequestSettlement, type RequestSettlement, type SettlementStores, settleInParts } from '@signalbox/storage/settlement'
import type { PostgresConnection } from './connection.ts'
import { isRefusedCall } from './failures.ts'
import { chargeParameters, chargeTypes } from './ledger.ts'
import { textArray } from './parameters.ts'
import { ownRow, type UsageParts } from './usage.ts'
import { usageParameters, usageParameterTypes } from './usage-columns.ts'

/**
 * Settles requests in PostgreSQL: each in one transaction, many in one statement. A settlement that the database refuses as a whole, for
 * example because a text is too long for an index, is written in parts, so that only the refused part is missing.
 *
 * @example await postgresSettle(connection, stores, { months, reader })(settlement)
 */
export function postgresSettle(
  connection: PostgresConnection,
  stores: SettlementStores,
  { months, reader }: UsageParts,
): Storage['settle'] {
  const settle = connection.batched({
    verb: 'settle',
    name: 'settle_requests',
    types: [...chargeTypes, 'text[]', 'text[]', ...usageParameterTypes],
    keyOf: ({ row }: RequestSettlement) => row.id,
    prepare: settlements => months.open('usage', settlements.map(rowOf)),
    toValues: toParameters,
    toAnswers: (_, settlements) => settlements.map(() => undefined),
  })
  return settlement => {
    if (faultOfRequestSettlement(settlement)) return settleInParts(stores, settlement)
    const { row, amounts, slotKeys, at } = settlement
    const settled = settle({ row: ownRow(row), amounts: { ...amounts }, slotKeys: [...slotKeys], at })
    reader.rollup.note()
    return settled.catch(error => {
      if (!isRefusedCall(error)) throw error
      return settleInParts(stores, settlement, isRefusedCall)
    })
  }
}

const rowOf = ({ row }: RequestSettlement): RequestSettlement['row'] => row

function toParameters(settlements: readonly RequestSettlement[]): readonly string[] {
  const slots = settlements.flatMap(({ row, slotKeys }) => slotKeys.map(key => ({ key, slot: row.id })))
  return [
    ...chargeParameters(settlements),
    textArray(slots.map(({ key }) => key)),
    textArray(slots.map(({ slot }) => slot)),
    ...usageParameters(settlements.map(rowOf)),
  ]
}
