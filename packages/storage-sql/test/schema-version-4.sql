-- Makes the newest schema one of version 4 again, as the program of that version left it.
DROP FUNCTION SCHEMA.settle_requests;

CREATE OR REPLACE FUNCTION SCHEMA.reserve(p_ids text[], p_journals text[], p_calls int[], p_accounts text[], p_floors bigint[], p_amounts bigint[])
RETURNS text LANGUAGE plpgsql VOLATILE SET search_path = SCHEMA, pg_temp SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
  v_skipped boolean[];
  v_refused json;
  v_left int;
  v_made int;
  v_locked bigint := lock_accounts(p_accounts, p_floors, p_amounts);
BEGIN
  SELECT array_agg(k.is_known ORDER BY k.place) INTO v_skipped
    FROM (
      SELECT c.place, EXISTS (SELECT FROM holds h WHERE h.id = c.id)
        OR EXISTS (SELECT FROM movements m WHERE m.id = c.id AND m.kind = 'usage' AND m.credited_account = '') AS is_known
      FROM unnest(p_ids) WITH ORDINALITY c (id, place)
    ) k;
  IF NOT true = ANY (v_skipped) THEN v_skipped := NULL; END IF;
  v_refused := set_aside(p_calls, p_accounts, p_floors, p_amounts, v_skipped, v_locked);
  IF v_refused IS NOT NULL THEN
    v_skipped := coalesce(v_skipped, array_fill(false, ARRAY[cardinality(p_ids)]));
    FOR v_left IN SELECT (r.value ->> 0)::int FROM json_array_elements(v_refused) r LOOP v_skipped[v_left] := true; END LOOP;
  END IF;
  INSERT INTO holds (id, version, accounts, amounts, journal)
    SELECT p_ids[r.call], 1, array_remove(array_agg(r.account), NULL),
      coalesce(array_agg(r.amount) FILTER (WHERE r.account IS NOT NULL), '{}'), p_journals[r.call]
    FROM unnest(p_calls, p_accounts, p_amounts) r (call, account, amount)
    WHERE v_skipped IS NULL OR NOT v_skipped[r.call]
    GROUP BY r.call ORDER BY p_ids[r.call] COLLATE "C"
    ON CONFLICT DO NOTHING;
  GET DIAGNOSTICS v_made = ROW_COUNT;
  IF v_skipped IS NULL THEN v_left := cardinality(p_ids);
  ELSE SELECT count(*) FILTER (WHERE NOT s) INTO v_left FROM unnest(v_skipped) s;
  END IF;
  IF v_made < v_left THEN
    RAISE EXCEPTION 'a hold was made by another batch at the same moment' USING ERRCODE = 'serialization_failure';
  END IF;
  RETURN v_refused::text;
END $$;

CREATE OR REPLACE FUNCTION SCHEMA.settle(p_ids text[], p_ats bigint[], p_calls int[], p_accounts text[], p_amounts bigint[])
RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = SCHEMA, pg_temp SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
  v_names text[];
  v_seqs bigint[];
BEGIN
  PERFORM open_accounts(p_accounts);
  SELECT array_agg(DISTINCT n.account) INTO v_names FROM (
    SELECT unnest(p_accounts) AS account UNION ALL SELECT unnest(h.accounts) FROM holds h WHERE h.id = ANY (p_ids)
  ) n;
  PERFORM FROM accounts a WHERE a.account = ANY (v_names) ORDER BY a.account FOR NO KEY UPDATE;
  PERFORM FROM holds h WHERE h.id = ANY (p_ids) ORDER BY h.id FOR UPDATE;
  IF EXISTS (SELECT FROM holds h WHERE h.id = ANY (p_ids) AND NOT h.accounts <@ coalesce(v_names, '{}')) THEN
    RAISE EXCEPTION 'a hold was extended by another batch at the same moment' USING ERRCODE = 'serialization_failure';
  END IF;
  SELECT array_agg(nextval('movement_seq')) INTO v_seqs FROM generate_series(1, cardinality(p_ids));
  WITH freed AS (
    DELETE FROM holds h WHERE h.id = ANY (p_ids) RETURNING h.accounts, h.amounts
  ), moved AS (
    INSERT INTO movements (id, kind, credited_account, seq)
      SELECT m.id, 'usage', '', m.seq FROM unnest(p_ids, v_seqs) m (id, seq) ORDER BY m.id COLLATE "C"
      ON CONFLICT DO NOTHING RETURNING seq
  ), first_seq AS (
    SELECT array_agg(seq) AS known FROM moved
  ), charges AS (
    SELECT r.call, r.account, r.amount, v_seqs[r.call] AS seq,
      sum(r.amount) OVER (PARTITION BY r.account ORDER BY r.call) AS running
    FROM unnest(p_calls, p_accounts, p_amounts) r (call, account, amount)
    WHERE (SELECT coalesce(cardinality(known), 0) FROM first_seq) = cardinality(p_ids)
      OR v_seqs[r.call] = ANY (SELECT seq FROM moved)
  ), written AS (
    INSERT INTO entries (account, seq, id, kind, amount, balance_after, at)
      SELECT c.account, c.seq, p_ids[c.call], 'usage', 0 - c.amount, greatest(-9007199254740991, a.balance - c.running)::bigint, p_ats[c.call]
      FROM charges c JOIN accounts a ON a.account = c.account
  ), timed AS (
    INSERT INTO entry_hours AS h (account, hour, first_seq, last_seq)
      SELECT c.account, p_ats[c.call] / 3600000 AS hour, min(c.seq), max(c.seq) FROM charges c GROUP BY c.account, 2
      ON CONFLICT (account, hour) DO UPDATE SET first_seq = least(h.first_seq, excluded.first_seq),
        last_seq = greatest(h.last_seq, excluded.last_seq)
  ), sums AS (
    SELECT s.account, sum(s.amount) AS amount, sum(s.held) AS held FROM (
      SELECT c.account, c.amount, 0 AS held FROM charges c
      UNION ALL
      SELECT u.account, 0, u.amount FROM freed f, unnest(f.accounts, f.amounts) u (account, amount)
    ) s GROUP BY s.account
  )
  UPDATE accounts a SET balance = greatest(-9007199254740991, a.balance - s.amount)::bigint, spent = least(9007199254740991, a.spent + s.amount)::bigint,
      held = a.held - s.held::bigint
    FROM sums s WHERE a.account = s.account;
END $$;

UPDATE SCHEMA.schema_version SET version = 4;
