-- The schema of Signalbox on SQLite. Times are Unix milliseconds and money is microdollars, both INTEGER. Statements are separated by blank
-- lines.

CREATE TABLE records (
  seq INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  grp TEXT,
  name TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  used_at INTEGER,
  body TEXT NOT NULL,
  UNIQUE (kind, id)
) STRICT;

CREATE UNIQUE INDEX records_by_name ON records (kind, name) WHERE name IS NOT NULL;

CREATE INDEX records_by_workspace ON records (kind, workspace_id, seq);

CREATE INDEX records_by_kind ON records (kind, seq);

CREATE INDEX records_by_expiry ON records (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE audit (
  workspace_id TEXT NOT NULL,
  place INTEGER NOT NULL,
  id TEXT NOT NULL,
  event TEXT NOT NULL,
  actor_key_id TEXT,
  actor_name TEXT,
  subject_type TEXT NOT NULL,
  subject_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  request_id TEXT,
  ip TEXT,
  changes TEXT NOT NULL,
  previous_hash TEXT NOT NULL,
  hash TEXT NOT NULL,
  UNIQUE (workspace_id, place)
) STRICT;

CREATE INDEX audit_by_id ON audit (workspace_id, id);

CREATE TABLE counters (
  key TEXT PRIMARY KEY,
  used INTEGER NOT NULL,
  ends_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE slots (
  key TEXT NOT NULL,
  slot TEXT NOT NULL,
  ends_at INTEGER NOT NULL,
  PRIMARY KEY (key, slot)
) STRICT, WITHOUT ROWID;

-- How many slots a key has, kept by triggers: counting them on every request would cost more the busier a key is.
CREATE TABLE slot_counts (
  key TEXT PRIMARY KEY,
  taken INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER slot_entered AFTER INSERT ON slots BEGIN
  INSERT INTO slot_counts (key, taken) VALUES (NEW.key, 1) ON CONFLICT (key) DO UPDATE SET taken = taken + 1;
END;

CREATE TRIGGER slot_left AFTER DELETE ON slots BEGIN
  UPDATE slot_counts SET taken = taken - 1 WHERE key = OLD.key;
END;

CREATE TABLE accounts (
  account TEXT PRIMARY KEY,
  balance INTEGER NOT NULL,
  held INTEGER NOT NULL,
  credited INTEGER NOT NULL,
  spent INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Open holds. `accounts` is a list of pairs, an account and its amount. The table stays about as small as the traffic in flight.
CREATE TABLE holds (
  id TEXT PRIMARY KEY,
  accounts TEXT NOT NULL,
  version INTEGER NOT NULL,
  journal TEXT
) STRICT, WITHOUT ROWID;

-- Every settlement and credit once: the guard against booking twice, and the order of all entries.
CREATE TABLE movements (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  credited_account TEXT NOT NULL DEFAULT '',
  kind TEXT NOT NULL,
  UNIQUE (id, kind, credited_account)
) STRICT;

CREATE TABLE entries (
  account TEXT NOT NULL,
  seq INTEGER NOT NULL,
  id TEXT NOT NULL,
  kind TEXT NOT NULL,
  amount INTEGER NOT NULL,
  balance_after INTEGER NOT NULL,
  at INTEGER NOT NULL,
  note TEXT,
  PRIMARY KEY (account, seq)
) STRICT, WITHOUT ROWID;

-- Where the entries of an hour begin and end: finds those of a time, at less than an index over all of them.
CREATE TABLE entry_hours (
  account TEXT NOT NULL,
  hour INTEGER NOT NULL,
  first_seq INTEGER NOT NULL,
  last_seq INTEGER NOT NULL,
  PRIMARY KEY (account, hour)
) STRICT, WITHOUT ROWID;

-- `tags` is a JSON array.
CREATE TABLE usage (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  workspace_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  model_asked TEXT NOT NULL,
  model TEXT NOT NULL,
  provider TEXT NOT NULL,
  credential TEXT NOT NULL,
  strategy TEXT NOT NULL,
  streamed INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cached_tokens INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL,
  reasoning_tokens INTEGER NOT NULL,
  estimated INTEGER NOT NULL,
  cost INTEGER NOT NULL,
  byok_cost INTEGER NOT NULL,
  result TEXT NOT NULL,
  code TEXT,
  attempts INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  first_content_ms INTEGER,
  warnings TEXT NOT NULL,
  metadata TEXT,
  routing TEXT,
  tags TEXT
) STRICT;

CREATE INDEX usage_by_time ON usage (workspace_id, at);

-- Totals of whole hours and days, so that a query for a month does not read all rows; a mark records up to which row they count.
CREATE TABLE usage_totals (
  workspace_id TEXT NOT NULL,
  dimension TEXT NOT NULL,
  span INTEGER NOT NULL,
  start INTEGER NOT NULL,
  value TEXT NOT NULL,
  total TEXT NOT NULL,
  UNIQUE (workspace_id, dimension, span, start, value)
) STRICT;

CREATE INDEX usage_totals_by_value ON usage_totals (workspace_id, dimension, span, value, start);

CREATE TABLE usage_rolled (
  seq INTEGER NOT NULL,
  version INTEGER NOT NULL
) STRICT;

INSERT INTO usage_rolled (seq, version) VALUES (0, 0);

-- Sealed response items, and their total bytes per workspace.
CREATE TABLE items (
  seq INTEGER PRIMARY KEY,
  workspace_id TEXT NOT NULL,
  id TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  body TEXT NOT NULL,
  UNIQUE (workspace_id, id)
) STRICT;

CREATE INDEX items_by_expiry ON items (expires_at);

CREATE INDEX items_by_workspace ON items (workspace_id, expires_at);

CREATE TABLE item_bytes (
  workspace_id TEXT PRIMARY KEY,
  bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER item_added AFTER INSERT ON items BEGIN
  INSERT INTO item_bytes (workspace_id, bytes) VALUES (NEW.workspace_id, length(NEW.body))
    ON CONFLICT (workspace_id) DO UPDATE SET bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER item_changed AFTER UPDATE OF body ON items BEGIN
  UPDATE item_bytes SET bytes = bytes + length(NEW.body) - length(OLD.body) WHERE workspace_id = NEW.workspace_id;
END;

CREATE TRIGGER item_removed AFTER DELETE ON items BEGIN
  UPDATE item_bytes SET bytes = bytes - length(OLD.body) WHERE workspace_id = OLD.workspace_id;
END;

-- Why the running verb is refused: a row exists only within its transaction.
CREATE TABLE refusals (verdict TEXT NOT NULL) STRICT;

CREATE TABLE routing_sequence (seq INTEGER NOT NULL) STRICT;

INSERT INTO routing_sequence (seq) VALUES (0);

CREATE TABLE routing_statistics (
  writer TEXT NOT NULL,
  offer TEXT NOT NULL,
  seq INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  version INTEGER NOT NULL,
  at INTEGER NOT NULL,
  counts TEXT NOT NULL,
  PRIMARY KEY (writer, offer)
) STRICT, WITHOUT ROWID;

CREATE INDEX routing_statistics_by_seq ON routing_statistics (seq);

CREATE INDEX routing_statistics_by_time ON routing_statistics (at);

CREATE TABLE routing_pauses (
  offer TEXT PRIMARY KEY,
  seq INTEGER NOT NULL,
  until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE routing_readers (
  key TEXT NOT NULL,
  offer TEXT NOT NULL,
  tokens INTEGER NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (key, offer)
) STRICT, WITHOUT ROWID;

CREATE INDEX routing_readers_by_time ON routing_readers (at);
