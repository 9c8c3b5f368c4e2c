export * from '@signalbox/storage'
