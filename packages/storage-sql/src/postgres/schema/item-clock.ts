/**
 * Items whose times are those of the server's clock in the table, and those of the caller's in parameters and results, so that processes
 * with wrong clocks agree on what has expired. The previous `renew_items`, with two parameters less, stays for processes of the previous
 * release that still run during the migration. Placeholders: `SCHEMA` is the name of the schema, `SETTINGS` the settings of functions.
 */
export const itemClockSql = `
CREATE OR REPLACE FUNCTION SCHEMA.put_items(p_workspaces text[], p_ids text[], p_expires bigint[], p_bodies text[], p_max_bytes bigint, p_at bigint,
  p_latest bigint, p_is_server_time boolean) RETURNS void LANGUAGE plpgsql VOLATILE SETTINGS AS $$
DECLARE
  v_at bigint := CASE WHEN p_is_server_time THEN server_ms() ELSE p_at END;
  v_latest bigint := v_at + p_latest - p_at;
  v_all text[];
  v_before bigint;
  v_bytes bigint;
  v_seq bigint;
BEGIN
  -- Workspaces of some expired items are locked too, so that a sweep keeps the order of locks.
  SELECT array_agg(DISTINCT w.workspace_id) INTO v_all FROM (
    SELECT unnest(p_workspaces) AS workspace_id
    UNION ALL (SELECT i.workspace_id FROM items i WHERE i.expires_at <= v_at ORDER BY i.expires_at LIMIT 128)
    UNION ALL (SELECT i.workspace_id FROM items i WHERE i.expires_at > v_latest ORDER BY i.expires_at DESC LIMIT 128)
  ) w;
  INSERT INTO item_bytes (workspace_id, bytes)
    SELECT r.workspace_id COLLATE "C", 0 FROM unnest(v_all) r (workspace_id)
    WHERE NOT EXISTS (SELECT FROM item_bytes b WHERE b.workspace_id = r.workspace_id)
    ORDER BY 1 ON CONFLICT DO NOTHING;
  PERFORM FROM item_bytes b WHERE b.workspace_id = ANY (v_all) ORDER BY b.workspace_id FOR NO KEY UPDATE;
  WITH old AS (
    SELECT s.workspace_id, s.id FROM (
      (SELECT i.workspace_id, i.id FROM items i WHERE i.expires_at <= v_at ORDER BY i.expires_at LIMIT 128)
      UNION ALL (SELECT i.workspace_id, i.id FROM items i WHERE i.expires_at > v_latest ORDER BY i.expires_at DESC LIMIT 128)
    ) s WHERE s.workspace_id = ANY (v_all)
  ), gone AS (
    DELETE FROM items i USING old o WHERE i.workspace_id = o.workspace_id AND i.id = o.id RETURNING i.workspace_id, length(i.body) AS bytes
  )
  UPDATE item_bytes b SET bytes = b.bytes - w.bytes FROM (SELECT g.workspace_id, sum(g.bytes) AS bytes FROM gone g GROUP BY 1) w
    WHERE b.workspace_id = w.workspace_id;
  FOR i IN 1 .. cardinality(p_ids) LOOP
    SELECT b.bytes INTO v_bytes FROM item_bytes b WHERE b.workspace_id = p_workspaces[i];
    DELETE FROM items t WHERE t.workspace_id = p_workspaces[i] AND t.id = p_ids[i] AND NOT (t.expires_at > v_at AND t.expires_at <= v_latest)
      RETURNING length(t.body) INTO v_before;
    v_bytes := v_bytes - coalesce(v_before, 0);
    SELECT length(t.body) INTO v_before FROM items t WHERE t.workspace_id = p_workspaces[i] AND t.id = p_ids[i];
    INSERT INTO items AS t (workspace_id, id, expires_at, body) VALUES (p_workspaces[i], p_ids[i], p_expires[i] + v_at - p_at, p_bodies[i])
      ON CONFLICT (workspace_id, id) DO UPDATE SET expires_at = excluded.expires_at, body = '';
    v_bytes := v_bytes + CASE WHEN v_before IS NULL THEN length(p_bodies[i]) ELSE 0 - v_before END;
    WHILE v_bytes > p_max_bytes LOOP
      SELECT t.seq, length(t.body) INTO v_seq, v_before FROM items t WHERE t.workspace_id = p_workspaces[i]
        ORDER BY t.expires_at, t.seq LIMIT 1;
      EXIT WHEN NOT FOUND;
      DELETE FROM items t WHERE t.workspace_id = p_workspaces[i] AND t.seq = v_seq;
      v_bytes := v_bytes - v_before;
    END LOOP;
    UPDATE item_bytes b SET bytes = v_bytes WHERE b.workspace_id = p_workspaces[i];
  END LOOP;
END $$;

CREATE OR REPLACE FUNCTION SCHEMA.find_items(p_workspace text, p_ids text[], p_at bigint, p_latest bigint, p_is_server_time boolean)
RETURNS TABLE (id text, expires_at bigint, body text) LANGUAGE plpgsql STABLE SETTINGS AS $$
DECLARE
  v_at bigint := CASE WHEN p_is_server_time THEN server_ms() ELSE p_at END;
BEGIN
  RETURN QUERY SELECT i.id, i.expires_at - v_at + p_at, i.body FROM items i
    WHERE i.workspace_id = p_workspace AND i.id = ANY (p_ids) AND i.expires_at > v_at AND i.expires_at <= v_at + p_latest - p_at
      AND i.body <> '';
END $$;

CREATE OR REPLACE FUNCTION SCHEMA.renew_items(p_workspace text, p_ids text[], p_until bigint, p_at bigint, p_is_server_time boolean)
RETURNS void LANGUAGE plpgsql VOLATILE SETTINGS AS $$
DECLARE
  v_until bigint := CASE WHEN p_is_server_time THEN p_until + server_ms() - p_at ELSE p_until END;
BEGIN
  PERFORM FROM item_bytes b WHERE b.workspace_id = p_workspace FOR NO KEY UPDATE;
  UPDATE items i SET expires_at = v_until WHERE i.workspace_id = p_workspace AND i.id = ANY (p_ids);
END $$;
`
