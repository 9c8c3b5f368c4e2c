export * from '@signalbox/storage/compose'
