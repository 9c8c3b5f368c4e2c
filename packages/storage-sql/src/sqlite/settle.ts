import type { Storage } from '@signalbox/storage'
import { andThen } from '@signalbox/storage/awaitable'
import {
  chargeOf,
  faultOfRequestSettlement,
  type RequestSettlement,
  type SettlementStores,
  settleInParts,
} from '@signalbox/storage/settlement'
import type { Connection } from './connection.ts'
import { leaveSlot } from './counters.ts'
import { settleVerb } from './ledger.ts'
import { appendRow } from './usage.ts'
import type { Rollup } from './usage-rollup.ts'
import type { Verb } from './verb.ts'

/** Settles requests, each in one transaction. `await sqliteSettle(connection, { ...stores, rollup })(settlement)` */
export const sqliteSettle =
  ({ write }: Pick<Connection, 'write'>, { rollup, ...stores }: SettlementStores & { readonly rollup: Rollup }): Storage['settle'] =>
  settlement =>
    faultOfRequestSettlement(settlement)
      ? settleInParts(stores, settlement)
      : andThen(write(settleRequestVerb(settlement)), () => rollup.note(settlement.row.id))

/** The second time, the charge is refused, and the row and the slots have no effect. */
const settleRequestVerb = (settlement: RequestSettlement): Verb<void> => ({
  ...settleVerb(chargeOf(settlement)),
  always: [appendRow(settlement.row), ...settlement.slotKeys.map(key => leaveSlot(key, settlement.row.id))],
})
