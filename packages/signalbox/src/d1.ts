export * from '@signalbox/storage-sql/d1'
