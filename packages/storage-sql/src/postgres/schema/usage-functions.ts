// Usage rows. Row numbers are not in commit order, so a row below the mark of the totals could appear after they were counted. Appends
// therefore share an advisory lock, and the horizon up to which rows may be counted is read under the exclusive lock.

/** The functions of usage rows. Placeholders: `SCHEMA` is the name of the schema, `SETTINGS` the settings of functions. */
export const usageFunctionsSql = `
CREATE FUNCTION SCHEMA.append_usage(p_ids text[], p_workspaces text[], p_keys text[], p_ats bigint[], p_models_asked text[], p_models text[],
  p_providers text[], p_credentials text[], p_strategies text[], p_streamed smallint[], p_input bigint[], p_output bigint[],
  p_cached bigint[], p_cache_write bigint[], p_reasoning bigint[], p_estimated smallint[], p_costs bigint[], p_byok_costs bigint[],
  p_results text[], p_codes text[], p_attempts bigint[], p_durations bigint[], p_first_contents bigint[], p_warnings text[],
  p_metadata text[], p_routing text[])
RETURNS void LANGUAGE plpgsql VOLATILE SETTINGS AS $$
DECLARE
  v_seqs bigint[];
  v_fresh bigint[];
BEGIN
  PERFORM pg_advisory_xact_lock_shared('SCHEMA.usage_ids'::regclass::oid::int, 2);
  SELECT array_agg(nextval('usage_seq')) INTO v_seqs FROM generate_series(1, cardinality(p_ids));
  WITH fresh AS (
    INSERT INTO usage_ids (id, at, seq)
      SELECT r.id, r.at, r.seq FROM unnest(p_ids, p_ats, v_seqs) r (id, at, seq) ORDER BY r.id COLLATE "C"
      ON CONFLICT DO NOTHING RETURNING seq
  )
  SELECT array_agg(f.seq) INTO v_fresh FROM fresh f;
  INSERT INTO usage (seq, id, workspace_id, key_id, at, model_asked, model, provider, credential, strategy, streamed, input_tokens,
      output_tokens, cached_tokens, cache_write_tokens, reasoning_tokens, estimated, cost, byok_cost, result, code, attempts, duration_ms,
      first_content_ms, warnings, metadata, routing)
    SELECT r.* FROM unnest(v_seqs, p_ids, p_workspaces, p_keys, p_ats, p_models_asked, p_models, p_providers, p_credentials, p_strategies,
      p_streamed, p_input, p_output, p_cached, p_cache_write, p_reasoning, p_estimated, p_costs, p_byok_costs, p_results, p_codes,
      p_attempts, p_durations, p_first_contents, p_warnings, p_metadata, p_routing) r (seq)
    WHERE cardinality(v_fresh) = cardinality(p_ids) OR r.seq = ANY (v_fresh);
END $$;

-- The number up to which every row has been committed.
CREATE FUNCTION SCHEMA.usage_horizon() RETURNS bigint LANGUAGE plpgsql VOLATILE SETTINGS AS $$
BEGIN
  PERFORM pg_advisory_xact_lock('SCHEMA.usage_ids'::regclass::oid::int, 2);
  RETURN (SELECT coalesce(max(u.seq), 0) FROM usage u);
END $$;

-- Writes the new totals of cells and moves the mark; false if another process has moved it since the totals were read.
CREATE FUNCTION SCHEMA.roll_usage(p_from bigint, p_to bigint, p_workspaces text[], p_dimensions text[], p_spans bigint[], p_starts bigint[],
  p_values text[], p_totals text[]) RETURNS int LANGUAGE plpgsql VOLATILE SETTINGS AS $$
BEGIN
  UPDATE usage_rolled SET seq = p_to WHERE seq = p_from;
  IF NOT FOUND THEN RETURN 0; END IF;
  INSERT INTO usage_totals (workspace_id, dimension, span, start, value, total)
    SELECT * FROM unnest(p_workspaces, p_dimensions, p_spans, p_starts, p_values, p_totals)
    ON CONFLICT (workspace_id, dimension, span, start, value) DO UPDATE SET total = excluded.total;
  RETURN 1;
END $$;

-- Removes the oldest rows of a workspace that the totals count.
CREATE FUNCTION SCHEMA.forget_usage(p_workspace text, p_before bigint, p_limit bigint) RETURNS bigint LANGUAGE plpgsql VOLATILE SETTINGS AS $$
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
CREATE FUNCTION SCHEMA.open_month(p_table text, p_at bigint) RETURNS void LANGUAGE plpgsql VOLATILE SET search_path = SCHEMA, pg_temp AS $$
DECLARE
  v_month timestamp := date_trunc('month', to_timestamp(p_at / 1000.0) AT TIME ZONE 'UTC');
  v_from bigint := extract(epoch FROM v_month)::bigint * 1000;
  v_to bigint := extract(epoch FROM v_month + interval '1 month')::bigint * 1000;
  v_name text := p_table || '_' || to_char(v_month, 'YYYY_MM');
BEGIN
  PERFORM set_config('lock_timeout', '2s', true);
  PERFORM pg_advisory_xact_lock('SCHEMA.usage_ids'::regclass::oid::int, 3);
  IF to_regclass(format('SCHEMA.%I', v_name)) IS NOT NULL THEN RETURN; END IF;
  EXECUTE format('CREATE TABLE SCHEMA.%I (LIKE SCHEMA.%I INCLUDING ALL)', v_name, p_table);
  EXECUTE format('ALTER TABLE SCHEMA.%I ATTACH PARTITION SCHEMA.%I FOR VALUES FROM (%s) TO (%s)', p_table, v_name, v_from, v_to);
EXCEPTION WHEN check_violation THEN
  RETURN;
END $$;

-- Drops partitions of months that are over before p_before: those without rows, or also those whose rows the totals count. Returns how
-- many. The parent is locked first, as appends do, and only if there is a partition to drop.
CREATE FUNCTION SCHEMA.drop_usage_months(p_before bigint, p_only_empty boolean) RETURNS int
LANGUAGE plpgsql VOLATILE SET search_path = SCHEMA, pg_temp AS $$
DECLARE
  v_mark bigint := (SELECT r.seq FROM usage_rolled r);
  v_name text;
  v_is_kept boolean;
  v_dropped int := 0;
BEGIN
  PERFORM set_config('lock_timeout', '2s', true);
  PERFORM pg_advisory_xact_lock('SCHEMA.usage_ids'::regclass::oid::int, 3);
  FOR v_name IN
    SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'SCHEMA.usage'::regclass AND c.relname ~ '^usage_[0-9]{4}_[0-9]{2}$'
      AND extract(epoch FROM to_date(substr(c.relname, 7), 'YYYY_MM') + interval '1 month') * 1000 <= p_before
    ORDER BY 1
  LOOP
    EXECUTE format('SELECT EXISTS (SELECT FROM SCHEMA.%I u WHERE $1 OR u.seq > $2)', v_name) INTO v_is_kept USING p_only_empty, v_mark;
    CONTINUE WHEN v_is_kept;
    LOCK TABLE ONLY usage IN ACCESS EXCLUSIVE MODE;
    EXECUTE format('SELECT EXISTS (SELECT FROM SCHEMA.%I u WHERE $1 OR u.seq > $2)', v_name) INTO v_is_kept USING p_only_empty, v_mark;
    CONTINUE WHEN v_is_kept;
    EXECUTE format('DROP TABLE SCHEMA.%I', v_name);
    v_dropped := v_dropped + 1;
  END LOOP;
  RETURN v_dropped;
END $$;

-- Removes ids whose rows were dropped with their partitions; until then a row of such an id is taken for one that is there.
CREATE FUNCTION SCHEMA.drop_usage_ids(p_before bigint, p_limit int) RETURNS bigint LANGUAGE plpgsql VOLATILE SET search_path = SCHEMA, pg_temp AS $$
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
`
