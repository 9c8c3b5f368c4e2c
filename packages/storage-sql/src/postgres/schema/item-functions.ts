// Response items and routing state.

/** The functions of items and routing state. Placeholders: `SCHEMA` is the name of the schema, `SETTINGS` the settings of functions. */
export const itemFunctionsSql = `
-- An empty body marks an id of two items. p_is_server_time: the server's clock decides what has expired.
CREATE FUNCTION SCHEMA.put_items(p_workspaces text[], p_ids text[], p_expires bigint[], p_bodies text[], p_max_bytes bigint, p_at bigint,
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
    INSERT INTO items AS t (workspace_id, id, expires_at, body) VALUES (p_workspaces[i], p_ids[i], p_expires[i], p_bodies[i])
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

CREATE FUNCTION SCHEMA.find_items(p_workspace text, p_ids text[], p_at bigint, p_latest bigint, p_is_server_time boolean)
RETURNS TABLE (id text, expires_at bigint, body text) LANGUAGE plpgsql STABLE SETTINGS AS $$
DECLARE
  v_at bigint := CASE WHEN p_is_server_time THEN server_ms() ELSE p_at END;
BEGIN
  RETURN QUERY SELECT i.id, i.expires_at, i.body FROM items i
    WHERE i.workspace_id = p_workspace AND i.id = ANY (p_ids) AND i.expires_at > v_at AND i.expires_at <= v_at + p_latest - p_at
      AND i.body <> '';
END $$;

CREATE FUNCTION SCHEMA.renew_items(p_workspace text, p_ids text[], p_until bigint) RETURNS void LANGUAGE plpgsql VOLATILE SETTINGS AS $$
BEGIN
  PERFORM FROM item_bytes b WHERE b.workspace_id = p_workspace FOR NO KEY UPDATE;
  UPDATE items i SET expires_at = p_until WHERE i.workspace_id = p_workspace AND i.id = ANY (p_ids);
END $$;

-- The number of the last change. Changes of routing state run one after the other, so that their numbers are in the order of commits.
CREATE FUNCTION SCHEMA.lock_routing() RETURNS void LANGUAGE sql VOLATILE AS $$
  SELECT pg_advisory_xact_lock('SCHEMA.offer_statistics'::regclass::oid::int, 4)
$$;

-- A batch names each pair of writer and offer once.
CREATE FUNCTION SCHEMA.publish(p_writers text[], p_offers text[], p_epochs bigint[], p_versions bigint[], p_ats bigint[], p_answered bigint[],
  p_failed bigint[], p_finished bigint[], p_broken bigint[], p_waits bigint[], p_ln_waits double precision[],
  p_ln_waits_squared double precision[], p_speeds bigint[], p_ln_speeds double precision[])
RETURNS void LANGUAGE plpgsql VOLATILE SETTINGS AS $$
BEGIN
  PERFORM lock_routing();
  INSERT INTO offer_statistics AS s (writer, offer, epoch, version, at, answered, failed, finished, broken, waits, ln_waits,
      ln_waits_squared, speeds, ln_speeds, sequence)
    SELECT r.*, nextval('routing_seq') FROM unnest(p_writers, p_offers, p_epochs, p_versions, p_ats, p_answered, p_failed, p_finished,
      p_broken, p_waits, p_ln_waits, p_ln_waits_squared, p_speeds, p_ln_speeds) r
    ON CONFLICT (writer, offer) DO UPDATE SET epoch = excluded.epoch, version = excluded.version, at = excluded.at,
      answered = excluded.answered, failed = excluded.failed, finished = excluded.finished, broken = excluded.broken,
      waits = excluded.waits, ln_waits = excluded.ln_waits, ln_waits_squared = excluded.ln_waits_squared, speeds = excluded.speeds,
      ln_speeds = excluded.ln_speeds, sequence = excluded.sequence
    WHERE (excluded.epoch, excluded.version) > (s.epoch, s.version);
END $$;

CREATE FUNCTION SCHEMA.pause(p_offers text[], p_untils bigint[]) RETURNS void LANGUAGE plpgsql VOLATILE SETTINGS AS $$
BEGIN
  PERFORM lock_routing();
  INSERT INTO offer_pauses AS p (offer, until, sequence)
    SELECT r.offer, max(r.until), nextval('routing_seq') FROM unnest(p_offers, p_untils) r (offer, until) GROUP BY r.offer
    ON CONFLICT (offer) DO UPDATE SET until = excluded.until, sequence = excluded.sequence WHERE excluded.until > p.until;
END $$;

-- Keeps the newest note of each reader, and the last p_max readers of a conversation.
CREATE FUNCTION SCHEMA.remember(p_keys text[], p_offers text[], p_tokens bigint[], p_ats bigint[], p_max int) RETURNS void
LANGUAGE plpgsql VOLATILE SETTINGS AS $$
DECLARE
  v_lock int;
BEGIN
  -- By conversation and in one order, because two processes may note readers of one conversation at the same moment.
  FOR v_lock IN SELECT DISTINCT hashtext(k.key) FROM unnest(p_keys) k (key) ORDER BY 1 LOOP
    PERFORM pg_advisory_xact_lock('SCHEMA.conversation_readers'::regclass::oid::int, v_lock);
  END LOOP;
  INSERT INTO conversation_readers AS c (key, offer, tokens, at)
    SELECT DISTINCT ON (r.key, r.offer) r.key, r.offer, r.tokens, r.at FROM unnest(p_keys, p_offers, p_tokens, p_ats) r (key, offer, tokens, at)
    ORDER BY r.key, r.offer, r.at DESC, r.tokens DESC
    ON CONFLICT (key, offer) DO UPDATE SET tokens = excluded.tokens, at = excluded.at WHERE (excluded.at, excluded.tokens) > (c.at, c.tokens);
  DELETE FROM conversation_readers c USING (
    SELECT r.key, r.offer, row_number() OVER (PARTITION BY r.key ORDER BY r.at DESC, r.tokens DESC, r.offer) AS place
    FROM conversation_readers r WHERE r.key = ANY (p_keys)
  ) w
  WHERE w.place > p_max AND c.key = w.key AND c.offer = w.offer;
END $$;

-- Removes routing state that is too old to be returned.
CREATE FUNCTION SCHEMA.sweep_routing(p_now bigint, p_statistics_ms bigint, p_readers_ms bigint) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = SCHEMA, pg_temp AS $$
BEGIN
  PERFORM lock_routing();
  DELETE FROM offer_statistics s WHERE s.at <= p_now - p_statistics_ms;
  DELETE FROM offer_pauses p WHERE p.until <= p_now;
  DELETE FROM conversation_readers c WHERE c.ctid = ANY (ARRAY(
    SELECT r.ctid FROM conversation_readers r WHERE r.at <= p_now - p_readers_ms LIMIT 5000 FOR UPDATE SKIP LOCKED));
END $$;
`
