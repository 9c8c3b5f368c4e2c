// Removes unused accounts. The other ledger functions rely on accounts to exist from when they lock them until they end, so they are
// blocked while accounts are removed.

/** The functions that remove accounts. Placeholders: `SCHEMA` is the name of the schema, `SETTINGS` the settings of functions. */
export const forgetFunctionsSql = `
-- Removes p_limit entries at most of accounts that nothing is held on.
CREATE OR REPLACE FUNCTION SCHEMA.forget_entries(p_accounts text[], p_limit int) RETURNS bigint LANGUAGE plpgsql VOLATILE SETTINGS AS $$
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
CREATE OR REPLACE FUNCTION SCHEMA.forget_accounts(p_accounts text[]) RETURNS bigint LANGUAGE plpgsql VOLATILE SETTINGS
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
`
