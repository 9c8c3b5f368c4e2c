export * from '@signalbox/catalog'
