// Tables of the first PostgreSQL schema version. Times are Unix milliseconds and money is microdollars, both bigint. Key columns are
// compared bytewise, whatever the database's collation.

/** The tables of records, money and limits. Placeholder: `SCHEMA` is the name of the schema. */
export const tablesSql = `
CREATE TABLE SCHEMA.records (
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
CREATE UNIQUE INDEX records_by_name ON SCHEMA.records (kind, name) WHERE name IS NOT NULL;
CREATE INDEX records_by_workspace ON SCHEMA.records (kind, workspace_id, seq);
CREATE INDEX records_by_kind ON SCHEMA.records (kind, seq);
CREATE INDEX records_by_expiry ON SCHEMA.records (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE SCHEMA.counters (
  key text COLLATE "C" PRIMARY KEY,
  used bigint NOT NULL,
  ends_at bigint NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_scale_factor = 0.1);

CREATE TABLE SCHEMA.slots (
  key text COLLATE "C" NOT NULL,
  slot text COLLATE "C" NOT NULL,
  ends_at bigint NOT NULL,
  PRIMARY KEY (key, slot)
) WITH (autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_scale_factor = 0.1);

-- How many slots a key has. Its row is the lock of the key's slots.
CREATE TABLE SCHEMA.slot_counts (
  key text COLLATE "C" PRIMARY KEY,
  taken bigint NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_scale_factor = 0.1);

-- Rows of accounts are deleted by forget_accounts alone, while no other verb of the ledger runs: the order of locks relies on it.
CREATE TABLE SCHEMA.accounts (
  account text COLLATE "C" PRIMARY KEY,
  balance bigint NOT NULL,
  held bigint NOT NULL,
  credited bigint NOT NULL,
  spent bigint NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_scale_factor = 0.1);

CREATE TABLE SCHEMA.holds (
  id text COLLATE "C" PRIMARY KEY,
  version bigint NOT NULL,
  accounts text[] NOT NULL,
  amounts bigint[] NOT NULL,
  journal text
) WITH (autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_scale_factor = 0.1);

-- Every settlement and credit once: the guard against booking twice, and the order of all entries.
CREATE SEQUENCE SCHEMA.movement_seq;
CREATE TABLE SCHEMA.movements (
  id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  credited_account text COLLATE "C" NOT NULL DEFAULT '',
  seq bigint NOT NULL,
  PRIMARY KEY (id, kind, credited_account)
);

CREATE TABLE SCHEMA.entries (
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
CREATE TABLE SCHEMA.entry_hours (
  account text COLLATE "C" NOT NULL,
  hour bigint NOT NULL,
  first_seq bigint NOT NULL,
  last_seq bigint NOT NULL,
  PRIMARY KEY (account, hour)
) WITH (fillfactor = 50);

CREATE SEQUENCE SCHEMA.item_seq;
CREATE TABLE SCHEMA.items (
  seq bigint NOT NULL DEFAULT nextval('SCHEMA.item_seq'),
  workspace_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  expires_at bigint NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX items_by_expiry ON SCHEMA.items (expires_at);
CREATE INDEX items_by_workspace ON SCHEMA.items (workspace_id, expires_at, seq);

-- The bytes of a workspace's items. Its row is the lock of the workspace's items.
CREATE TABLE SCHEMA.item_bytes (
  workspace_id text COLLATE "C" PRIMARY KEY,
  bytes bigint NOT NULL
) WITH (fillfactor = 50);

CREATE SEQUENCE SCHEMA.routing_seq;
CREATE TABLE SCHEMA.offer_statistics (
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
CREATE INDEX offer_statistics_by_sequence ON SCHEMA.offer_statistics (sequence);

CREATE TABLE SCHEMA.offer_pauses (
  offer text COLLATE "C" PRIMARY KEY,
  until bigint NOT NULL,
  sequence bigint NOT NULL
);

CREATE TABLE SCHEMA.conversation_readers (
  key text COLLATE "C" NOT NULL,
  offer text COLLATE "C" NOT NULL,
  tokens bigint NOT NULL,
  at bigint NOT NULL,
  PRIMARY KEY (key, offer)
);
`

/**
 * The tables that are partitioned by month of `at`. A row without a matching partition goes to the default partition.
 *
 * A unique index of a partitioned table must include `at`, so uniqueness over all months is kept elsewhere: `usage_ids` contains every id
 * once, and `audit_heads` the last place of each chain, which is locked while a row is appended.
 */
export const partitionedTablesSql = `
CREATE SEQUENCE SCHEMA.usage_seq;
CREATE TABLE SCHEMA.usage (
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
  routing text
) PARTITION BY RANGE (at);
CREATE INDEX usage_by_time ON SCHEMA.usage (workspace_id, at, seq);
CREATE INDEX usage_by_seq ON SCHEMA.usage (seq);
CREATE TABLE SCHEMA.usage_default PARTITION OF SCHEMA.usage DEFAULT;

CREATE TABLE SCHEMA.usage_ids (
  id text COLLATE "C" PRIMARY KEY,
  at bigint NOT NULL,
  seq bigint NOT NULL
);

-- Totals of whole hours and days, so that a query for a month does not read all rows; a mark records up to which row they count.
CREATE TABLE SCHEMA.usage_totals (
  workspace_id text COLLATE "C" NOT NULL,
  dimension text COLLATE "C" NOT NULL,
  span bigint NOT NULL,
  start bigint NOT NULL,
  value text COLLATE "C" NOT NULL,
  total text NOT NULL,
  PRIMARY KEY (workspace_id, dimension, span, start, value)
) WITH (fillfactor = 50);
CREATE INDEX usage_totals_by_value ON SCHEMA.usage_totals (workspace_id, dimension, span, value, start);
CREATE TABLE SCHEMA.usage_rolled (seq bigint NOT NULL);
INSERT INTO SCHEMA.usage_rolled (seq) VALUES (0);

CREATE TABLE SCHEMA.audit (
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
CREATE INDEX audit_by_place ON SCHEMA.audit (workspace_id, place);
CREATE INDEX audit_by_id ON SCHEMA.audit (workspace_id, id);
CREATE TABLE SCHEMA.audit_default PARTITION OF SCHEMA.audit DEFAULT;

CREATE TABLE SCHEMA.audit_heads (
  workspace_id text COLLATE "C" PRIMARY KEY,
  place bigint NOT NULL,
  hash text NOT NULL
) WITH (fillfactor = 50);
`
