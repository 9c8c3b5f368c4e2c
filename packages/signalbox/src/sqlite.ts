export * from '@signalbox/storage-sql/sqlite'
