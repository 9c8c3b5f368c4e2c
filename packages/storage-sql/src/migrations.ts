import type { DatabaseSync } from 'node:sqlite'

/** One step forward; never edited once released, and never undone. */
export type Migration = string

/**
 * Brings a database to the newest schema, under the write lock: two processes that open a fresh file do not both begin.
 *
 * ```ts
 * migrate(new DatabaseSync('signalbox.db'), sqliteMigrations)
 * ```
 */
export function migrate(db: DatabaseSync, migrations: readonly Migration[]): void {
  db.exec('BEGIN IMMEDIATE')
  try {
    db.exec('CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL, probe INTEGER NOT NULL DEFAULT 0) STRICT')
    const found = db.prepare('SELECT version FROM schema_version').get()
    if (!found) db.exec('INSERT INTO schema_version (version) VALUES (0)')
    const version = Number(found?.version ?? 0)
    if (version > migrations.length)
      throw new Error(
        `the database has schema ${version}, this program knows ${migrations.length}: a newer one made it. Run that version, or open another file.`,
      )
    for (const migration of migrations.slice(version)) db.exec(migration)
    db.prepare('UPDATE schema_version SET version = ?').run(migrations.length)
    db.exec('COMMIT')
  } catch (error) {
    db.exec('ROLLBACK')
    throw error
  }
}

/** The schema on SQLite. Times are Unix milliseconds, money is microdollars, both INTEGER. */
export const sqliteMigrations: readonly Migration[] = [
  `
  CREATE TABLE workspaces (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    billing TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE keys (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    workspace_id TEXT NOT NULL,
    name TEXT NOT NULL,
    prefix TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    scopes TEXT NOT NULL,
    rpm INTEGER,
    created_at INTEGER NOT NULL,
    created_by TEXT,
    expires_at INTEGER,
    revoked_at INTEGER,
    last_used_at INTEGER
  ) STRICT;
  CREATE INDEX keys_by_workspace ON keys (workspace_id, created_at);

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

  -- Holds that are open, and for a while those that ran out: the table stays about as small as the traffic in flight, and
  -- needs no second index.
  CREATE TABLE holds (
    id TEXT PRIMARY KEY,
    amount INTEGER NOT NULL,
    accounts TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    lapsed INTEGER NOT NULL DEFAULT 0
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
    PRIMARY KEY (account, seq)
  ) STRICT, WITHOUT ROWID;

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
    result TEXT NOT NULL,
    code TEXT,
    attempts INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL,
    first_content_ms INTEGER,
    warnings TEXT NOT NULL,
    metadata TEXT
  ) STRICT;
  CREATE INDEX usage_by_time ON usage (workspace_id, at);
  `,
  // A hold that ran out is deleted as it is found; the money of those marked so far has been given back.
  `
  DELETE FROM holds WHERE lapsed = 1;
  ALTER TABLE holds DROP COLUMN lapsed;
  `,
]
