/**
 * Tags of usage rows, a JSON array. The previous `append_usage`, with one parameter less, stays for processes of the previous release that
 * still run during the migration. Placeholders: `SCHEMA` is the name of the schema, `SETTINGS` the settings of functions.
 */
export const usageTagsSql = `
ALTER TABLE SCHEMA.usage ADD COLUMN tags text;

CREATE FUNCTION SCHEMA.append_usage(p_ids text[], p_workspaces text[], p_keys text[], p_ats bigint[], p_models_asked text[], p_models text[],
  p_providers text[], p_credentials text[], p_strategies text[], p_streamed smallint[], p_input bigint[], p_output bigint[],
  p_cached bigint[], p_cache_write bigint[], p_reasoning bigint[], p_estimated smallint[], p_costs bigint[], p_byok_costs bigint[],
  p_results text[], p_codes text[], p_attempts bigint[], p_durations bigint[], p_first_contents bigint[], p_warnings text[],
  p_metadata text[], p_routing text[], p_tags text[])
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
      first_content_ms, warnings, metadata, routing, tags)
    SELECT r.* FROM unnest(v_seqs, p_ids, p_workspaces, p_keys, p_ats, p_models_asked, p_models, p_providers, p_credentials, p_strategies,
      p_streamed, p_input, p_output, p_cached, p_cache_write, p_reasoning, p_estimated, p_costs, p_byok_costs, p_results, p_codes,
      p_attempts, p_durations, p_first_contents, p_warnings, p_metadata, p_routing, p_tags) r (seq)
    WHERE cardinality(v_fresh) = cardinality(p_ids) OR r.seq = ANY (v_fresh);
END $$;
`
