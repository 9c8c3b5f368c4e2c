export * from '@signalbox/storage-sql/postgres'
