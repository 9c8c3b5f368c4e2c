// Settlements: charges of holds, and whole requests. Locks are taken in the order described in `hold-functions.ts`.

/** The function that charges. Placeholders: `SCHEMA` is the name of the schema, `MAX_SUM` the largest sum, `SETTINGS` the settings of functions. */
export const settleFunctionSql = `
-- One row of p_calls, p_accounts and p_amounts is one account of one call. A hold of an id that is settled already is ended too.
-- An id without a hold has one until the end of the transaction, so that none is placed for it at the same moment.
CREATE OR REPLACE FUNCTION SCHEMA.settle(p_ids text[], p_ats bigint[], p_calls int[], p_accounts text[], p_amounts bigint[])
RETURNS void LANGUAGE plpgsql VOLATILE SETTINGS AS $$
DECLARE
  v_names text[];
  v_seqs bigint[];
  v_missing bigint;
  v_made bigint;
BEGIN
  PERFORM open_accounts(p_accounts);
  SELECT array_agg(DISTINCT n.account) INTO v_names FROM (
    SELECT unnest(p_accounts) AS account UNION ALL SELECT unnest(h.accounts) FROM holds h WHERE h.id = ANY (p_ids)
  ) n;
  PERFORM FROM accounts a WHERE a.account = ANY (v_names) ORDER BY a.account FOR NO KEY UPDATE;
  PERFORM FROM holds h WHERE h.id = ANY (p_ids) ORDER BY h.id FOR UPDATE;
  GET DIAGNOSTICS v_made = ROW_COUNT;
  v_missing := cardinality(p_ids) - v_made;
  IF v_missing > 0 THEN
    INSERT INTO holds (id, version, accounts, amounts)
      SELECT i.id, 0, '{}', '{}' FROM unnest(p_ids) i (id) WHERE NOT EXISTS (SELECT FROM holds h WHERE h.id = i.id) ORDER BY i.id COLLATE "C"
      ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS v_made = ROW_COUNT;
    IF v_made < v_missing THEN
      RAISE EXCEPTION 'a hold was made by another batch at the same moment' USING ERRCODE = 'serialization_failure';
    END IF;
  END IF;
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
      SELECT c.account, c.seq, p_ids[c.call], 'usage', 0 - c.amount, greatest(-MAX_SUM, a.balance - c.running)::bigint, p_ats[c.call]
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
  UPDATE accounts a SET balance = greatest(-MAX_SUM, a.balance - s.amount)::bigint, spent = least(MAX_SUM, a.spent + s.amount)::bigint,
      held = a.held - s.held::bigint
    FROM sums s WHERE a.account = s.account;
END $$;
`

/**
 * The function that settles whole requests: rows, charges and slots in one transaction. Rows come first, because a row may wait for a usage
 * partition, and a waiting hold would block its accounts. A batch contains each id once.
 */
export const settleRequestsSql = `
CREATE OR REPLACE FUNCTION SCHEMA.settle_requests(p_settled_ats bigint[], p_calls int[], p_accounts text[], p_amounts bigint[], p_slot_keys text[],
  p_slots text[], p_ids text[], p_workspaces text[], p_keys text[], p_ats bigint[], p_models_asked text[], p_models text[],
  p_providers text[], p_credentials text[], p_strategies text[], p_streamed smallint[], p_input bigint[], p_output bigint[],
  p_cached bigint[], p_cache_write bigint[], p_reasoning bigint[], p_estimated smallint[], p_costs bigint[], p_byok_costs bigint[],
  p_results text[], p_codes text[], p_attempts bigint[], p_durations bigint[], p_first_contents bigint[], p_warnings text[],
  p_metadata text[], p_routing text[], p_tags text[])
RETURNS void LANGUAGE plpgsql VOLATILE SETTINGS AS $$
BEGIN
  PERFORM append_usage(p_ids, p_workspaces, p_keys, p_ats, p_models_asked, p_models, p_providers, p_credentials, p_strategies, p_streamed, p_input, p_output, p_cached, p_cache_write, p_reasoning, p_estimated, p_costs, p_byok_costs, p_results, p_codes, p_attempts, p_durations, p_first_contents, p_warnings, p_metadata, p_routing, p_tags);
  PERFORM settle(p_ids, p_settled_ats, p_calls, p_accounts, p_amounts);
  IF cardinality(p_slots) > 0 THEN PERFORM leave(p_slot_keys, p_slots); END IF;
END $$;
`
