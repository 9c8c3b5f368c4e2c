import type { ItemStore } from '@signalbox/storage'
import { faultOfItems, faultOfRenewal } from '@signalbox/storage/faults'
import type { PostgresConnection } from './connection.ts'
import { numberArray, textArray, toInteger } from './parameters.ts'

/** Response items in PostgreSQL. `await postgresItems(connection).find('ws_1', ['msg_1'], { at, latest })` */
export function postgresItems(connection: PostgresConnection): ItemStore {
  const { schema, isServerTime } = connection
  const put = connection.caller('items.put', 'put_items', [
    'text[]',
    'text[]',
    'bigint[]',
    'text[]',
    'bigint',
    'bigint',
    'bigint',
    'boolean',
  ])
  const renew = connection.caller('items.renew', 'renew_items', ['text', 'text[]', 'bigint', 'bigint', 'boolean'])
  const find = `SELECT * FROM ${schema}.find_items($1::text, $2::text::text[], $3::bigint, $4::bigint, $5::boolean)`
  const name = connection.nameOf(find)
  return {
    async put(items, maxBytes, valid) {
      const fault = faultOfItems(items, maxBytes, valid)
      if (fault) throw fault
      if (items.length === 0) return
      const columns = [
        textArray(items.map(({ workspaceId }) => workspaceId)),
        textArray(items.map(({ id }) => id)),
        numberArray(items.map(({ expiresAt }) => expiresAt)),
        textArray(items.map(({ body }) => body)),
      ]
      await put([...columns, maxBytes, valid.at, valid.latest, String(isServerTime)])
    },
    async find(workspaceId, ids, { at, latest }) {
      const values = [workspaceId, textArray([...new Set(ids)]), at, latest, isServerTime]
      const rows = await connection.run('read', { text: find, values, ...(name !== undefined && { name }) })
      return rows.map(({ id, expires_at, body }) => ({ workspaceId, id: String(id), expiresAt: toInteger(expires_at), body: String(body) }))
    },
    async renew(workspaceId, ids, times) {
      const fault = faultOfRenewal(times)
      if (fault) throw fault
      await renew([workspaceId, textArray(ids), times.until, times.at, String(isServerTime)])
    },
  }
}
