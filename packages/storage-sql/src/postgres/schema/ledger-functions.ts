// Credits and balances. Each function takes the calls of a batch as arrays and decides them in order. Locks are taken in the order
// described in `hold-functions.ts`.

/** The functions of credits. Placeholders: `SCHEMA` is the name of the schema, `MAX_SUM` the largest sum, `SETTINGS` the settings of functions. */
export const ledgerFunctionsSql = `
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
