// Settlements, credits and balances. Each verb takes the calls of a batch as arrays and decides them in order. Locks are taken in the
// order that `hold-functions.ts` names.

/** The functions of settlements and credits. `SCHEMA` stands for the name of the schema, `MAX_SUM` for the largest sum, `SETTINGS` for those of functions. */
export const ledgerFunctionsSql = `
-- One row of p_calls, p_accounts and p_amounts is one account of one call. A hold of an id that is settled already is ended too.
CREATE FUNCTION SCHEMA.settle(p_ids text[], p_ats bigint[], p_calls int[], p_accounts text[], p_amounts bigint[])
RETURNS void LANGUAGE plpgsql VOLATILE SETTINGS AS $$
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

-- Books one credit on an account that is locked. Returns booked, known or sum.
CREATE FUNCTION SCHEMA.book_credit(p_id text, p_account text, p_amount bigint, p_at bigint, p_kind text, p_note text) RETURNS text
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_seq bigint;
  v_sums SCHEMA.accounts;
BEGIN
  IF EXISTS (SELECT FROM movements m WHERE m.id = p_id AND m.kind = 'credit' AND m.credited_account = p_account) THEN
    RETURN 'known';
  END IF;
  SELECT * INTO v_sums FROM accounts a WHERE a.account = p_account;
  IF (abs(v_sums.balance + p_amount) > MAX_SUM AND abs(v_sums.balance + p_amount) > abs(v_sums.balance))
    OR (abs(v_sums.credited + p_amount) > MAX_SUM AND abs(v_sums.credited + p_amount) > abs(v_sums.credited)) THEN
    RETURN 'sum';
  END IF;
  v_seq := nextval('movement_seq');
  INSERT INTO movements (id, kind, credited_account, seq) VALUES (p_id, 'credit', p_account, v_seq);
  UPDATE accounts a SET balance = a.balance + p_amount, credited = a.credited + p_amount WHERE a.account = p_account;
  INSERT INTO entries (account, seq, id, kind, amount, balance_after, at, note)
    VALUES (p_account, v_seq, p_id, p_kind, p_amount, v_sums.balance + p_amount, p_at, p_note);
  INSERT INTO entry_hours AS h (account, hour, first_seq, last_seq) VALUES (p_account, p_at / 3600000, v_seq, v_seq)
    ON CONFLICT (account, hour) DO UPDATE SET last_seq = excluded.last_seq;
  RETURN 'booked';
END $$;

-- Returns the number, balance and sum ever credited of each call that would take its account past the largest sum.
CREATE FUNCTION SCHEMA.credit(p_ids text[], p_accounts text[], p_amounts bigint[], p_ats bigint[], p_kinds text[], p_notes text[])
RETURNS text LANGUAGE plpgsql VOLATILE SETTINGS AS $$
DECLARE
  v_refused json[] := '{}';
BEGIN
  PERFORM open_accounts(p_accounts);
  PERFORM FROM accounts a WHERE a.account = ANY (p_accounts) ORDER BY a.account FOR NO KEY UPDATE;
  FOR i IN 1 .. cardinality(p_ids) LOOP
    IF book_credit(p_ids[i], p_accounts[i], p_amounts[i], p_ats[i], p_kinds[i], p_notes[i]) = 'sum' THEN
      SELECT v_refused || json_build_array(i, a.balance, a.credited) INTO v_refused FROM accounts a WHERE a.account = p_accounts[i];
    END IF;
  END LOOP;
  RETURN CASE WHEN cardinality(v_refused) > 0 THEN array_to_json(v_refused)::text END;
END $$;

-- Sums of accounts as lists: the account, its balance, and what is held, credited and spent.
CREATE FUNCTION SCHEMA.balances(p_accounts text[]) RETURNS text LANGUAGE plpgsql STABLE SETTINGS AS $$
BEGIN
  RETURN (SELECT json_agg(json_build_array(a.account, a.balance, a.held, a.credited, a.spent))::text
    FROM accounts a WHERE a.account = ANY (p_accounts));
END $$;
`
