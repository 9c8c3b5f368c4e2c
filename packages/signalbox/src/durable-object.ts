export * from '@signalbox/storage-sql/durable-object'
