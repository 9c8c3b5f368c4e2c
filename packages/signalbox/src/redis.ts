export * from '@signalbox/storage-redis'
