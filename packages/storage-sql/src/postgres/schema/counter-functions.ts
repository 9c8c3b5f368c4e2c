// Counters and slots. `at` is null if the server's clock decides. The rows of `counters` and `slot_counts` serve as locks, taken in key
// order; a row that a sweep removed meanwhile causes a serialization failure, and the batch is retried.

/** The functions of counters and slots. Placeholders: `SCHEMA` is the name of the schema, `SETTINGS` the settings of functions. */
export const counterFunctionsSql = `
-- One row of p_calls and the arrays after it is one counter of one call. Returns refusals: the number of the call, the key, and the wait.
CREATE OR REPLACE FUNCTION SCHEMA.take(p_ats bigint[], p_calls int[], p_keys text[], p_amounts bigint[], p_limits bigint[], p_windows bigint[])
RETURNS text LANGUAGE plpgsql VOLATILE SETTINGS AS $$
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
CREATE OR REPLACE FUNCTION SCHEMA.add(p_keys text[], p_amounts bigint[], p_ats bigint[]) RETURNS void LANGUAGE plpgsql VOLATILE SETTINGS AS $$
DECLARE
  v_now bigint := server_ms();
BEGIN
  PERFORM FROM counters c WHERE c.key = ANY (p_keys) ORDER BY c.key FOR NO KEY UPDATE;
  UPDATE counters c SET used = least(MAX_SUM, w.total + greatest(c.used, 0 - w.lowest))::bigint
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
CREATE OR REPLACE FUNCTION SCHEMA.enter(p_keys text[], p_slots text[], p_limits bigint[], p_ttls bigint[], p_ats bigint[]) RETURNS text
LANGUAGE plpgsql VOLATILE SETTINGS AS $$
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

CREATE OR REPLACE FUNCTION SCHEMA.leave(p_keys text[], p_slots text[]) RETURNS void LANGUAGE plpgsql VOLATILE SETTINGS AS $$
BEGIN
  PERFORM FROM slot_counts c WHERE c.key = ANY (p_keys) ORDER BY c.key FOR NO KEY UPDATE;
  WITH gone AS (
    DELETE FROM slots s USING unnest(p_keys, p_slots) r (key, slot) WHERE s.key = r.key AND s.slot = r.slot RETURNING s.key
  )
  UPDATE slot_counts c SET taken = c.taken - w.freed FROM (SELECT g.key, count(*) AS freed FROM gone g GROUP BY g.key) w
    WHERE c.key = w.key;
END $$;

-- Removes windows and slots that ended long before p_before, a bounded number of each, and skips those that are in use.
CREATE OR REPLACE FUNCTION SCHEMA.sweep(p_before bigint, p_rows int) RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = SCHEMA, pg_temp AS $$
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
`
