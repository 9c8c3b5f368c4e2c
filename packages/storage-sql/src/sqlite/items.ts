import type { ItemStore } from '@signalbox/storage'
import { faultOfItems, faultOfRenewal } from '@signalbox/storage/faults'
import type { ItemTimes, StoredItem } from '@signalbox/storage/items'
import type { Connection } from './connection.ts'
import { command, query, statement, type Verb } from './verb.ts'

/** Expired rows removed by one call. */
const SWEEP_ROWS = 128

/** Response items in SQLite. `await sqliteItems(connection).find('ws_1', ['msg_1'], { at, latest })` */
export function sqliteItems({ read, write }: Pick<Connection, 'read' | 'write'>): ItemStore {
  return {
    put(items, maxBytes, valid) {
      const fault = faultOfItems(items, maxBytes, valid)
      return fault ? Promise.reject(fault) : write(putVerb(items, maxBytes, valid))
    },
    find: (workspaceId, ids, { at, latest }) =>
      read(
        query(
          statement(FIND_ITEMS, workspaceId, JSON.stringify([...new Set(ids)]), at, latest),
          rows => rows as unknown as readonly StoredItem[],
        ),
      ),
    renew(workspaceId, ids, times) {
      const fault = faultOfRenewal(times)
      return fault ? Promise.reject(fault) : write(command(statement(RENEW_ITEMS, times.until, workspaceId, JSON.stringify(ids))))
    },
  }
}

const SWEEP = `
  DELETE FROM items WHERE seq IN (
    SELECT seq FROM (SELECT seq FROM items WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ${SWEEP_ROWS})
    UNION ALL SELECT seq FROM (SELECT seq FROM items WHERE expires_at > ?2 ORDER BY expires_at DESC LIMIT ${SWEEP_ROWS}))`
const REMOVE = `
  DELETE FROM items WHERE (workspace_id, id) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?1))
    AND NOT (expires_at > ?2 AND expires_at <= ?3)`
/** An empty body marks an ambiguous id. */
const ADD_ITEMS = `
  INSERT INTO items (workspace_id, id, expires_at, body)
  SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(?1) WHERE true
  ON CONFLICT (workspace_id, id) DO UPDATE SET expires_at = excluded.expires_at, body = ''`
/** Walks through a workspace's items in order of expiry, until enough bytes are freed. */
const DROP = `
  DELETE FROM items WHERE seq IN (
    WITH RECURSIVE dropped (seq, expires_at, excess) AS (
      SELECT 0, ${Number.MIN_SAFE_INTEGER}, bytes - ?2 FROM item_bytes WHERE workspace_id = ?1
      UNION ALL
      SELECT items.seq, items.expires_at, excess - length(body) FROM dropped JOIN items ON excess > 0 AND items.seq = (
        SELECT next.seq FROM items AS next
        WHERE next.workspace_id = ?1 AND (next.expires_at, next.seq) > (dropped.expires_at, dropped.seq)
        ORDER BY next.expires_at, next.seq LIMIT 1))
    SELECT seq FROM dropped)`
const FIND_ITEMS = `
  SELECT workspace_id AS workspaceId, id, expires_at AS expiresAt, body FROM items
  WHERE workspace_id = ?1 AND id IN (SELECT value FROM json_each(?2)) AND expires_at > ?3 AND expires_at <= ?4 AND body <> ''`
const RENEW_ITEMS = 'UPDATE items SET expires_at = ?1 WHERE workspace_id = ?2 AND id IN (SELECT value FROM json_each(?3))'

function putVerb(items: readonly StoredItem[], maxBytes: number, { at, latest }: ItemTimes): Verb<void> {
  const given = JSON.stringify(items.map(({ workspaceId, id, expiresAt, body }) => [workspaceId, id, expiresAt, body]))
  const workspaces = [...new Set(items.map(({ workspaceId }) => workspaceId))]
  return command(
    statement(SWEEP, at, latest),
    statement(REMOVE, given, at, latest),
    statement(ADD_ITEMS, given),
    ...workspaces.map(workspaceId => statement(DROP, workspaceId, maxBytes)),
  )
}
