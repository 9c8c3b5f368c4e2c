// Holds. Each function takes the calls of a batch as arrays and decides them in order.
//
// All ledger functions take locks in the same order, so that batches cannot deadlock: accounts to be opened, by name; accounts, by name;
// holds, by id; movements, by id. A function that needs a lock out of this order fails with a serialization failure, and the batch is
// retried.

/** The functions of holds. Placeholders: `SCHEMA` is the name of the schema, `MAX_SUM` the largest sum, `SETTINGS` the settings of functions. */
export const holdFunctionsSql = `
CREATE OR REPLACE FUNCTION SCHEMA.server_ms() RETURNS bigint LANGUAGE sql VOLATILE AS $$
  SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint
$$;

-- The functions without settings run within others, with theirs.
CREATE OR REPLACE FUNCTION SCHEMA.open_accounts(p_accounts text[]) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  INSERT INTO accounts (account, balance, held, credited, spent)
    SELECT DISTINCT r.account COLLATE "C", 0, 0, 0, 0 FROM unnest(p_accounts) r (account)
    WHERE NOT EXISTS (SELECT FROM accounts a WHERE a.account = r.account)
    ORDER BY 1
    ON CONFLICT DO NOTHING;
END $$;

-- Sets money aside for the calls of a batch that are not to be skipped, in order; one row of the arrays is one account of one call.
-- p_locked of the accounts were there and are locked: one that appears later was opened by another batch, and cannot be decided on.
-- Returns what it refuses as pairs: the number of the call, then the account and what it could still hold.
CREATE OR REPLACE FUNCTION SCHEMA.set_aside(p_calls int[], p_accounts text[], p_floors bigint[], p_amounts bigint[], p_skipped boolean[], p_locked bigint)
RETURNS json LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_fits boolean;
  v_there bigint;
  v_names text[];
  v_balances bigint[];
  v_helds bigint[];
  v_befores bigint[];
  v_refused json[] := '{}';
  v_call record;
  v_slot int;
  v_free bigint;
  v_is_refused boolean;
BEGIN
  IF p_skipped IS NULL THEN
    -- The common case: all amounts of an account together leave its highest floor. Then each fits, in any order.
    SELECT coalesce(bool_and(a.account IS NOT NULL AND a.balance - a.held - w.total >= w.floor AND a.held + w.total <= MAX_SUM), true),
        count(a.account)
      INTO v_fits, v_there
      FROM (
        SELECT r.account, sum(r.amount) AS total, coalesce(max(r.floor), -4 * MAX_SUM) AS floor
        FROM unnest(p_accounts, p_floors, p_amounts) r (account, floor, amount) WHERE r.account IS NOT NULL GROUP BY r.account
      ) w LEFT JOIN accounts a ON a.account = w.account;
    IF v_fits AND v_there = p_locked THEN
      UPDATE accounts a SET held = a.held + w.total::bigint
        FROM (SELECT r.account, sum(r.amount) AS total FROM unnest(p_accounts, p_amounts) r (account, amount)
              WHERE r.account IS NOT NULL GROUP BY r.account) w
        WHERE a.account = w.account;
      RETURN NULL;
    END IF;
  END IF;

  SELECT array_agg(w.account ORDER BY w.account), array_agg(coalesce(a.balance, 0) ORDER BY w.account),
      array_agg(coalesce(a.held, 0) ORDER BY w.account), count(a.account)
    INTO v_names, v_balances, v_helds, v_there
    FROM (SELECT DISTINCT r.account COLLATE "C" AS account FROM unnest(p_accounts) r (account) WHERE r.account IS NOT NULL) w
    LEFT JOIN accounts a ON a.account = w.account;
  IF v_there <> p_locked THEN
    RAISE EXCEPTION 'an account was opened by another batch at the same moment' USING ERRCODE = 'serialization_failure';
  END IF;
  v_befores := v_helds;
  FOR v_call IN
    SELECT s.call, array_agg(s.slot ORDER BY s.place) AS slots, array_agg(s.floor ORDER BY s.place) AS floors,
      array_agg(s.amount ORDER BY s.place) AS amounts
    FROM (
      SELECT r.call, r.floor, r.amount, r.place, dense_rank() OVER (ORDER BY r.account COLLATE "C")::int AS slot
      FROM unnest(p_calls, p_accounts, p_floors, p_amounts) WITH ORDINALITY r (call, account, floor, amount, place)
      WHERE r.account IS NOT NULL
    ) s
    GROUP BY s.call ORDER BY s.call
  LOOP
    CONTINUE WHEN p_skipped[v_call.call];
    v_is_refused := false;
    FOR i IN 1 .. cardinality(v_call.slots) LOOP
      v_slot := v_call.slots[i];
      v_free := least(v_balances[v_slot] - v_helds[v_slot] - coalesce(v_call.floors[i], -4 * MAX_SUM), MAX_SUM - v_helds[v_slot]);
      IF v_free < v_call.amounts[i] THEN
        v_refused := v_refused || json_build_array(v_call.call, v_names[v_slot], greatest(0, v_free));
        v_is_refused := true;
        EXIT;
      END IF;
    END LOOP;
    CONTINUE WHEN v_is_refused;
    FOR i IN 1 .. cardinality(v_call.slots) LOOP
      v_helds[v_call.slots[i]] := v_helds[v_call.slots[i]] + v_call.amounts[i];
    END LOOP;
  END LOOP;
  UPDATE accounts a SET held = w.held FROM unnest(v_names, v_helds, v_befores) w (account, held, before)
    WHERE a.account = w.account AND w.held <> w.before;
  RETURN array_to_json(v_refused);
END $$;

-- Opens the accounts that a call could be admitted on, locks all, and returns how many. An account that is not there has sums of 0.
CREATE OR REPLACE FUNCTION SCHEMA.lock_accounts(p_accounts text[], p_floors bigint[], p_amounts bigint[]) RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_locked bigint;
BEGIN
  INSERT INTO accounts (account, balance, held, credited, spent)
    SELECT DISTINCT r.account COLLATE "C", 0, 0, 0, 0 FROM unnest(p_accounts, p_floors, p_amounts) r (account, floor, amount)
    WHERE (r.floor IS NULL OR 0 - r.amount >= r.floor) AND r.account IS NOT NULL
      AND NOT EXISTS (SELECT FROM accounts a WHERE a.account = r.account)
    ORDER BY 1
    ON CONFLICT DO NOTHING;
  PERFORM FROM accounts a WHERE a.account = ANY (p_accounts) ORDER BY a.account FOR NO KEY UPDATE;
  GET DIAGNOSTICS v_locked = ROW_COUNT;
  RETURN v_locked;
END $$;

-- One row of p_calls and the arrays after it is one account of one call; a call without accounts has one row whose account is null.
CREATE OR REPLACE FUNCTION SCHEMA.reserve(p_ids text[], p_journals text[], p_calls int[], p_accounts text[], p_floors bigint[], p_amounts bigint[])
RETURNS text LANGUAGE plpgsql VOLATILE SETTINGS AS $$
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
  -- Again, because a settlement that was under way before may have been committed while the insert waited for its id.
  IF EXISTS (
    SELECT FROM unnest(p_ids) WITH ORDINALITY c (id, place) JOIN movements m ON m.id = c.id AND m.kind = 'usage' AND m.credited_account = ''
    WHERE v_skipped IS NULL OR NOT v_skipped[c.place]
  ) THEN
    RAISE EXCEPTION 'a request was settled by another batch at the same moment' USING ERRCODE = 'serialization_failure';
  END IF;
  RETURN v_refused::text;
END $$;

-- As reserve; the holds are locked after the accounts. Returns refusals; null for an account: the hold is not live.
CREATE OR REPLACE FUNCTION SCHEMA.extend(p_ids text[], p_calls int[], p_accounts text[], p_floors bigint[], p_amounts bigint[])
RETURNS text LANGUAGE plpgsql VOLATILE SETTINGS AS $$
DECLARE
  v_skipped boolean[];
  v_refused json[] := '{}';
  v_each json;
  v_locked bigint := lock_accounts(p_accounts, p_floors, p_amounts);
BEGIN
  PERFORM FROM holds h WHERE h.id = ANY (p_ids) ORDER BY h.id FOR UPDATE;
  SELECT array_agg(NOT EXISTS (SELECT FROM holds h WHERE h.id = c.id) ORDER BY c.place) INTO v_skipped
    FROM unnest(p_ids) WITH ORDINALITY c (id, place);
  FOR i IN 1 .. cardinality(p_ids) LOOP
    IF v_skipped[i] THEN v_refused := v_refused || json_build_array(i, NULL, 0); END IF;
  END LOOP;
  FOR v_each IN SELECT r.value FROM json_array_elements(set_aside(p_calls, p_accounts, p_floors, p_amounts, v_skipped, v_locked)) r LOOP
    v_refused := v_refused || v_each;
    v_skipped[(v_each ->> 0)::int] := true;
  END LOOP;
  UPDATE holds h SET version = h.version + 1, accounts = w.accounts, amounts = w.amounts
    FROM (
      SELECT s.call, s.id, array_remove(array_agg(s.account), NULL) AS accounts,
        coalesce(array_agg(s.amount) FILTER (WHERE s.account IS NOT NULL), '{}') AS amounts
      FROM (
        SELECT b.call, b.id, b.account, sum(b.amount)::bigint AS amount
        FROM (
          SELECT r.call, p_ids[r.call] AS id, r.account, r.amount FROM unnest(p_calls, p_accounts, p_amounts) r (call, account, amount)
          UNION ALL
          SELECT c.place, c.id, k.account, k.amount
          FROM unnest(p_ids) WITH ORDINALITY c (id, place), LATERAL (
            SELECT u.account, u.amount FROM holds o, unnest(o.accounts, o.amounts) u (account, amount) WHERE o.id = c.id
          ) k
        ) b
        WHERE NOT v_skipped[b.call]
        GROUP BY b.call, b.id, b.account
      ) s GROUP BY s.call, s.id
    ) w
    WHERE h.id = w.id;
  RETURN CASE WHEN cardinality(v_refused) > 0 THEN array_to_json(v_refused)::text END;
END $$;

CREATE OR REPLACE FUNCTION SCHEMA.renew(p_ids text[], p_journals text[]) RETURNS void LANGUAGE plpgsql VOLATILE SETTINGS AS $$
BEGIN
  PERFORM FROM holds h WHERE h.id = ANY (p_ids) ORDER BY h.id FOR UPDATE;
  UPDATE holds h SET version = h.version + w.times, journal = coalesce(w.journal, h.journal)
    FROM (
      SELECT r.id, count(*) AS times, (array_agg(r.journal ORDER BY r.place DESC) FILTER (WHERE r.journal IS NOT NULL))[1] AS journal
      FROM unnest(p_ids, p_journals) WITH ORDINALITY r (id, journal, place) GROUP BY r.id
    ) w
    WHERE h.id = w.id;
END $$;
`
