// Commits of records. An advisory lock serializes batches of commits across all processes, because management changes are few, and each
// reads before it writes. Locks of records and accounts are taken before the first change, in key order.

/** The functions of records. Placeholders: `SCHEMA` is the name of the schema, `SETTINGS` the settings of functions. */
export const commitFunctionSql = `
-- Returns the conflicts of the changes that were not done, as pairs of the number of the change and its conflict.
CREATE FUNCTION SCHEMA.commit_changes(p_changes json) RETURNS text LANGUAGE plpgsql VOLATILE SETTINGS AS $$
DECLARE
  v_refused json[] := '{}';
  v_conflict json;
  v_change record;
  v_accounts text[];
BEGIN
  PERFORM pg_advisory_xact_lock('SCHEMA.records'::regclass::oid::int, 1);
  PERFORM FROM records r JOIN (
      SELECT DISTINCT n.kind, n.id FROM json_array_elements(p_changes) c,
        json_to_recordset((c.value -> 'records')) n (kind text, id text)
    ) w ON r.kind = w.kind AND r.id = w.id
    ORDER BY r.kind, r.id FOR UPDATE OF r;
  SELECT array_agg(n.account) INTO v_accounts
    FROM json_array_elements(p_changes) c, json_to_recordset((c.value -> 'credits')) n (account text);
  IF v_accounts IS NOT NULL THEN
    PERFORM open_accounts(v_accounts);
    PERFORM FROM accounts a WHERE a.account = ANY (v_accounts) ORDER BY a.account FOR NO KEY UPDATE;
  END IF;
  FOR v_change IN SELECT c.value, c.ordinality FROM json_array_elements(p_changes) WITH ORDINALITY c LOOP
    v_conflict := NULL;
    BEGIN
      v_conflict := apply_change(v_change.value);
      -- Undoes what the change has written before it met the conflict.
      IF v_conflict IS NOT NULL THEN RAISE EXCEPTION 'conflict' USING ERRCODE = 'SBX01'; END IF;
    EXCEPTION WHEN SQLSTATE 'SBX01' THEN
      v_refused := v_refused || json_build_array(v_change.ordinality, v_conflict);
    END;
  END LOOP;
  RETURN CASE WHEN cardinality(v_refused) > 0 THEN array_to_json(v_refused)::text END;
END $$;

-- Applies a change up to its first conflict, which it returns. A name that one record gives up is free for another.
CREATE FUNCTION SCHEMA.apply_change(p_change json) RETURNS json LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  p record;
  v_outcome text;
  v_first json;
  v_place bigint;
  v_hash text;
BEGIN
  FOR p IN SELECT * FROM json_to_recordset(p_change -> 'records') r (kind text, id text, workspace_id text, version bigint, grp text,
      name text, created_at bigint, expires_at bigint, body text, is_removal boolean) LOOP
    IF p.is_removal THEN
      DELETE FROM records r WHERE r.kind = p.kind AND r.id = p.id AND r.workspace_id = p.workspace_id AND r.version = p.version;
    ELSIF p.version = 0 THEN
      INSERT INTO records (kind, id, workspace_id, version, grp, created_at, expires_at, body)
        VALUES (p.kind, p.id, p.workspace_id, 1, p.grp, p.created_at, p.expires_at, p.body) ON CONFLICT DO NOTHING;
    ELSE
      UPDATE records r SET version = r.version + 1, grp = p.grp, name = NULL, created_at = p.created_at, expires_at = p.expires_at,
          body = p.body
        WHERE r.kind = p.kind AND r.id = p.id AND r.workspace_id = p.workspace_id AND r.version = p.version;
    END IF;
    IF NOT FOUND THEN RETURN json_build_object('on', 'version', 'kind', p.kind, 'id', p.id); END IF;
  END LOOP;
  FOR p IN SELECT * FROM json_to_recordset(p_change -> 'records') r (kind text, id text, name text, is_removal boolean)
      WHERE r.name IS NOT NULL AND NOT r.is_removal LOOP
    IF EXISTS (SELECT FROM records r WHERE r.kind = p.kind AND r.name = p.name) THEN
      RETURN json_build_object('on', 'name', 'kind', p.kind, 'name', p.name);
    END IF;
    UPDATE records r SET name = p.name WHERE r.kind = p.kind AND r.id = p.id;
  END LOOP;
  FOR p IN SELECT * FROM json_to_recordset(p_change -> 'credits') r (id text, account text, amount bigint, at bigint, kind text, note text) LOOP
    v_outcome := book_credit(p.id, p.account, p.amount, p.at, p.kind, p.note);
    IF v_outcome <> 'booked' THEN
      RETURN json_build_object('on', CASE v_outcome WHEN 'known' THEN 'credit' ELSE 'sum' END, 'account', p.account, 'id', p.id);
    END IF;
  END LOOP;
  -- The rows of a change follow each other, so the first of them decides.
  v_first := p_change -> 'audit' -> 0;
  IF v_first IS NULL THEN RETURN NULL; END IF;
  SELECT h.place, h.hash INTO v_place, v_hash FROM audit_heads h WHERE h.workspace_id = v_first ->> 'workspace_id' FOR UPDATE;
  IF (v_first ->> 'place')::bigint <> coalesce(v_place, 0) + 1 OR v_first ->> 'previous_hash' <> coalesce(v_hash, '') THEN
    RETURN json_build_object('on', 'audit', 'workspaceId', v_first ->> 'workspace_id');
  END IF;
  INSERT INTO audit SELECT * FROM json_populate_recordset(NULL::audit, p_change -> 'audit');
  INSERT INTO audit_heads AS h (workspace_id, place, hash)
    SELECT r.workspace_id, r.place, r.hash FROM json_populate_record(NULL::audit, p_change -> 'audit' -> -1) r
    ON CONFLICT (workspace_id) DO UPDATE SET place = excluded.place, hash = excluded.hash;
  RETURN NULL;
END $$;

CREATE FUNCTION SCHEMA.touch(p_kinds text[], p_ids text[], p_ats bigint[]) RETURNS void LANGUAGE plpgsql VOLATILE SETTINGS AS $$
BEGIN
  PERFORM FROM records r JOIN (SELECT DISTINCT u.kind, u.id FROM unnest(p_kinds, p_ids) u (kind, id)) w
    ON r.kind = w.kind AND r.id = w.id ORDER BY r.kind, r.id FOR NO KEY UPDATE OF r;
  UPDATE records r SET used_at = w.at
    FROM (SELECT u.kind, u.id, max(u.at) AS at FROM unnest(p_kinds, p_ids, p_ats) u (kind, id, at) GROUP BY u.kind, u.id) w
    WHERE r.kind = w.kind AND r.id = w.id AND (r.used_at IS NULL OR r.used_at < w.at);
END $$;

-- Skips what a commit is changing.
CREATE FUNCTION SCHEMA.expire(p_at bigint, p_limit bigint) RETURNS bigint LANGUAGE plpgsql VOLATILE SETTINGS AS $$
DECLARE
  v_gone bigint;
BEGIN
  DELETE FROM records r WHERE r.seq = ANY (ARRAY(
    SELECT o.seq FROM records o WHERE o.expires_at <= p_at ORDER BY o.expires_at LIMIT p_limit FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS v_gone = ROW_COUNT;
  RETURN v_gone;
END $$;
`
