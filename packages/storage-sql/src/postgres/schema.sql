-- The schema of Signalbox on PostgreSQL 14 or newer. It is applied in one transaction whose search_path is the schema: unqualified names
-- are created there, and functions keep that search_path (FROM CURRENT). `signalbox migrate --print --dialect postgres` prints it ready
-- to run.
--
-- Times are Unix milliseconds and money is microdollars, both bigint. No sum exceeds 2^53 - 1 (9007199254740991), the largest integer that
-- JavaScript represents exactly. Key columns are compared bytewise, whatever the database's collation.
--
-- A batch of calls is one call of a function, which takes the calls as arrays and decides them in order. Plans of functions are generic and
-- always use indexes, because a plan made while a table was small would scan all of it once it is large. JIT compilation would cost more
-- than it saves. The functions without settings run within others, with theirs.

-- Tables of records, money and limits

CREATE TABLE records (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  workspace_id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  grp text COLLATE "C",
  name text COLLATE "C",
  created_at bigint NOT NULL,
  expires_at bigint,
  used_at bigint,
  body text NOT NULL,
  UNIQUE (kind, id)
);
CREATE UNIQUE INDEX records_by_name ON records (kind, name) WHERE name IS NOT NULL;
CREATE INDEX records_by_workspace ON records (kind, workspace_id, seq);
CREATE INDEX records_by_kind ON records (kind, seq);
CREATE INDEX records_by_expiry ON records (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE counters (
  key text COLLATE "C" PRIMARY KEY,
  used bigint NOT NULL,
  ends_at bigint NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_scale_factor = 0.1);

CREATE TABLE slots (
  key text COLLATE "C" NOT NULL,
  slot text COLLATE "C" NOT NULL,
  ends_at bigint NOT NULL,
  PRIMARY KEY (key, slot)
) WITH (autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_scale_factor = 0.1);

-- How many slots a key has. Its row is the lock of the key's slots.
CREATE TABLE slot_counts (
  key text COLLATE "C" PRIMARY KEY,
  taken bigint NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_scale_factor = 0.1);

-- Rows of accounts are deleted by forget_accounts alone, while no other verb of the ledger runs: the order of locks relies on it.
CREATE TABLE accounts (
  account text COLLATE "C" PRIMARY KEY,
  balance bigint NOT NULL,
  held bigint NOT NULL,
  credited bigint NOT NULL,
  spent bigint NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_scale_factor = 0.1);

CREATE TABLE holds (
  id text COLLATE "C" PRIMARY KEY,
  version bigint NOT NULL,
  accounts text[] NOT NULL,
  amounts bigint[] NOT NULL,
  journal text
) WITH (autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_scale_factor = 0.1);

-- Every settlement and credit once: the guard against booking twice, and the order of all entries.
CREATE SEQUENCE movement_seq;
CREATE TABLE movements (
  id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  credited_account text COLLATE "C" NOT NULL DEFAULT '',
  seq bigint NOT NULL,
  PRIMARY KEY (id, kind, credited_account)
);

CREATE TABLE entries (
  account text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  amount bigint NOT NULL,
  balance_after bigint NOT NULL,
  at bigint NOT NULL,
  note text,
  PRIMARY KEY (account, seq)
);

-- Where the entries of an hour begin and end: finds those of a time, at less than an index over all of them.
CREATE TABLE entry_hours (
  account text COLLATE "C" NOT NULL,
  hour bigint NOT NULL,
  first_seq bigint NOT NULL,
  last_seq bigint NOT NULL,
  PRIMARY KEY (account, hour)
) WITH (fillfactor = 50);

CREATE SEQUENCE item_seq;
CREATE TABLE items (
  seq bigint NOT NULL DEFAULT nextval('item_seq'),
  workspace_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  expires_at bigint NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX items_by_expiry ON items (expires_at);
CREATE INDEX items_by_workspace ON items (workspace_id, expires_at, seq);

-- The bytes of a workspace's items. Its row is the lock of the workspace's items.
CREATE TABLE item_bytes (
  workspace_id text COLLATE "C" PRIMARY KEY,
  bytes bigint NOT NULL
) WITH (fillfactor = 50);

CREATE SEQUENCE routing_seq;
CREATE TABLE offer_statistics (
  writer text COLLATE "C" NOT NULL,
  offer text COLLATE "C" NOT NULL,
  epoch bigint NOT NULL,
  version bigint NOT NULL,
  at bigint NOT NULL,
  answered bigint NOT NULL,
  failed bigint NOT NULL,
  finished bigint NOT NULL,
  broken bigint NOT NULL,
  waits bigint NOT NULL,
  ln_waits double precision NOT NULL,
  ln_waits_squared double precision NOT NULL,
  speeds bigint NOT NULL,
  ln_speeds double precision NOT NULL,
  sequence bigint NOT NULL,
  PRIMARY KEY (writer, offer)
) WITH (fillfactor = 50);
CREATE INDEX offer_statistics_by_sequence ON offer_statistics (sequence);

CREATE TABLE offer_pauses (
  offer text COLLATE "C" PRIMARY KEY,
  until bigint NOT NULL,
  sequence bigint NOT NULL
);

CREATE TABLE conversation_readers (
  key text COLLATE "C" NOT NULL,
  offer text COLLATE "C" NOT NULL,
  tokens bigint NOT NULL,
  at bigint NOT NULL,
  PRIMARY KEY (key, offer)
);

-- Tables that are partitioned by month of `at`. A row without a matching partition goes to the default partition.
--
-- A unique index of a partitioned table must include `at`, so uniqueness over all months is kept elsewhere: `usage_ids` contains every id
-- once, and `audit_heads` the last place of each chain, which is locked while a row is appended.

CREATE SEQUENCE usage_seq;
CREATE TABLE usage (
  seq bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  workspace_id text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  at bigint NOT NULL,
  model_asked text COLLATE "C" NOT NULL,
  model text COLLATE "C" NOT NULL,
  provider text COLLATE "C" NOT NULL,
  credential text COLLATE "C" NOT NULL,
  strategy text COLLATE "C" NOT NULL,
  streamed smallint NOT NULL,
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  cached_tokens bigint NOT NULL,
  cache_write_tokens bigint NOT NULL,
  reasoning_tokens bigint NOT NULL,
  estimated smallint NOT NULL,
  cost bigint NOT NULL,
  byok_cost bigint NOT NULL,
  result text COLLATE "C" NOT NULL,
  code text,
  attempts bigint NOT NULL,
  duration_ms bigint NOT NULL,
  first_content_ms bigint,
  warnings text NOT NULL,
  metadata text,
  routing text,
  -- A JSON array.
  tags text
) PARTITION BY RANGE (at);
CREATE INDEX usage_by_time ON usage (workspace_id, at, seq);
CREATE INDEX usage_by_seq ON usage (seq);
CREATE TABLE usage_default PARTITION OF usage DEFAULT;

CREATE TABLE usage_ids (
  id text COLLATE "C" PRIMARY KEY,
  at bigint NOT NULL,
  seq bigint NOT NULL
);

-- Totals of whole hours and days, so that a query for a month does not read all rows; a mark records up to which row they count.
CREATE TABLE usage_totals (
  workspace_id text COLLATE "C" NOT NULL,
  dimension text COLLATE "C" NOT NULL,
  span bigint NOT NULL,
  start bigint NOT NULL,
  value text COLLATE "C" NOT NULL,
  total text NOT NULL,
  PRIMARY KEY (workspace_id, dimension, span, start, value)
) WITH (fillfactor = 50);
CREATE INDEX usage_totals_by_value ON usage_totals (workspace_id, dimension, span, value, start);
CREATE TABLE usage_rolled (seq bigint NOT NULL);
INSERT INTO usage_rolled (seq) VALUES (0);

CREATE TABLE audit (
  workspace_id text COLLATE "C" NOT NULL,
  place bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  event text COLLATE "C" NOT NULL,
  actor_key_id text COLLATE "C",
  actor_name text,
  subject_type text NOT NULL,
  subject_id text NOT NULL,
  at bigint NOT NULL,
  request_id text,
  ip text,
  changes text NOT NULL,
  previous_hash text NOT NULL,
  hash text NOT NULL
) PARTITION BY RANGE (at);
CREATE INDEX audit_by_place ON audit (workspace_id, place);
CREATE INDEX audit_by_id ON audit (workspace_id, id);
CREATE TABLE audit_default PARTITION OF audit DEFAULT;

CREATE TABLE audit_heads (
  workspace_id text COLLATE "C" PRIMARY KEY,
  place bigint NOT NULL,
  hash text NOT NULL
) WITH (fillfactor = 50);

-- Holds
--
-- All functions take locks in the same order, so that batches cannot deadlock: counters, by key; keys of slots; accounts to be opened, by
-- name; accounts, by name; holds, by id; movements, by id. A function that needs a lock out of this order fails with a serialization
-- failure, and the batch is retried.

CREATE FUNCTION server_ms() RETURNS bigint LANGUAGE sql VOLATILE AS $$
  SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint
$$;

-- The functions without settings run within others, with theirs.
CREATE FUNCTION open_accounts(p_accounts text[]) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
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
CREATE FUNCTION set_aside(p_calls int[], p_accounts text[], p_floors bigint[], p_amounts bigint[], p_skipped boolean[], p_locked bigint)
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
    SELECT coalesce(bool_and(a.account IS NOT NULL AND a.balance - a.held - w.total >= w.floor AND a.held + w.total <= 9007199254740991), true),
        count(a.account)
      INTO v_fits, v_there
      FROM (
        SELECT r.account, sum(r.amount) AS total, coalesce(max(r.floor), -4 * 9007199254740991) AS floor
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
      v_free := least(v_balances[v_slot] - v_helds[v_slot] - coalesce(v_call.floors[i], -4 * 9007199254740991), 9007199254740991 - v_helds[v_slot]);
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
CREATE FUNCTION lock_accounts(p_accounts text[], p_floors bigint[], p_amounts bigint[]) RETURNS bigint
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
CREATE FUNCTION reserve(p_ids text[], p_journals text[], p_calls int[], p_accounts text[], p_floors bigint[], p_amounts bigint[])
RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
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
CREATE FUNCTION extend(p_ids text[], p_calls int[], p_accounts text[], p_floors bigint[], p_amounts bigint[])
RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
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

CREATE FUNCTION renew(p_ids text[], p_journals text[]) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
BEGIN
  PERFORM FROM holds h WHERE h.id = ANY (p_ids) ORDER BY h.id FOR UPDATE;
  UPDATE holds h SET version = h.version + w.times, journal = coalesce(w.journal, h.journal)
    FROM (
      SELECT r.id, count(*) AS times, (array_agg(r.journal ORDER BY r.place DESC) FILTER (WHERE r.journal IS NOT NULL))[1] AS journal
      FROM unnest(p_ids, p_journals) WITH ORDINALITY r (id, journal, place) GROUP BY r.id
    ) w
    WHERE h.id = w.id;
END $$;

-- Settlements: charges of holds, and whole requests

-- One row of p_calls, p_accounts and p_amounts is one account of one call. A hold of an id that is settled already is ended too.
-- An id without a hold has one until the end of the transaction, so that none is placed for it at the same moment.
CREATE FUNCTION settle(p_ids text[], p_ats bigint[], p_calls int[], p_accounts text[], p_amounts bigint[])
RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
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

-- Settles whole requests: rows, charges and slots in one transaction. Rows come first, because a row may wait for a usage partition, and a
-- waiting hold would block its accounts; slots come before accounts, as in admit. A batch contains each id once.
CREATE FUNCTION settle_requests(p_settled_ats bigint[], p_calls int[], p_accounts text[], p_amounts bigint[], p_slot_keys text[],
  p_slots text[], p_ids text[], p_workspaces text[], p_keys text[], p_ats bigint[], p_models_asked text[], p_models text[],
  p_providers text[], p_credentials text[], p_strategies text[], p_streamed smallint[], p_input bigint[], p_output bigint[],
  p_cached bigint[], p_cache_write bigint[], p_reasoning bigint[], p_estimated smallint[], p_costs bigint[], p_byok_costs bigint[],
  p_results text[], p_codes text[], p_attempts bigint[], p_durations bigint[], p_first_contents bigint[], p_warnings text[],
  p_metadata text[], p_routing text[], p_tags text[])
RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
BEGIN
  PERFORM append_usage(p_ids, p_workspaces, p_keys, p_ats, p_models_asked, p_models, p_providers, p_credentials, p_strategies, p_streamed,
    p_input, p_output, p_cached, p_cache_write, p_reasoning, p_estimated, p_costs, p_byok_costs, p_results, p_codes, p_attempts, p_durations,
    p_first_contents, p_warnings, p_metadata, p_routing, p_tags);
  IF cardinality(p_slots) > 0 THEN PERFORM leave(p_slot_keys, p_slots); END IF;
  PERFORM settle(p_ids, p_settled_ats, p_calls, p_accounts, p_amounts);
END $$;

-- Credits and balances

-- Books one credit on an account that is locked. Returns booked, known or sum.
CREATE FUNCTION book_credit(p_id text, p_account text, p_amount bigint, p_at bigint, p_kind text, p_note text) RETURNS text
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_seq bigint;
  v_sums accounts;
BEGIN
  IF EXISTS (SELECT FROM movements m WHERE m.id = p_id AND m.kind = 'credit' AND m.credited_account = p_account) THEN
    RETURN 'known';
  END IF;
  SELECT * INTO v_sums FROM accounts a WHERE a.account = p_account;
  IF (abs(v_sums.balance + p_amount) > 9007199254740991 AND abs(v_sums.balance + p_amount) > abs(v_sums.balance))
    OR (abs(v_sums.credited + p_amount) > 9007199254740991 AND abs(v_sums.credited + p_amount) > abs(v_sums.credited)) THEN
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
CREATE FUNCTION credit(p_ids text[], p_accounts text[], p_amounts bigint[], p_ats bigint[], p_kinds text[], p_notes text[])
RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
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
CREATE FUNCTION balances(p_accounts text[]) RETURNS text
LANGUAGE plpgsql STABLE SET search_path FROM CURRENT SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
BEGIN
  RETURN (SELECT json_agg(json_build_array(a.account, a.balance, a.held, a.credited, a.spent))::text
    FROM accounts a WHERE a.account = ANY (p_accounts));
END $$;

-- Removal of unused accounts. The other functions of the ledger rely on accounts to exist from when they lock them until they end, so they
-- are blocked while accounts are removed.

-- Removes p_limit entries at most of accounts that nothing is held on.
CREATE FUNCTION forget_entries(p_accounts text[], p_limit int) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
  v_gone bigint;
BEGIN
  DELETE FROM entries e WHERE e.ctid = ANY (ARRAY(
    SELECT o.ctid FROM accounts a JOIN entries o ON o.account = a.account
    WHERE a.account = ANY (p_accounts) AND a.held = 0 LIMIT p_limit));
  GET DIAGNOSTICS v_gone = ROW_COUNT;
  RETURN v_gone;
END $$;

-- Removes the accounts that nothing is held on, and what came since their entries were removed. Every verb that opens or changes
-- accounts holds ROW EXCLUSIVE on the table until it ends, so none of them is under way here, and none begins.
CREATE FUNCTION forget_accounts(p_accounts text[]) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off
SET lock_timeout = '2s' AS $$
DECLARE
  v_gone text[];
BEGIN
  LOCK TABLE accounts IN SHARE ROW EXCLUSIVE MODE;
  WITH gone AS (
    DELETE FROM accounts a WHERE a.account = ANY (p_accounts) AND a.held = 0 RETURNING a.account
  )
  SELECT array_agg(g.account) INTO v_gone FROM gone g;
  DELETE FROM entries e WHERE e.account = ANY (v_gone);
  DELETE FROM entry_hours h WHERE h.account = ANY (v_gone);
  RETURN coalesce(cardinality(v_gone), 0);
END $$;

-- Counters and slots. `at` is null if the server's clock decides. The rows of `counters` and `slot_counts` serve as locks, taken in key
-- order; a row that a sweep removed meanwhile causes a serialization failure, and the batch is retried.

-- One row of p_calls and the arrays after it is one counter of one call. Returns refusals: the number of the call, the key, and the wait.
CREATE FUNCTION take(p_ats bigint[], p_calls int[], p_keys text[], p_amounts bigint[], p_limits bigint[], p_windows bigint[])
RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
  v_now bigint := server_ms();
  v_at bigint;
  v_low bigint;
  v_locked bigint;
  v_is_locked boolean;
  v_fits boolean;
  v_keys text[];
  v_used bigint[];
  v_ends bigint[];
  v_refused json[] := '{}';
  v_call record;
  v_slot int;
  v_taken bigint;
  v_is_open boolean;
  v_is_refused boolean;
BEGIN
  -- A window that has ended at 0 is one that has not begun.
  INSERT INTO counters (key, used, ends_at)
    SELECT DISTINCT r.key COLLATE "C", 0, 0 FROM unnest(p_keys) r (key)
    WHERE NOT EXISTS (SELECT FROM counters c WHERE c.key = r.key)
    ORDER BY 1
    ON CONFLICT DO NOTHING;
  PERFORM FROM counters c WHERE c.key = ANY (p_keys) ORDER BY c.key FOR NO KEY UPDATE;
  GET DIAGNOSTICS v_locked = ROW_COUNT;
  SELECT max(coalesce(a.at, v_now)), min(coalesce(a.at, v_now)) INTO v_at, v_low FROM unnest(p_ats) a (at);
  -- The common case: one time, one length of each window, and room for all amounts together under the lowest limit.
  SELECT count(*) = v_locked, v_at = v_low AND coalesce(bool_and(w.first_window = w.last_window AND w.total
      + CASE WHEN c.ends_at > v_at AND c.ends_at <= v_at + 2 * w.last_window THEN c.used ELSE 0 END <= w.least), true)
    INTO v_is_locked, v_fits
    FROM (
      SELECT r.key, sum(r.amount) AS total, min(r.lim) AS least, min(r.win) AS first_window, max(r.win) AS last_window
      FROM unnest(p_keys, p_amounts, p_limits, p_windows) r (key, amount, lim, win) GROUP BY r.key
    ) w LEFT JOIN counters c ON c.key = w.key;
  IF NOT v_is_locked THEN
    RAISE EXCEPTION 'a counter was removed by a sweep at the same moment' USING ERRCODE = 'serialization_failure';
  END IF;
  IF v_fits THEN
    UPDATE counters c SET
        used = w.total::bigint + CASE WHEN c.ends_at > v_at AND c.ends_at <= v_at + 2 * w.win THEN c.used ELSE 0 END,
        ends_at = CASE WHEN c.ends_at > v_at AND c.ends_at <= v_at + 2 * w.win THEN least(c.ends_at, v_at + w.win) ELSE v_at + w.win END
      FROM (
        SELECT r.key, sum(r.amount) AS total, max(r.win) AS win FROM unnest(p_keys, p_amounts, p_windows) r (key, amount, win) GROUP BY r.key
      ) w
      WHERE c.key = w.key;
    RETURN NULL;
  END IF;

  SELECT array_agg(c.key ORDER BY c.key), array_agg(c.used ORDER BY c.key), array_agg(c.ends_at ORDER BY c.key)
    INTO v_keys, v_used, v_ends FROM counters c WHERE c.key = ANY (p_keys);
  FOR v_call IN
    SELECT s.call, array_agg(s.slot ORDER BY s.place) AS slots, array_agg(s.amount ORDER BY s.place) AS amounts,
      array_agg(s.lim ORDER BY s.place) AS limits, array_agg(s.win ORDER BY s.place) AS windows
    FROM (
      SELECT r.*, dense_rank() OVER (ORDER BY r.key COLLATE "C")::int AS slot
      FROM unnest(p_calls, p_keys, p_amounts, p_limits, p_windows) WITH ORDINALITY r (call, key, amount, lim, win, place)
    ) s
    GROUP BY s.call ORDER BY s.call
  LOOP
    v_at := coalesce(p_ats[v_call.call], v_now);
    v_is_refused := false;
    FOR i IN 1 .. cardinality(v_call.slots) LOOP
      v_slot := v_call.slots[i];
      v_is_open := v_ends[v_slot] > v_at AND v_ends[v_slot] <= v_at + 2 * v_call.windows[i];
      v_taken := CASE WHEN v_is_open THEN v_used[v_slot] ELSE 0 END;
      -- A call may name a counter twice: the earlier amounts count for the later ones.
      FOR j IN 1 .. i - 1 LOOP
        IF v_call.slots[j] = v_slot THEN v_taken := v_taken + v_call.amounts[j]; END IF;
      END LOOP;
      CONTINUE WHEN v_taken + v_call.amounts[i] <= v_call.limits[i];
      v_is_refused := true;
      IF v_is_open THEN v_ends[v_slot] := least(v_ends[v_slot], v_at + v_call.windows[i]); END IF;
      v_refused := v_refused || json_build_array(v_call.call, v_keys[v_slot],
        CASE WHEN v_is_open THEN v_ends[v_slot] - v_at ELSE v_call.windows[i] END);
      EXIT;
    END LOOP;
    CONTINUE WHEN v_is_refused;
    FOR i IN 1 .. cardinality(v_call.slots) LOOP
      v_slot := v_call.slots[i];
      IF v_ends[v_slot] > v_at AND v_ends[v_slot] <= v_at + 2 * v_call.windows[i] THEN
        v_used[v_slot] := v_used[v_slot] + v_call.amounts[i];
        v_ends[v_slot] := least(v_ends[v_slot], v_at + v_call.windows[i]);
      ELSE
        v_used[v_slot] := v_call.amounts[i];
        v_ends[v_slot] := v_at + v_call.windows[i];
      END IF;
    END LOOP;
  END LOOP;
  UPDATE counters c SET used = w.used, ends_at = w.ends_at FROM unnest(v_keys, v_used, v_ends) w (key, used, ends_at)
    WHERE c.key = w.key AND (c.used <> w.used OR c.ends_at <> w.ends_at);
  RETURN array_to_json(v_refused)::text;
END $$;

-- Corrections one after the other, each of which stops at 0: the sum of all, plus the larger of what was used and the deepest fall.
CREATE FUNCTION add(p_keys text[], p_amounts bigint[], p_ats bigint[]) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
  v_now bigint := server_ms();
BEGIN
  PERFORM FROM counters c WHERE c.key = ANY (p_keys) ORDER BY c.key FOR NO KEY UPDATE;
  UPDATE counters c SET used = least(9007199254740991, w.total + greatest(c.used, 0 - w.lowest))::bigint
    FROM (
      SELECT s.key, min(s.running) AS lowest, sum(s.amount) AS total FROM (
        SELECT r.key, r.amount, sum(r.amount) OVER (PARTITION BY r.key ORDER BY r.place) AS running
        FROM unnest(p_keys, p_amounts, p_ats) WITH ORDINALITY r (key, amount, at, place)
        JOIN counters k ON k.key = r.key AND k.ends_at > coalesce(r.at, v_now)
      ) s GROUP BY s.key
    ) w
    WHERE c.key = w.key;
END $$;

-- A batch names each pair of key and slot once. Returns the numbers of the calls that found no slot.
CREATE FUNCTION enter(p_keys text[], p_slots text[], p_limits bigint[], p_ttls bigint[], p_ats bigint[]) RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
  v_now bigint := server_ms();
  v_locked bigint;
  v_is_locked boolean;
  v_fits boolean;
  v_refused json[] := '{}';
  v_call record;
  v_key text;
  v_taken bigint;
  v_cleared_at bigint;
  v_cleared_ttl bigint;
  v_ends bigint;
  v_gone bigint;
BEGIN
  INSERT INTO slot_counts (key, taken)
    SELECT DISTINCT r.key COLLATE "C", 0 FROM unnest(p_keys) r (key)
    WHERE NOT EXISTS (SELECT FROM slot_counts c WHERE c.key = r.key)
    ORDER BY 1
    ON CONFLICT DO NOTHING;
  PERFORM FROM slot_counts c WHERE c.key = ANY (p_keys) ORDER BY c.key FOR NO KEY UPDATE;
  GET DIAGNOSTICS v_locked = ROW_COUNT;
  SELECT count(*) = v_locked, bool_and(c.taken + w.fresh <= w.least) INTO v_is_locked, v_fits
    FROM (
      SELECT r.key, count(*) FILTER (WHERE s.key IS NULL) AS fresh, min(r.lim) AS least
      FROM unnest(p_keys, p_slots, p_limits) r (key, slot, lim) LEFT JOIN slots s ON s.key = r.key AND s.slot = r.slot
      GROUP BY r.key
    ) w LEFT JOIN slot_counts c ON c.key = w.key;
  IF NOT v_is_locked THEN
    RAISE EXCEPTION 'a count of slots was removed by a sweep at the same moment' USING ERRCODE = 'serialization_failure';
  END IF;
  IF v_fits THEN
    WITH entered AS (
      INSERT INTO slots (key, slot, ends_at)
        SELECT r.key, r.slot, coalesce(r.at, v_now) + r.ttl FROM unnest(p_keys, p_slots, p_ttls, p_ats) r (key, slot, ttl, at)
        ON CONFLICT (key, slot) DO UPDATE SET ends_at = excluded.ends_at
        RETURNING key, (xmax = 0) AS is_fresh
    )
    UPDATE slot_counts c SET taken = c.taken + w.fresh
      FROM (SELECT e.key, count(*) AS fresh FROM entered e WHERE e.is_fresh GROUP BY e.key) w WHERE c.key = w.key;
    RETURN NULL;
  END IF;

  -- By key: calls for different keys do not depend on each other.
  FOR v_call IN
    SELECT r.key, r.slot, r.lim, r.ttl, coalesce(r.at, v_now) AS at, r.place
    FROM unnest(p_keys, p_slots, p_limits, p_ttls, p_ats) WITH ORDINALITY r (key, slot, lim, ttl, at, place)
    ORDER BY r.key COLLATE "C", r.place
  LOOP
    IF v_key IS DISTINCT FROM v_call.key THEN
      UPDATE slot_counts c SET taken = v_taken WHERE c.key = v_key;
      v_key := v_call.key;
      v_cleared_at := NULL;
      SELECT c.taken INTO v_taken FROM slot_counts c WHERE c.key = v_key;
    END IF;
    SELECT s.ends_at INTO v_ends FROM slots s WHERE s.key = v_key AND s.slot = v_call.slot;
    IF v_taken >= v_call.lim AND NOT coalesce(v_ends > v_call.at, false) THEN
      -- Cleared once for each time, however many calls find no slot.
      IF v_cleared_at IS DISTINCT FROM v_call.at OR v_cleared_ttl IS DISTINCT FROM v_call.ttl THEN
        DELETE FROM slots s WHERE s.key = v_key AND s.ends_at <= v_call.at;
        GET DIAGNOSTICS v_gone = ROW_COUNT;
        v_taken := v_taken - v_gone;
        IF v_taken >= v_call.lim THEN
          UPDATE slots s SET ends_at = v_call.at + v_call.ttl WHERE s.key = v_key AND s.ends_at > v_call.at + v_call.ttl;
        END IF;
        v_cleared_at := v_call.at;
        v_cleared_ttl := v_call.ttl;
      END IF;
      IF v_taken >= v_call.lim THEN
        v_refused := v_refused || to_json(v_call.place);
        CONTINUE;
      END IF;
    END IF;
    INSERT INTO slots AS s (key, slot, ends_at) VALUES (v_key, v_call.slot, v_call.at + v_call.ttl)
      ON CONFLICT (key, slot) DO UPDATE SET ends_at = excluded.ends_at RETURNING (s.xmax = 0)::int INTO v_gone;
    v_taken := v_taken + v_gone;
    -- A slot that ends later than those that were shortened has to be looked at again.
    IF v_call.ttl > v_cleared_ttl THEN v_cleared_at := NULL; END IF;
  END LOOP;
  UPDATE slot_counts c SET taken = v_taken WHERE c.key = v_key;
  RETURN array_to_json(v_refused)::text;
END $$;

CREATE FUNCTION leave(p_keys text[], p_slots text[]) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
BEGIN
  PERFORM FROM slot_counts c WHERE c.key = ANY (p_keys) ORDER BY c.key FOR NO KEY UPDATE;
  WITH gone AS (
    DELETE FROM slots s USING unnest(p_keys, p_slots) r (key, slot) WHERE s.key = r.key AND s.slot = r.slot RETURNING s.key
  )
  UPDATE slot_counts c SET taken = c.taken - w.freed FROM (SELECT g.key, count(*) AS freed FROM gone g GROUP BY g.key) w
    WHERE c.key = w.key;
END $$;

-- Removes windows and slots that ended long before p_before, a bounded number of each, and skips those that are in use.
CREATE FUNCTION sweep(p_before bigint, p_rows int) RETURNS void LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT AS $$
DECLARE
  v_keys text[];
BEGIN
  DELETE FROM counters c WHERE c.ctid = ANY (ARRAY(
    SELECT o.ctid FROM counters o WHERE o.ends_at <= p_before LIMIT p_rows FOR UPDATE SKIP LOCKED));
  SELECT array_agg(l.key) INTO v_keys FROM (
    SELECT c.key FROM slot_counts c
    WHERE c.taken = 0 OR EXISTS (SELECT FROM slots s WHERE s.key = c.key AND s.ends_at <= p_before)
    LIMIT p_rows FOR UPDATE SKIP LOCKED
  ) l;
  WITH gone AS (DELETE FROM slots s WHERE s.key = ANY (v_keys) AND s.ends_at <= p_before RETURNING s.key)
  UPDATE slot_counts c SET taken = c.taken - w.freed FROM (SELECT g.key, count(*) AS freed FROM gone g GROUP BY g.key) w
    WHERE c.key = w.key;
  DELETE FROM slot_counts c WHERE c.key = ANY (v_keys) AND c.taken = 0;
END $$;

-- Admissions

-- Admits requests: counters, slots and holds in one transaction. One row of p_calls and the arrays after it is one limit of one call, of the
-- kind slot (0), counter of requests (1), counter of tokens (2) or account (3); its limit is the floor of an account. p_held is 1 for calls
-- with a hold. Returns refusals: the number of the call, the kind, the name, and the milliseconds or microdollars that are left. A refused
-- call leaves its slots and its tokens; its requests count.
CREATE FUNCTION admit(p_ats bigint[], p_ids text[], p_journals text[], p_held int[], p_calls int[], p_kinds int[], p_names text[],
  p_amounts bigint[], p_limits bigint[], p_windows bigint[])
RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
  v_calls int[];
  v_names text[];
  v_amounts bigint[];
  v_limits bigint[];
  v_windows bigint[];
  v_full json;
  v_entered json;
  v_slot_calls int[];
  v_slot_names text[];
  v_live int[];
  v_each json;
  v_call int;
  v_is_uncounted boolean[] := array_fill(false, ARRAY[cardinality(p_ids)]);
  v_is_refused boolean[] := v_is_uncounted;
  v_refused json[] := '{}';
BEGIN
  IF 1 = ANY (p_kinds) OR 2 = ANY (p_kinds) THEN
    SELECT array_agg(r.call ORDER BY r.place), array_agg(r.name ORDER BY r.place), array_agg(r.amount ORDER BY r.place),
        array_agg(r.lim ORDER BY r.place), array_agg(r.win ORDER BY r.place)
      INTO v_calls, v_names, v_amounts, v_limits, v_windows
      FROM unnest(p_calls, p_kinds, p_names, p_amounts, p_limits, p_windows) WITH ORDINALITY r (call, kind, name, amount, lim, win, place)
      WHERE r.kind IN (1, 2);
    v_full := take(p_ats, v_calls, v_names, v_amounts, v_limits, v_windows)::json;
  END IF;
  IF 0 = ANY (p_kinds) THEN
    SELECT array_agg(r.call ORDER BY r.place), array_agg(r.name ORDER BY r.place), array_agg(r.lim ORDER BY r.place),
        array_agg(r.win ORDER BY r.place)
      INTO v_slot_calls, v_slot_names, v_limits, v_windows
      FROM unnest(p_calls, p_kinds, p_names, p_limits, p_windows) WITH ORDINALITY r (call, kind, name, lim, win, place) WHERE r.kind = 0;
    v_entered := enter(v_slot_names, ARRAY(SELECT p_ids[c.call] FROM unnest(v_slot_calls) WITH ORDINALITY c (call, place) ORDER BY c.place),
      v_limits, v_windows, ARRAY(SELECT p_ats[c.call] FROM unnest(v_slot_calls) WITH ORDINALITY c (call, place) ORDER BY c.place))::json;
  END IF;
  FOR v_each IN SELECT e.value FROM json_array_elements(v_entered) e ORDER BY (e.value #>> '{}')::int LOOP
    v_call := v_slot_calls[(v_each #>> '{}')::int];
    CONTINUE WHEN v_is_refused[v_call];
    v_is_refused[v_call] := true;
    v_refused := v_refused || json_build_array(v_call, 0, v_slot_names[(v_each #>> '{}')::int], 0);
  END LOOP;
  FOR v_each IN SELECT f.value FROM json_array_elements(v_full) f LOOP
    v_call := (v_each ->> 0)::int;
    v_is_uncounted[v_call] := true;
    CONTINUE WHEN v_is_refused[v_call];
    v_is_refused[v_call] := true;
    v_refused := v_refused || json_build_array(v_call, 1, v_each ->> 1, (v_each ->> 2)::bigint);
  END LOOP;

  SELECT array_agg(c.place ORDER BY c.place) INTO v_live
    FROM unnest(p_held) WITH ORDINALITY c (held, place) WHERE c.held = 1 AND NOT v_is_refused[c.place];
  IF v_live IS NOT NULL THEN
    SELECT array_agg(l.number ORDER BY l.number, r.place), array_agg(r.name ORDER BY l.number, r.place),
        array_agg(r.lim ORDER BY l.number, r.place), array_agg(coalesce(r.amount, 0) ORDER BY l.number, r.place)
      INTO v_calls, v_names, v_limits, v_amounts
      FROM unnest(v_live) WITH ORDINALITY l (call, number) LEFT JOIN (
        SELECT w.* FROM unnest(p_calls, p_kinds, p_names, p_amounts, p_limits) WITH ORDINALITY w (call, kind, name, amount, lim, place)
        WHERE w.kind = 3
      ) r ON r.call = l.call;
    FOR v_each IN SELECT h.value FROM json_array_elements(reserve(
      ARRAY(SELECT p_ids[l.call] FROM unnest(v_live) WITH ORDINALITY l (call, number) ORDER BY l.number),
      ARRAY(SELECT p_journals[l.call] FROM unnest(v_live) WITH ORDINALITY l (call, number) ORDER BY l.number),
      v_calls, v_names, v_limits, v_amounts)::json) h
    LOOP
      v_call := v_live[(v_each ->> 0)::int];
      v_is_refused[v_call] := true;
      v_refused := v_refused || json_build_array(v_call, 3, v_each ->> 1, (v_each ->> 2)::bigint);
    END LOOP;
  END IF;
  IF cardinality(v_refused) = 0 THEN RETURN NULL; END IF;

  -- An id that is held or settled was admitted before, and the answer was lost: what refuses it may be what it took itself.
  FOREACH v_each IN ARRAY v_refused LOOP
    v_call := (v_each ->> 0)::int;
    v_is_refused[v_call] := p_held[v_call] = 0 OR NOT EXISTS (SELECT FROM holds h WHERE h.id = p_ids[v_call])
      AND NOT EXISTS (SELECT FROM movements m WHERE m.id = p_ids[v_call] AND m.kind = 'usage' AND m.credited_account = '');
  END LOOP;
  SELECT array_agg(r.name), array_agg(p_ids[r.call]) INTO v_names, v_slot_names
    FROM unnest(p_calls, p_kinds, p_names) r (call, kind, name) WHERE r.kind = 0 AND v_is_refused[r.call];
  IF v_names IS NOT NULL THEN PERFORM leave(v_names, v_slot_names); END IF;
  SELECT array_agg(r.name), array_agg(0 - r.amount), array_agg(p_ats[r.call]) INTO v_names, v_amounts, v_limits
    FROM unnest(p_calls, p_kinds, p_names, p_amounts) r (call, kind, name, amount)
    WHERE r.kind = 2 AND v_is_refused[r.call] AND NOT v_is_uncounted[r.call];
  IF v_names IS NOT NULL THEN PERFORM add(v_names, v_amounts, v_limits); END IF;
  RETURN (SELECT json_agg(r.refusal) FROM unnest(v_refused) r (refusal) WHERE v_is_refused[(r.refusal ->> 0)::int])::text;
END $$;

-- Commits of records. An advisory lock serializes batches of commits across all processes, because management changes are few, and each
-- reads before it writes. Locks of records and accounts are taken before the first change, in key order.

-- Returns the conflicts of the changes that were not done, as pairs of the number of the change and its conflict.
CREATE FUNCTION commit_changes(p_changes json) RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
  v_refused json[] := '{}';
  v_conflict json;
  v_change record;
  v_accounts text[];
BEGIN
  PERFORM pg_advisory_xact_lock('records'::regclass::oid::int, 1);
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
CREATE FUNCTION apply_change(p_change json) RETURNS json LANGUAGE plpgsql VOLATILE AS $$
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

CREATE FUNCTION touch(p_kinds text[], p_ids text[], p_ats bigint[]) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
BEGIN
  PERFORM FROM records r JOIN (SELECT DISTINCT u.kind, u.id FROM unnest(p_kinds, p_ids) u (kind, id)) w
    ON r.kind = w.kind AND r.id = w.id ORDER BY r.kind, r.id FOR NO KEY UPDATE OF r;
  UPDATE records r SET used_at = w.at
    FROM (SELECT u.kind, u.id, max(u.at) AS at FROM unnest(p_kinds, p_ids, p_ats) u (kind, id, at) GROUP BY u.kind, u.id) w
    WHERE r.kind = w.kind AND r.id = w.id AND (r.used_at IS NULL OR r.used_at < w.at);
END $$;

-- Skips what a commit is changing.
CREATE FUNCTION expire(p_at bigint, p_limit bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
  v_gone bigint;
BEGIN
  DELETE FROM records r WHERE r.seq = ANY (ARRAY(
    SELECT o.seq FROM records o WHERE o.expires_at <= p_at ORDER BY o.expires_at LIMIT p_limit FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS v_gone = ROW_COUNT;
  RETURN v_gone;
END $$;

-- Usage rows. Row numbers are not in commit order, so a row below the mark of the totals could appear after they were counted. Appends
-- therefore share an advisory lock, and the horizon up to which rows may be counted is read under the exclusive lock.

CREATE FUNCTION append_usage(p_ids text[], p_workspaces text[], p_keys text[], p_ats bigint[], p_models_asked text[], p_models text[],
  p_providers text[], p_credentials text[], p_strategies text[], p_streamed smallint[], p_input bigint[], p_output bigint[],
  p_cached bigint[], p_cache_write bigint[], p_reasoning bigint[], p_estimated smallint[], p_costs bigint[], p_byok_costs bigint[],
  p_results text[], p_codes text[], p_attempts bigint[], p_durations bigint[], p_first_contents bigint[], p_warnings text[],
  p_metadata text[], p_routing text[], p_tags text[])
RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
  v_seqs bigint[];
  v_fresh bigint[];
BEGIN
  PERFORM pg_advisory_xact_lock_shared('usage_ids'::regclass::oid::int, 2);
  SELECT array_agg(nextval('usage_seq')) INTO v_seqs FROM generate_series(1, cardinality(p_ids));
  WITH fresh AS (
    INSERT INTO usage_ids (id, at, seq)
      SELECT r.id, r.at, r.seq FROM unnest(p_ids, p_ats, v_seqs) r (id, at, seq) ORDER BY r.id COLLATE "C"
      ON CONFLICT DO NOTHING RETURNING seq
  )
  SELECT array_agg(f.seq) INTO v_fresh FROM fresh f;
  INSERT INTO usage (seq, id, workspace_id, key_id, at, model_asked, model, provider, credential, strategy, streamed, input_tokens,
      output_tokens, cached_tokens, cache_write_tokens, reasoning_tokens, estimated, cost, byok_cost, result, code, attempts, duration_ms,
      first_content_ms, warnings, metadata, routing, tags)
    SELECT r.* FROM unnest(v_seqs, p_ids, p_workspaces, p_keys, p_ats, p_models_asked, p_models, p_providers, p_credentials, p_strategies,
      p_streamed, p_input, p_output, p_cached, p_cache_write, p_reasoning, p_estimated, p_costs, p_byok_costs, p_results, p_codes,
      p_attempts, p_durations, p_first_contents, p_warnings, p_metadata, p_routing, p_tags) r (seq)
    WHERE cardinality(v_fresh) = cardinality(p_ids) OR r.seq = ANY (v_fresh);
END $$;

-- The number up to which every row has been committed.
CREATE FUNCTION usage_horizon() RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
BEGIN
  PERFORM pg_advisory_xact_lock('usage_ids'::regclass::oid::int, 2);
  RETURN (SELECT coalesce(max(u.seq), 0) FROM usage u);
END $$;

-- Writes the new totals of cells and moves the mark; false if another process has moved it since the totals were read.
CREATE FUNCTION roll_usage(p_from bigint, p_to bigint, p_workspaces text[], p_dimensions text[], p_spans bigint[], p_starts bigint[],
  p_values text[], p_totals text[]) RETURNS int
LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
BEGIN
  UPDATE usage_rolled SET seq = p_to WHERE seq = p_from;
  IF NOT FOUND THEN RETURN 0; END IF;
  INSERT INTO usage_totals (workspace_id, dimension, span, start, value, total)
    SELECT * FROM unnest(p_workspaces, p_dimensions, p_spans, p_starts, p_values, p_totals)
    ON CONFLICT (workspace_id, dimension, span, start, value) DO UPDATE SET total = excluded.total;
  RETURN 1;
END $$;

-- Removes the oldest rows of a workspace that the totals count.
CREATE FUNCTION forget_usage(p_workspace text, p_before bigint, p_limit bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
  v_gone bigint;
BEGIN
  WITH gone AS (
    DELETE FROM usage u USING (
      SELECT o.at, o.seq FROM usage o
      WHERE o.workspace_id = p_workspace AND o.at < p_before AND o.seq <= (SELECT r.seq FROM usage_rolled r)
      ORDER BY o.at, o.seq LIMIT p_limit
    ) w
    WHERE u.workspace_id = p_workspace AND u.at = w.at AND u.seq = w.seq
    RETURNING u.id
  )
  DELETE FROM usage_ids i USING gone g WHERE i.id = g.id;
  GET DIAGNOSTICS v_gone = ROW_COUNT;
  RETURN v_gone;
END $$;

-- Makes the partition of the month that contains p_at. It takes no lock that appends to other months wait for. Where rows of the month
-- are in the default partition already they stay there, and so do later ones.
CREATE FUNCTION open_month(p_table text, p_at bigint) RETURNS void LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT AS $$
DECLARE
  v_month timestamp := date_trunc('month', to_timestamp(p_at / 1000.0) AT TIME ZONE 'UTC');
  v_from bigint := extract(epoch FROM v_month)::bigint * 1000;
  v_to bigint := extract(epoch FROM v_month + interval '1 month')::bigint * 1000;
  v_name text := p_table || '_' || to_char(v_month, 'YYYY_MM');
BEGIN
  PERFORM set_config('lock_timeout', '2s', true);
  PERFORM pg_advisory_xact_lock('usage_ids'::regclass::oid::int, 3);
  IF to_regclass(format('%I', v_name)) IS NOT NULL THEN RETURN; END IF;
  EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', v_name, p_table);
  EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)', p_table, v_name, v_from, v_to);
EXCEPTION WHEN check_violation THEN
  RETURN;
END $$;

-- Drops partitions of months that are over before p_before: those without rows, or also those whose rows the totals count. Returns how
-- many. The parent is locked first, as appends do, and only if there is a partition to drop.
CREATE FUNCTION drop_usage_months(p_before bigint, p_only_empty boolean) RETURNS int
LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT AS $$
DECLARE
  v_mark bigint := (SELECT r.seq FROM usage_rolled r);
  v_name text;
  v_is_kept boolean;
  v_dropped int := 0;
BEGIN
  PERFORM set_config('lock_timeout', '2s', true);
  PERFORM pg_advisory_xact_lock('usage_ids'::regclass::oid::int, 3);
  FOR v_name IN
    SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'usage'::regclass AND c.relname ~ '^usage_[0-9]{4}_[0-9]{2}$'
      AND extract(epoch FROM to_date(substr(c.relname, 7), 'YYYY_MM') + interval '1 month') * 1000 <= p_before
    ORDER BY 1
  LOOP
    EXECUTE format('SELECT EXISTS (SELECT FROM %I u WHERE $1 OR u.seq > $2)', v_name) INTO v_is_kept USING p_only_empty, v_mark;
    CONTINUE WHEN v_is_kept;
    LOCK TABLE ONLY usage IN ACCESS EXCLUSIVE MODE;
    EXECUTE format('SELECT EXISTS (SELECT FROM %I u WHERE $1 OR u.seq > $2)', v_name) INTO v_is_kept USING p_only_empty, v_mark;
    CONTINUE WHEN v_is_kept;
    EXECUTE format('DROP TABLE %I', v_name);
    v_dropped := v_dropped + 1;
  END LOOP;
  RETURN v_dropped;
END $$;

-- Removes ids whose rows were dropped with their partitions; until then a row of such an id is taken for one that is there.
CREATE FUNCTION drop_usage_ids(p_before bigint, p_limit int) RETURNS bigint LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT AS $$
DECLARE
  v_gone bigint;
BEGIN
  DELETE FROM usage_ids i WHERE i.ctid = ANY (ARRAY(
    SELECT o.ctid FROM usage_ids o WHERE o.at < p_before
      AND NOT EXISTS (SELECT FROM usage u WHERE u.at = o.at AND u.seq = o.seq)
    LIMIT p_limit FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS v_gone = ROW_COUNT;
  RETURN v_gone;
END $$;

-- Response items

-- An empty body marks an id of two items. p_is_server_time: the server's clock decides what has expired. Times are then those of the
-- server's clock in the table, and those of the caller's in parameters and results, so that processes with wrong clocks agree.
CREATE FUNCTION put_items(p_workspaces text[], p_ids text[], p_expires bigint[], p_bodies text[], p_max_bytes bigint, p_at bigint,
  p_latest bigint, p_is_server_time boolean) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
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

CREATE FUNCTION find_items(p_workspace text, p_ids text[], p_at bigint, p_latest bigint, p_is_server_time boolean)
RETURNS TABLE (id text, expires_at bigint, body text)
LANGUAGE plpgsql STABLE SET search_path FROM CURRENT SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
  v_at bigint := CASE WHEN p_is_server_time THEN server_ms() ELSE p_at END;
BEGIN
  RETURN QUERY SELECT i.id, i.expires_at - v_at + p_at, i.body FROM items i
    WHERE i.workspace_id = p_workspace AND i.id = ANY (p_ids) AND i.expires_at > v_at AND i.expires_at <= v_at + p_latest - p_at
      AND i.body <> '';
END $$;

CREATE FUNCTION renew_items(p_workspace text, p_ids text[], p_until bigint, p_at bigint, p_is_server_time boolean)
RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
  v_until bigint := CASE WHEN p_is_server_time THEN p_until + server_ms() - p_at ELSE p_until END;
BEGIN
  PERFORM FROM item_bytes b WHERE b.workspace_id = p_workspace FOR NO KEY UPDATE;
  UPDATE items i SET expires_at = v_until WHERE i.workspace_id = p_workspace AND i.id = ANY (p_ids);
END $$;

-- Routing state

-- The number of the last change. Changes of routing state run one after the other, so that their numbers are in the order of commits.
CREATE FUNCTION lock_routing() RETURNS void LANGUAGE sql VOLATILE AS $$
  SELECT pg_advisory_xact_lock('offer_statistics'::regclass::oid::int, 4)
$$;

-- A batch names each pair of writer and offer once.
CREATE FUNCTION publish(p_writers text[], p_offers text[], p_epochs bigint[], p_versions bigint[], p_ats bigint[], p_answered bigint[],
  p_failed bigint[], p_finished bigint[], p_broken bigint[], p_waits bigint[], p_ln_waits double precision[],
  p_ln_waits_squared double precision[], p_speeds bigint[], p_ln_speeds double precision[])
RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
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

CREATE FUNCTION pause(p_offers text[], p_untils bigint[]) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
BEGIN
  PERFORM lock_routing();
  INSERT INTO offer_pauses AS p (offer, until, sequence)
    SELECT r.offer, max(r.until), nextval('routing_seq') FROM unnest(p_offers, p_untils) r (offer, until) GROUP BY r.offer
    ON CONFLICT (offer) DO UPDATE SET until = excluded.until, sequence = excluded.sequence WHERE excluded.until > p.until;
END $$;

-- Keeps the newest note of each reader, and the last p_max readers of a conversation.
CREATE FUNCTION remember(p_keys text[], p_offers text[], p_tokens bigint[], p_ats bigint[], p_max int) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
  v_lock int;
BEGIN
  -- By conversation and in one order, because two processes may note readers of one conversation at the same moment.
  FOR v_lock IN SELECT DISTINCT hashtext(k.key) FROM unnest(p_keys) k (key) ORDER BY 1 LOOP
    PERFORM pg_advisory_xact_lock('conversation_readers'::regclass::oid::int, v_lock);
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
CREATE FUNCTION sweep_routing(p_now bigint, p_statistics_ms bigint, p_readers_ms bigint) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM lock_routing();
  DELETE FROM offer_statistics s WHERE s.at <= p_now - p_statistics_ms;
  DELETE FROM offer_pauses p WHERE p.until <= p_now;
  DELETE FROM conversation_readers c WHERE c.ctid = ANY (ARRAY(
    SELECT r.ctid FROM conversation_readers r WHERE r.at <= p_now - p_readers_ms LIMIT 5000 FOR UPDATE SKIP LOCKED));
END $$;
