export * from '@signalbox/storage-sql/libsql'
