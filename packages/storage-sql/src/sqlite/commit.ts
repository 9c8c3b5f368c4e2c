import type { Change, Conflict } from '@signalbox/storage'
import { appendAudit, auditText, REFUSED_AUDIT } from './audit.ts'
import { bookCredits, creditsText, REFUSED_CREDIT } from './credits.ts'
import { NOT_REFUSED, type Statement, statement, type Verb } from './verb.ts'

// The whole change is checked against the database before anything is written: ?1 has its credits, ?2 its puts, ?3 its removals, ?4 its
// audit rows. Names are compared as they are after the change, so a name that one record gives up is free for another.

const putsIn = (parameter: string): string => `
  SELECT key AS place, value ->> 0 AS kind, value ->> 1 AS id, value ->> 2 AS workspace_id, value ->> 3 AS version, value ->> 4 AS grp,
    value ->> 5 AS name, value ->> 6 AS created_at, value ->> 7 AS expires_at, value ->> 8 AS body FROM json_each(${parameter})`
const removalsIn = (parameter: string): string => `
  SELECT key AS place, value ->> 0 AS kind, value ->> 1 AS id, value ->> 2 AS workspace_id, value ->> 3 AS version
  FROM json_each(${parameter})`
const NAMED_PUTS = `
  SELECT place, kind, id, name, row_number() OVER (PARTITION BY kind, name ORDER BY place) > 1 AS is_repeated
  FROM (${putsIn('?2')}) WHERE name IS NOT NULL`

const HAS_ID = 'records.kind = given.kind AND records.id = given.id'
const IS_FREE = `NOT EXISTS (SELECT 1 FROM records WHERE ${HAS_ID})`
const IS_CURRENT = `EXISTS (
  SELECT 1 FROM records WHERE ${HAS_ID} AND records.workspace_id = given.workspace_id AND records.version = given.version)`
const HAS_NAME_OF_OTHER = `EXISTS (
  SELECT 1 FROM records WHERE records.kind = given.kind AND records.name = given.name AND (records.kind, records.id) NOT IN (
    SELECT kind, id FROM (${putsIn('?2')}) UNION ALL SELECT kind, id FROM (${removalsIn('?3')})))`

const REFUSE_CHANGE = `
  SELECT verdict FROM (
    SELECT 1 AS part, place, json_array('version', kind, id) AS verdict
    FROM (${putsIn('?2')}) AS given WHERE NOT iif(version = 0, ${IS_FREE}, ${IS_CURRENT})
    UNION ALL
    SELECT 2, place, json_array('version', kind, id) FROM (${removalsIn('?3')}) AS given WHERE NOT ${IS_CURRENT}
    UNION ALL
    SELECT 3, place, json_array('name', kind, name) FROM (${NAMED_PUTS}) AS given WHERE is_repeated OR ${HAS_NAME_OF_OTHER}
    UNION ALL
    SELECT 4, place, verdict FROM (${REFUSED_CREDIT})
    UNION ALL
    SELECT 5, 0, verdict FROM (${REFUSED_AUDIT}))
  ORDER BY part, place LIMIT 1`

const REMOVE = `
  DELETE FROM records WHERE (kind, id) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?1)) AND ${NOT_REFUSED}`
/** Frees all names before any is taken, so that the order of the puts does not matter. */
const UNNAME = `
  UPDATE records SET name = NULL WHERE (kind, id) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?1)) AND ${NOT_REFUSED}`
const PUT = `
  INSERT INTO records (kind, id, workspace_id, version, grp, name, created_at, expires_at, body)
  SELECT kind, id, workspace_id, 1, grp, name, created_at, expires_at, body FROM (${putsIn('?1')}) WHERE ${NOT_REFUSED} ORDER BY place
  ON CONFLICT (kind, id) DO UPDATE SET version = version + 1, grp = excluded.grp, name = excluded.name,
    created_at = excluded.created_at, expires_at = excluded.expires_at, body = excluded.body`

/** Applies a change completely, or returns why not. */
export function commitVerb({ puts = [], removals = [], credits = [], audit = [] }: Change): Verb<Conflict | undefined> {
  const given = {
    puts: JSON.stringify(
      puts.map(({ kind, id, workspaceId, version, group = null, name = null, createdAt, expiresAt = null, body }) => [
        ...[kind, id, workspaceId, version, group, name, createdAt, expiresAt, body],
      ]),
    ),
    removals: JSON.stringify(removals.map(({ kind, id, workspaceId, version }) => [kind, id, workspaceId, version])),
    credits: creditsText(credits),
    audit: auditText(audit),
  }
  const parts: readonly (readonly [part: readonly unknown[], statements: () => readonly Statement[]])[] = [
    [removals, () => [statement(REMOVE, given.removals)]],
    [puts, () => [statement(UNNAME, given.puts), statement(PUT, given.puts)]],
    [credits, () => bookCredits(given.credits)],
    [audit, () => [appendAudit(given.audit)]],
  ]
  return {
    refusals: [statement(REFUSE_CHANGE, given.credits, given.puts, given.removals, given.audit)],
    statements: parts.flatMap(([part, statements]) => (part.length > 0 ? statements() : [])),
    answer: (_, verdict) => (verdict === undefined ? undefined : toConflict(JSON.parse(verdict))),
  }
}

function toConflict([on, first, second]: readonly [Conflict['on'], string, string]): Conflict {
  switch (on) {
    case 'version':
      return { on, kind: first, id: second }
    case 'name':
      return { on, kind: first, name: second }
    case 'audit':
      return { on, workspaceId: first }
    default:
      return { on, account: first, id: second }
  }
}
