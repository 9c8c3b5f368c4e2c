export { type SqliteStorageOptions, sqliteStorage } from '@signalbox/storage-sql/sqlite'
